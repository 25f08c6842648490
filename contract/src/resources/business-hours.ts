import * as z from 'zod';
import { endpoints, item, meta } from '../endpoint.ts';
import { CalendarDate, Etag, Priority, trimmedText } from '../fields.ts';

export const Weekday = z
  .enum(['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'])
  .meta({ id: 'Weekday', description: 'A day of the week.' });
export type Weekday = z.output<typeof Weekday>;

/** The maximum number of intervals that begin on one weekday, and the maximum number of holidays. */
export const [maxIntervalsPerDay, maxHolidays] = [4, 400];

const wallTime = (pattern: RegExp, error: string) => z.string().regex(pattern, error);

const BusinessInterval = z
  .object({
    weekday: Weekday.meta({ description: 'The day on which the interval begins.' }),
    opens: wallTime(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time from 00:00 to 23:59').meta({
      description: 'When the interval begins, in the time zone of the calendar.',
      example: '09:00',
    }),
    closes: wallTime(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, 'must be a time from 00:00 to 24:00').meta({
      description: 'When the interval ends. If this time is before `opens`, the interval ends on the next day.',
      example: '17:30',
    }),
  })
  .meta({ id: 'BusinessInterval', description: 'A time of the week in which the workspace is open.' });

const Holiday = z
  .object({
    date: CalendarDate.meta({ description: 'The day.', example: '2026-12-25' }),
    name: trimmedText(1, 100).nullable().meta({ description: 'The name of the holiday, or null.' }),
  })
  .meta({ id: 'Holiday', description: 'A day on which no interval begins.' });

export const BusinessCalendar = z
  .object({
    timeZone: z.string().meta({ description: 'The IANA time zone of all times and days.', example: 'Europe/Berlin' }),
    intervals: z
      .array(BusinessInterval)
      .meta({ description: 'The times of the week in which the workspace is open. They can overlap.' }),
    holidays: z
      .array(Holiday)
      .max(maxHolidays, `must contain at most ${maxHolidays} holidays`)
      .meta({ description: 'The days on which no interval begins, in order.' }),
  })
  .meta({ id: 'BusinessCalendar', description: 'When the workspace is open.' });
export type BusinessCalendar = z.output<typeof BusinessCalendar>;

/** The schema of a calendar that an administrator sets. Sorts the holidays. PostgreSQL must also know the time zone. */
export const NewBusinessCalendar = BusinessCalendar.superRefine(({ timeZone, intervals, holidays }, { addIssue }) => {
  const reject = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
  if (!isTimeZone(timeZone)) reject('timeZone', 'must be an IANA time zone, such as Europe/Berlin');
  for (const day of Weekday.options) {
    if (intervals.filter(({ weekday }) => weekday === day).length <= maxIntervalsPerDay) continue;
    reject('intervals', `must have at most ${maxIntervalsPerDay} intervals on ${day}`);
  }
  const empty = intervals.find(({ opens, closes }) => opens === closes);
  if (empty !== undefined) {
    reject('intervals', `must not begin and end at ${empty.opens}. For a whole day, use 00:00 and 24:00.`);
  }
  if (countOpenMinutes(intervals) < 60) reject('intervals', 'must be open for at least one hour a week');
  const dates = holidays.map(({ date }) => date);
  const repeated = dates.find((date, index) => dates.indexOf(date) !== index);
  if (repeated !== undefined) reject('holidays', `must contain ${repeated} only once`);
}).overwrite((calendar) => ({
  ...calendar,
  holidays: calendar.holidays.toSorted((a, b) => a.date.localeCompare(b.date)),
}));

/** Returns true if the runtime knows the name of a time zone. Offsets such as `+01:00` aren't names. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Z]/i.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

/** Returns the number of minutes in a week in which the workspace is open. */
function countOpenMinutes(intervals: BusinessCalendar['intervals']): number {
  const week = 7 * 1440;
  const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const open = new Set<number>();
  for (const { weekday, opens, closes } of intervals) {
    const from = minutesOf(opens);
    const to = minutesOf(closes) + (closes > opens ? 0 : 1440);
    for (let minute = from; minute < to; minute++) open.add((Weekday.options.indexOf(weekday) * 1440 + minute) % week);
  }
  return open.size;
}

const Minutes = z
  .int({ error: 'must be a whole number of minutes' })
  .min(1, 'must be at least 1 minute')
  .max(525_600, 'must be at most 525600 minutes')
  .nullable();

/** The minutes of each priority, or null for a priority without a target. */
export const TargetMinutes = z
  .object(
    Object.fromEntries(
      Priority.options.map((priority) => [
        priority,
        Minutes.meta({ description: `The minutes for ${priority} tickets, or null for no target.` }),
      ]),
    ) as Record<Priority, typeof Minutes>,
  )
  .meta({ id: 'TargetMinutes', description: 'The minutes of each priority, or null for a priority without a target.' });
export type TargetMinutes = z.output<typeof TargetMinutes>;

export const Targets = z
  .object({
    firstResponse: TargetMinutes.meta({
      description: 'The open time from `createdAt` to `firstResponseDueAt`, in minutes.',
    }),
    resolution: TargetMinutes.meta({ description: 'The open time from `createdAt` to `dueAt`, in minutes.' }),
  })
  .meta({ id: 'Targets', description: 'The targets for new tickets, and for tickets whose priority changes.' });
export type Targets = z.output<typeof Targets>;

const weekdays = Weekday.options.slice(0, 5);

export const BusinessHoursSettings = z
  .object({
    calendar: BusinessCalendar.nullable().meta({
      description: 'When the workspace is open, or null if every minute counts for the targets.',
    }),
    targets: Targets,
    pausesWhilePending: z.boolean().meta({
      description:
        'Whether the server adds the open time in which a ticket is PENDING to its `dueAt`. Requires a calendar.',
    }),
    etag: Etag,
  })
  .meta({
    id: 'BusinessHoursSettings',
    description: 'The business hours and the targets of the workspace.',
    example: {
      calendar: {
        timeZone: 'Europe/Berlin',
        intervals: weekdays.map((weekday) => ({ weekday, opens: '09:00', closes: '17:30' })),
        holidays: [{ date: '2026-12-25', name: 'Christmas' }],
      },
      targets: {
        firstResponse: { LOW: null, MEDIUM: 480, HIGH: 120, CRITICAL: 30 },
        resolution: { LOW: 4320, MEDIUM: 1440, HIGH: 480, CRITICAL: 240 },
      },
      pausesWhilePending: true,
      etag: '"3vMbq5uXJd0k"',
    },
  });
export type BusinessHoursSettings = z.output<typeof BusinessHoursSettings>;

export const businessHours = endpoints({
  get: {
    method: 'GET',
    path: '/business-hours',
    summary: 'Get the business hours and targets',
    description: 'You set them in the developer area or with the command line.',
    metadata: meta({ scope: 'any', group: 'users' }),
    responses: { 200: item(BusinessHoursSettings) },
  },
});
