import type { BusinessCalendar } from '@itsm-api/contract';
import fc from 'fast-check';
import pg from 'pg';
import { Temporal } from 'temporal-polyfill';
import { afterAll, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';

/*
 * Compares the open hours that PostgreSQL derives from generated calendars with an implementation that uses Temporal.
 * The environment variable CALENDAR_RUNS sets the number of calendars.
 */
const numRuns = Number(process.env.CALENDAR_RUNS ?? 200);
/** Every tenth calendar is also compared minute by minute. */
const minuteEvery = 10;
const instantsPerCalendar = 20;

const minute = 60_000;
const day = 1440 * minute;
const now = Date.parse('2026-11-29T12:00:00Z');
const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const;

/**
 * Zones whose clocks change by an hour, at midnight or by half an hour, in both hemispheres. The last zone has no clock
 * changes, and its offset isn't a whole number of hours.
 */
const zones = ['Europe/Berlin', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Kathmandu'];

/** The instants at which the clocks of a zone change in the days of the table. */
const clockChanges = new Map(zones.map((zone) => [zone, [...findClockChanges(zone)]]));

function* findClockChanges(zone: string): Generator<number> {
  let at = Temporal.Instant.fromEpochMilliseconds(now - 730 * day).toZonedDateTimeISO(zone);
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || next.epochMilliseconds > now + 365 * day) return;
    yield next.epochMilliseconds;
    at = next;
  }
}

/** An interval of open time, in milliseconds since 1970. */
interface Open {
  from: number;
  to: number;
}

/** Returns the open intervals until three years from now, merged and in order. The first one ends two years ago. */
function openIntervals({ timeZone, intervals, holidays }: BusinessCalendar): Open[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate();
  const [first, last] = [today.subtract({ years: 2 }), today.add({ years: 3 })];
  const closed = new Set(holidays.map(({ date }) => date));
  const found: Open[] = [{ from: Number.MIN_SAFE_INTEGER, to: toInstant(first, 0, timeZone) }];
  for (
    let date = first.subtract({ days: 1 });
    Temporal.PlainDate.compare(date, last) <= 0;
    date = date.add({ days: 1 })
  ) {
    if (closed.has(date.toString())) continue;
    for (const { weekday, opens, closes } of intervals) {
      if (weekday !== weekdays[date.dayOfWeek - 1]) continue;
      const [begin, end] = [minutesOf(opens), minutesOf(closes)];
      const [from, to] = [begin, end > begin ? end : end + 1440].map((minutes) => toInstant(date, minutes, timeZone));
      if (from !== undefined && to !== undefined && from < to) found.push({ from, to });
    }
  }
  return merge(found);
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** The midnights that `toInstant` has computed, by zone and date. */
const midnights = new Map<string, { instant: number; isWhole: boolean }>();

/** Converts a wall time, given in minutes since the midnight of a date. The minutes can pass the end of the day. */
function toInstant(date: Temporal.PlainDate, minutes: number, timeZone: string): number {
  const key = `${timeZone} ${date}`;
  const resolve = (after: number) =>
    date.toPlainDateTime().add({ minutes: after }).toZonedDateTime(timeZone, { disambiguation: 'later' })
      .epochMilliseconds;
  let midnight = midnights.get(key);
  if (midnight === undefined) {
    const instant = resolve(0);
    // Temporal is slow, so days without a change of the clocks are computed from their midnight.
    midnight = { instant, isWhole: resolve(1440) === instant + day && resolve(2880) === instant + 2 * day };
    midnights.set(key, midnight);
  }
  return midnight.isWhole ? midnight.instant + minutes * minute : resolve(minutes);
}

function merge(intervals: Open[]): Open[] {
  const merged: Open[] = [];
  for (const { from, to } of intervals.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** Returns the instant at which an open time has passed: if the time ends with an interval, the end of the interval. */
function dueAfter(open: Open[], since: number, time: number): number {
  let left = time;
  for (const { from, to } of open) {
    const available = to - Math.max(from, since);
    if (available <= 0) continue;
    if (left <= available) return Math.max(from, since) + left;
    left -= available;
  }
  throw new Error('The intervals end too early.');
}

function openTimeBetween(open: Open[], since: number, until: number): number {
  return open.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, until) - Math.max(from, since)), 0);
}

/** Counts the open time between two instants minute by minute. */
function countMinutes(open: Open[], since: number, until: number): number {
  let count = 0;
  for (let at = since; at < until; at += minute) {
    if (open.some(({ from, to }) => from <= at && at < to)) count++;
  }
  return count * minute;
}

const time = fc
  .oneof(
    fc.integer({ min: 0, max: 95 }).map((quarters) => quarters * 15),
    fc.integer({ min: 0, max: 1439 }),
  )
  .map((minutes) => formatTime(minutes));
const formatTime = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

const intervalsOfDay = fc.array(
  fc
    .record({ opens: time, closes: fc.oneof({ weight: 4, arbitrary: time }, fc.constant('24:00')) })
    .filter(({ opens, closes }) => opens !== closes),
  { maxLength: 4 },
);
const dates = fc.integer({ min: -740, max: 1100 }).map((days) => new Date(now + days * day).toISOString().slice(0, 10));

const calendars: fc.Arbitrary<BusinessCalendar> = fc
  .record({
    timeZone: fc.constantFrom(...zones),
    days: fc.array(intervalsOfDay, { minLength: 7, maxLength: 7 }),
    // The calendar must be open for an hour.
    always: fc.constantFrom(...weekdays),
    holidays: fc.uniqueArray(dates, { maxLength: 30 }),
  })
  .map(({ timeZone, days, always, holidays }) => ({
    timeZone,
    intervals: weekdays.flatMap((weekday, index) => [
      ...(weekday === always ? [{ weekday, opens: '10:15', closes: '11:45' }] : []),
      ...(days[index] ?? []).slice(0, weekday === always ? 3 : 4).map((interval) => ({ weekday, ...interval })),
    ]),
    holidays: holidays.map((date) => ({ date, name: null })),
  }));

/** An instant, anywhere in the years of the table or near a change of the clocks, and the time to add to it. */
const cases = fc.array(
  fc.record({
    near: fc.option(fc.nat(20)),
    offset: fc.oneof(
      fc.integer({ min: -3 * 1440, max: 2 * 1440 }).map((minutes) => minutes * minute),
      fc.integer({ min: -3 * day, max: 2 * day }),
    ),
    anywhere: fc.integer({ min: now - 735 * day, max: now + 360 * day }),
    minutes: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 40_000 })),
    endsWithInterval: fc.boolean(),
  }),
  { minLength: instantsPerCalendar, maxLength: instantsPerCalendar },
);

let client: pg.Client;
it.beforeAll(async () => {
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  await client.query('INSERT INTO ticket_sequences (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING', [
    workspace.tenantId,
  ]);
});
afterAll(() => client.end());

async function writeCalendar(calendar: BusinessCalendar): Promise<void> {
  await client.query('UPDATE ticket_sequences SET business_hours = $2 WHERE tenant_id = $1', [
    workspace.tenantId,
    calendar,
  ]);
  await client.query('DELETE FROM open_hours WHERE tenant_id = $1', [workspace.tenantId]);
  await client.query('SELECT write_open_hours($1, $2)', [workspace.tenantId, new Date(now)]);
}

it('reads few pages with row-level security, because its conditions can use the indexes', async () => {
  const intervals = weekdays.map((weekday) => ({ weekday, opens: '09:00', closes: '17:30' }));
  await writeCalendar({ timeZone: 'Europe/Berlin', intervals, holidays: [] });
  await client.query('VACUUM ANALYZE open_hours');
  await client.query('BEGIN');
  await client.query("SELECT set_config('itsm.tenant_id', $1, true)", [String(workspace.tenantId)]);
  await client.query('SET LOCAL ROLE itsm_request');
  const due = `due_dates($1, $2, '{"LOW":4320,"MEDIUM":1440,"HIGH":480,"CRITICAL":240}', '{LOW,MEDIUM,HIGH,CRITICAL}', 0)`;
  const between = `open_time_between($1, $2, $2 + interval '300 days')`;
  const statement = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT ${due}, ${between}`;
  const values = [workspace.tenantId, new Date(now)];
  // The first run also reads the catalog.
  await client.query(statement, values);
  const { rows } = await client.query(statement, values);
  await client.query('ROLLBACK');
  const { 'Shared Hit Blocks': hit, 'Shared Read Blocks': read } = rows[0]['QUERY PLAN'][0].Plan;
  // Seven lookups read at most four pages each.
  expect(hit + read).toBeLessThanOrEqual(28);
});

it('computes the same due dates and open times as Temporal', async () => {
  let runs = 0;
  const property = fc.asyncProperty(calendars, cases, async (calendar, given) => {
    const open = openIntervals(calendar);
    const changes = clockChanges.get(calendar.timeZone) ?? [];
    const asked = given.map(({ near, offset, anywhere, minutes, endsWithInterval }) => {
      const change = near === null ? undefined : changes[near % changes.length];
      const since = change === undefined ? anywhere : change + offset;
      const wanted = dueAfter(open, since, minutes * minute);
      const end = open.find(({ to }) => to >= wanted)?.to ?? wanted;
      // The open time up to the end of an interval is a whole number of minutes only for some instants.
      return { since, time: endsWithInterval ? openTimeBetween(open, since, end) : minutes * minute };
    });
    const expected = asked.map(({ since, time }) => {
      const due = dueAfter(open, since, time);
      return { since, due, between: openTimeBetween(open, since, due) };
    });
    await writeCalendar(calendar);
    const { rows } = await client.query(
      `SELECT (due_dates($1, since, '{"LOW":0}', '{LOW}', time))[1] AS due,
         open_time_between($1, since, due) AS between
       FROM unnest($2::timestamptz[], $3::bigint[], $4::timestamptz[]) AS given (since, time, due)`,
      [
        workspace.tenantId,
        asked.map(({ since }) => new Date(since)),
        asked.map(({ time }) => time),
        expected.map(({ due }) => new Date(due)),
      ],
    );
    const found = rows.map(({ due, between }, index) => {
      return { since: asked[index]?.since, due: due.getTime(), between: Number(between) };
    });
    expect(found).toEqual(expected);
    if (runs++ % minuteEvery === 0) await compareMinutes(open, changes[runs % (changes.length || 1)] ?? now);
  });
  await fc.assert(property, { numRuns });
});

/** Compares the open time of each hour of the 14 days around an instant, and their due dates, minute by minute. */
async function compareMinutes(open: Open[], around: number): Promise<void> {
  const begin = Math.floor(around / minute) * minute - 7 * day;
  const near = open.filter(({ from, to }) => to > begin && from < begin + 15 * day);
  const { rows } = await client.query(
    `SELECT open_time_between($1, hour, hour + interval '1 hour') AS time
     FROM generate_series($2::timestamptz, $2::timestamptz + interval '335 hours', interval '1 hour') AS hour ORDER BY hour`,
    [workspace.tenantId, new Date(begin)],
  );
  const hour = 60 * minute;
  const expected = Array.from({ length: 336 }, (_, index) =>
    countMinutes(near, begin + index * hour, begin + (index + 1) * hour),
  );
  expect(rows.map(({ time }) => Number(time))).toEqual(expected);
}
