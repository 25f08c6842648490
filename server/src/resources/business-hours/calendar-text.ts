import { type BusinessCalendar, CalendarDate, Priority, type TargetMinutes, Weekday } from '@itsm-api/contract';
import * as z from 'zod';

/*
 * Parses and formats a calendar as text, for the command line and the developer area. A line of intervals has weekdays and
 * their intervals, such as `mon-fri 09:00-12:00 13:00-17:30`. A line of a holiday is `2026-12-25 Christmas`.
 */

type Intervals = BusinessCalendar['intervals'];
type Holidays = BusinessCalendar['holidays'];

/** The schema of lines, as one text or as the values of a repeated option. Removes empty lines. */
const Lines = z.union([z.string(), z.array(z.string()).transform((values) => values.join('\n'))]).transform((text) =>
  text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== ''),
);

/** Returns the schema of lines. @param parse returns the values of a line, or undefined for an invalid line */
function linesOf<Value>(parse: (line: string) => Value[] | undefined, example: string) {
  return Lines.transform((lines, { addIssue }) =>
    lines.flatMap((line) => {
      const values = parse(line);
      if (values === undefined) addIssue({ code: 'custom', message: `has the line ${line}. Write it like ${example}` });
      return values ?? [];
    }),
  );
}

/** The schema of the intervals as lines. */
export const IntervalLines = linesOf(parseIntervals, 'mon-fri 09:00-12:00 13:00-17:30');

/** The schema of the holidays as lines. The name of a holiday is optional. */
export const HolidayLines = linesOf(parseHoliday, '2026-12-25 Christmas');

function parseIntervals(line: string): Intervals | undefined {
  const [days = '', ...times] = line.split(/[\s,;]+/);
  const ends = days
    .split('-')
    .map((name) => Weekday.options.findIndex((day) => name.length > 2 && day.startsWith(name.toUpperCase())));
  const [first = -1, last = first, ...others] = ends;
  const intervals = times.map((time) => /^(\d?\d:\d\d)-(\d?\d:\d\d)$/.exec(time));
  const isValid = Math.min(first, last) >= 0 && others.length === 0 && times.length > 0;
  if (!isValid || intervals.includes(null)) return undefined;
  // A range such as sat-mon passes the end of the week.
  const weekdays = Array.from(
    { length: ((last - first + 7) % 7) + 1 },
    (_, index) => Weekday.options[(first + index) % 7],
  );
  return weekdays.flatMap((weekday) =>
    intervals.map((interval) => {
      const [opens = '', closes = ''] = interval?.slice(1).map((time) => time.padStart(5, '0')) ?? [];
      return { weekday: weekday as Weekday, opens, closes };
    }),
  );
}

function parseHoliday(line: string): Holidays | undefined {
  const [, date, name = null] = /^(\S+)(?:\s+(.+))?$/.exec(line) ?? [];
  const { data } = CalendarDate.safeParse(date);
  return data === undefined ? undefined : [{ date: data, name }];
}

/** Formats the intervals as lines that `IntervalLines` can parse. Successive days with the same intervals share a line. */
export function formatIntervals(intervals: Intervals): string {
  const timesOf = (day: Weekday) =>
    intervals.flatMap(({ weekday, opens, closes }) => (weekday === day ? `${opens}-${closes}` : [])).join(' ');
  const groups: { days: Weekday[]; times: string }[] = [];
  for (const day of Weekday.options) {
    const previous = groups.at(-1);
    if (previous?.times === timesOf(day)) previous.days.push(day);
    else groups.push({ days: [day], times: timesOf(day) });
  }
  return groups
    .filter(({ times }) => times !== '')
    .map(({ days, times }) => `${[...new Set([days[0], days.at(-1)])].join('-').toLowerCase()} ${times}`)
    .join('\n');
}

/** Formats the holidays as lines that `HolidayLines` can parse. */
export function formatHolidays(holidays: Holidays): string {
  return holidays.map(({ date, name }) => (name === null ? date : `${date} ${name}`)).join('\n');
}

/** Formats targets in one line, the most urgent priority first. */
export function formatTargets(targets: TargetMinutes): string {
  const set = Priority.options.toReversed().filter((priority) => targets[priority] !== null);
  return set.map((priority) => `${priority} ${targets[priority]} min`).join(', ') || 'none';
}
