import type { BusinessCalendar, Priority, Targets, Ticket } from '@itsm-api/contract';
import { Weekday } from '@itsm-api/contract';
import { agrees, unknownText } from '../values.ts';

/* Models business hours, targets and pauses (docs/decisions/tickets.md). */

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** A calendar in a zone without clock changes. An interval that ends after midnight has an end of more than 24 hours. */
interface Calendar {
  timeZone: string;
  offsetMinutes: number;
  /** The days on which `hours` apply, from 0 for Sunday. */
  days: number[];
  /** The intervals of each day, in hours since midnight. */
  hours: [opens: number, closes: number][];
  holidays: string[];
}

const dateIn = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
const [week, workdays] = [
  [0, 1, 2, 3, 4, 5, 6],
  [1, 2, 3, 4, 5],
];

/** The calendars that commands set. Workspaces without business hours have none. */
export const calendars: readonly (Calendar | null)[] = [
  null,
  { timeZone: 'UTC', offsetMinutes: 0, days: week, hours: [[0, 24]], holidays: [dateIn(1)] },
  {
    timeZone: 'UTC',
    offsetMinutes: 0,
    days: workdays,
    hours: [
      [8, 12],
      [13, 17],
    ],
    holidays: [],
  },
  {
    timeZone: 'Asia/Kathmandu',
    offsetMinutes: 345,
    days: week,
    hours: [
      [5, 18],
      [16, 30],
    ],
    holidays: [dateIn(2), dateIn(4)],
  },
];

const minutes = (LOW: number | null, MEDIUM: number | null, HIGH: number | null, CRITICAL: number | null) => ({
  ...{ LOW, MEDIUM, HIGH, CRITICAL },
});
/** The targets that commands set. Tickets with a target of a few minutes can become overdue during a run. */
export const targets: readonly Targets[] = [
  { resolution: minutes(null, 30_000, 20_000, 10_000), firstResponse: minutes(null, null, null, null) },
  { resolution: minutes(1, 30_000, null, 2), firstResponse: minutes(1, 480, null, 60) },
  { resolution: minutes(600, 1, 1, 10_000), firstResponse: minutes(60, 1, 2, 1) },
];

/** The setting of a workspace. */
export interface HoursSetting {
  calendar: Calendar | null;
  targets: Targets;
  pausesWhilePending: boolean;
}

/** Returns the calendar in the form of the contract. */
export function toBusinessCalendar({ timeZone, days, hours, holidays }: Calendar): BusinessCalendar {
  const time = (hour: number) => `${String(hour > 24 ? hour - 24 : hour).padStart(2, '0')}:00`;
  const intervals = days.flatMap((day) =>
    hours.map(([opens, closes]) => {
      const weekday = Weekday.options[(day + 6) % 7] as Weekday;
      return { weekday, opens: time(opens), closes: time(closes) };
    }),
  );
  return { timeZone, intervals, holidays: holidays.map((date) => ({ date, name: null })) };
}

/** Yields the open intervals after an instant, in order and without overlaps. */
function* openIntervals(calendar: Calendar | null, since: number): Generator<[start: number, end: number]> {
  if (calendar === null) return yield [since, Number.POSITIVE_INFINITY];
  const { offsetMinutes, days, hours, holidays } = calendar;
  const offset = offsetMinutes * minuteMs;
  let until = since;
  for (let midnight = Math.floor((since + offset) / dayMs - 1) * dayMs; ; midnight += dayMs) {
    const day = new Date(midnight);
    if (!days.includes(day.getUTCDay()) || holidays.includes(day.toISOString().slice(0, 10))) continue;
    for (const [opens, closes] of hours) {
      const [start, end] = [Math.max(until, midnight + opens * hourMs - offset), midnight + closes * hourMs - offset];
      if (start >= end) continue;
      yield [start, end];
      until = end;
    }
  }
}

function addOpenTime(calendar: Calendar | null, since: number, ms: number): number {
  let left = ms;
  for (const [start, end] of openIntervals(calendar, since)) {
    if (left <= end - start) return start + left;
    left -= end - start;
  }
  return Number.NaN;
}

function openTimeBetween(calendar: Calendar | null, since: number, until: number): number {
  let sum = 0;
  for (const [start, end] of openIntervals(calendar, since)) {
    if (start >= until) return sum;
    sum += Math.min(end, until) - start;
    if (end >= until) return sum;
  }
  return sum;
}

/** The name of a property that comparisons with responses ignore, because it is a symbol. */
const clock = Symbol('clock');
type Times = Pick<Ticket, 'createdAt' | 'updatedAt'>;
type Dates = Partial<Pick<Ticket, 'dueAt' | 'firstResponseDueAt'>> & { [clock]: Clock };

/** The part of a ticket from which its dates follow, and which responses don't contain. */
interface Clock {
  isDueAtSet: boolean;
  isImported: boolean;
  pausedSince: string | null;
  /** The paused open time in milliseconds, or NaN if it is unknown. */
  pausedMs: number;
  /** Returns the dates and the clock after the last change, for the times that a response contains. */
  settle?: (times: Times) => Dates;
}
/** A ticket. If it is from a response, its clock is unknown. */
export type Clocked = Ticket & { [clock]?: Clock };

/** Returns true if a request has set the due date, so that the server doesn't compute it. */
export const isDueAtSet = (ticket: Clocked) => ticket[clock]?.isDueAtSet === true;

function dueBy(minutes: number | null, { calendar }: HoursSetting, createdAt: string, pausedMs: number): string | null {
  if (minutes === null) return null;
  if (createdAt === unknownText || Number.isNaN(pausedMs)) return unknownText;
  return new Date(addOpenTime(calendar, Date.parse(createdAt), minutes * minuteMs + pausedMs)).toISOString();
}

interface New extends Times {
  priority: Priority;
  /** The due date in the request. */
  dueAt: string | null | undefined;
  isImported: boolean;
}

/** Returns the dates of a new ticket. They are unknown until a response contains the creation time. */
export function newDates(setting: HoursSetting, { priority, dueAt, isImported, ...times }: New) {
  const { resolution, firstResponse } = setting.targets;
  const isDueAtSet = dueAt !== undefined || isImported;
  const begun: Clock = { isDueAtSet, isImported, pausedSince: null, pausedMs: 0 };
  const settle = ({ createdAt }: Times) => ({
    dueAt: isDueAtSet ? (dueAt ?? null) : dueBy(resolution[priority], setting, createdAt, 0),
    firstResponseDueAt: isImported ? null : dueBy(firstResponse[priority], setting, createdAt, 0),
    [clock]: begun,
  });
  return { ...settle(times), [clock]: { ...begun, settle } };
}

/** Returns the dates that a patch changes. They are unknown if they depend on a time that no response contained. */
export function changeDates(setting: HoursSetting, before: Clocked, after: Clocked, isDueAtSet: boolean): Dates {
  const { resolution, firstResponse } = setting.targets;
  const old = before[clock] ?? { isDueAtSet, isImported: false, pausedSince: null, pausedMs: 0 };
  const isMove = after.status !== before.status;
  const hasOtherPriority = after.priority !== before.priority;
  const left = isMove ? old.pausedSince : null;
  const settle = ({ createdAt, updatedAt }: Times): Dates => {
    const pausedMs = old.pausedMs + (left === null ? 0 : pauseBetween(setting, left, updatedAt));
    const pausedSince = after.status === 'PENDING' && setting.pausesWhilePending ? updatedAt : null;
    const isDue = !isDueAtSet && (hasOtherPriority || left !== null);
    const isToAnswer = hasOtherPriority && before.firstRespondedAt === null && !old.isImported;
    return {
      ...(isDue && { dueAt: dueBy(resolution[after.priority], setting, createdAt, pausedMs) }),
      ...(isToAnswer && { firstResponseDueAt: dueBy(firstResponse[after.priority], setting, createdAt, 0) }),
      [clock]: { ...old, isDueAtSet, pausedMs, pausedSince: isMove ? pausedSince : old.pausedSince },
    };
  };
  const dates = settle({ createdAt: before.createdAt, updatedAt: unknownText });
  return { ...dates, [clock]: { ...dates[clock], settle } };
}

/** Returns the open time of a pause, or NaN if it depends on an unknown time. */
function pauseBetween({ calendar }: HoursSetting, since: string, until: string): number {
  if (since === unknownText) return Number.NaN;
  const latest = until === unknownText ? Date.now() : Date.parse(until);
  const ms = openTimeBetween(calendar, Date.parse(since), latest);
  return until === unknownText && ms > 0 ? Number.NaN : ms;
}

/**
 * Computes the dates of a ticket from the times in a response. Returns undefined if the response has other dates.
 * @param isOwn true if the response is that of the last change, so that its `updatedAt` is the time of the change
 */
export function settleDates<Row extends object>(row: Row, isOwn: boolean): Row | undefined {
  const { [clock]: current, createdAt, updatedAt } = row as unknown as Clocked;
  if (current?.settle === undefined) return row;
  const dates = current.settle({ createdAt, updatedAt: isOwn ? updatedAt : unknownText });
  const reported = row as Record<string, unknown>;
  const isRight = Object.entries(dates).every(
    ([name, date]) => reported[name] === unknownText || agrees(date, reported[name]),
  );
  if (!isRight) return undefined;
  return isOwn ? { ...row, [clock]: dates[clock] } : row;
}

/** When the server ran a statement: between two instants, in milliseconds since 1970. */
export interface Period {
  beganAt: number;
  endedAt: number;
}

const isPast = (date: string | null, { beganAt, endedAt }: Period) => {
  if (date === null) return false;
  const at = date === unknownText ? beganAt : Date.parse(date);
  return at < beganAt ? true : at > endedAt ? false : undefined;
};

/** Returns true if a ticket is overdue, or undefined if it depends on an unknown time. */
export function isOverdue(ticket: Clocked, period: Period): boolean | undefined {
  const { dueAt, status, [clock]: current } = ticket;
  if (!['OPEN', 'IN_PROGRESS', 'PENDING'].includes(status)) return false;
  const isLate = isPast(dueAt, period);
  const pausedSince = status === 'PENDING' ? (current ? current.pausedSince : unknownText) : null;
  if (isLate === false || pausedSince === null || dueAt === null) return isLate;
  if (pausedSince === unknownText || dueAt === unknownText) return undefined;
  return dueAt < pausedSince ? isLate : false;
}

/** Returns true if a first response is overdue, or undefined if it depends on an unknown time. */
export function isFirstResponseOverdue(ticket: Ticket, period: Period): boolean | undefined {
  const isOpen = ticket.firstRespondedAt === null && ['OPEN', 'IN_PROGRESS', 'PENDING'].includes(ticket.status);
  return isOpen && isPast(ticket.firstResponseDueAt, period);
}
