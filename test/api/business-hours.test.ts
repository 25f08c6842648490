import type { BusinessHoursSettings, Ticket } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { backfillOpenHours } from '@itsm-api/server/resources/business-hours/hours-backfill.ts';
import { type BusinessHoursPatch, setBusinessHours } from '@itsm-api/server/resources/business-hours/queries.ts';
import { describe, expect } from 'vitest';
import { query } from '../support/database.ts';
import { api, it as itBase } from '../support/fixture.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

let now = new Date('2026-11-20T10:00:00.000Z');
const it = itBase.extend('options', { scope: 'file' }, { now: () => now });

const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const;
type Hours = Partial<Record<(typeof weekdays)[number], string>>;

/** Returns a calendar in Berlin. @param hours the intervals of each day, such as `09:00-12:00 13:00-17:30` */
function calendarOf(hours: Hours, holidays: string[] = []) {
  const intervals = Object.entries(hours).flatMap(([weekday, times]) =>
    times.split(' ').map((time) => {
      const [opens = '', closes = ''] = time.split('-');
      return { weekday: weekday as keyof Hours, opens, closes };
    }),
  );
  return { timeZone: 'Europe/Berlin', intervals, holidays: holidays.map((date) => ({ date, name: null })) };
}

const onDays = (days: readonly (typeof weekdays)[number][], times: string): Hours =>
  Object.fromEntries(days.map((day) => [day, times]));
const office = onDays(weekdays.slice(0, 5), '09:00-17:30');
const always = onDays(weekdays, '00:00-24:00');

/** Creates a workspace whose business hours are set on 2026-11-20. */
async function openWorkspace(patch: BusinessHoursPatch): Promise<Workspace> {
  now = new Date('2026-11-20T10:00:00.000Z');
  const owner = await createWorkspace(api);
  await setBusinessHours(owner.context, patch);
  return owner;
}

async function change(of: Workspace, id: number, body: object, at = now): Promise<Ticket> {
  now = at;
  const { status, body: answer } = await of.call('PATCH', `/tickets/${id}`, body);
  expect(status, JSON.stringify(answer)).toBe(200);
  return answer.data;
}

async function createAt(of: Workspace, at: string, fields: object = {}): Promise<Ticket> {
  now = new Date(at);
  return of.createTicket({ priority: 'HIGH', ...fields });
}

const lastChanges = async (of: Workspace, id: number) =>
  (await of.call('GET', `/tickets/${id}/activity`)).body.data[0].changes;

describe('targets in business hours', () => {
  it.each<[what: string, hours: Hours, holidays: string[], createdAt: string, minutes: number, dueAt: string]>([
    ['until the end of an interval', office, [], '2026-11-20T15:00:00.000Z', 90, '2026-11-20T16:30:00.000Z'],
    ['over a weekend', office, [], '2026-11-20T15:00:00.000Z', 91, '2026-11-23T08:01:00.000Z'],
    ['from the next opening', office, [], '2026-11-21T12:00:00.123Z', 60, '2026-11-23T09:00:00.000Z'],
    ['with milliseconds', office, [], '2026-11-20T15:00:00.123Z', 91, '2026-11-23T08:01:00.123Z'],
    ['over a holiday', office, ['2026-12-25'], '2026-12-24T16:00:00.000Z', 60, '2026-12-28T08:30:00.000Z'],
    ['after midnight', { FRIDAY: '22:00-06:00' }, [], '2026-11-20T21:00:00.000Z', 480, '2026-11-21T05:00:00.000Z'],
    [
      'of an interval that began before a holiday',
      { FRIDAY: '22:00-06:00' },
      ['2026-11-21'],
      '2026-11-20T21:00:00.000Z',
      480,
      '2026-11-21T05:00:00.000Z',
    ],
    [
      'without an interval that begins on a holiday',
      { FRIDAY: '22:00-06:00' },
      ['2026-11-20'],
      '2026-11-20T21:00:00.000Z',
      60,
      '2026-11-27T22:00:00.000Z',
    ],
    ['on all days', always, [], '2026-11-20T15:00:00.000Z', 4000, '2026-11-23T09:40:00.000Z'],
    [
      'of overlapping intervals',
      { FRIDAY: '09:00-12:00 11:00-13:00' },
      [],
      '2026-11-20T07:00:00.000Z',
      240,
      '2026-11-20T12:00:00.000Z',
    ],
    // On 2026-03-29, 02:00 to 03:00 doesn't exist.
    ['over a gap', { SUNDAY: '01:00-04:00' }, [], '2026-03-29T00:00:00.000Z', 120, '2026-03-29T02:00:00.000Z'],
    ['after a gap', { SUNDAY: '01:00-04:00' }, [], '2026-03-29T00:00:00.000Z', 121, '2026-04-04T23:01:00.000Z'],
    ['from within a gap', { SUNDAY: '02:30-04:00' }, [], '2026-03-29T00:00:00.000Z', 30, '2026-03-29T02:00:00.000Z'],
    [
      'without an interval whose ends a gap reverses',
      { SUNDAY: '02:30-03:00', MONDAY: '09:00-10:00' },
      [],
      '2026-03-29T00:00:00.000Z',
      10,
      '2026-03-30T07:10:00.000Z',
    ],
    // On 2026-10-25, 02:00 to 03:00 exists twice.
    ['until an overlap', { SUNDAY: '01:00-02:00' }, [], '2026-10-24T22:00:00.000Z', 120, '2026-10-25T01:00:00.000Z'],
    ['from an overlap', { SUNDAY: '02:00-03:30' }, [], '2026-10-24T22:00:00.000Z', 90, '2026-10-25T02:30:00.000Z'],
  ])('counts the minutes %s', async (_, hours, holidays, createdAt, minutes, dueAt) => {
    const targets = { resolution: { HIGH: minutes }, firstResponse: { HIGH: minutes } };
    const owner = await openWorkspace({ calendar: calendarOf(hours, holidays), targets });
    const created = await createAt(owner, createdAt);
    expect([created.dueAt, created.firstResponseDueAt]).toEqual([dueAt, dueAt]);
  });

  it('computes the dates of a bulk request, and of changed priorities', async () => {
    const targets = { resolution: { HIGH: 60, LOW: 600 }, firstResponse: { HIGH: 30, LOW: 60 } };
    const owner = await openWorkspace({ calendar: calendarOf(office), targets });
    const tickets = [{ priority: 'HIGH' }, { priority: 'LOW' }, {}].map((fields) => ({ ...ticket, ...fields }));
    now = new Date('2026-11-20T16:00:00.000Z');
    const { body } = await owner.call('POST', '/tickets/bulk', { tickets });
    const created: Ticket[] = body.data.map(({ data }: { data: Ticket }) => data);
    const [high, low] = [
      ['2026-11-23T08:30:00.000Z', '2026-11-20T16:30:00.000Z'],
      ['2026-11-24T09:00:00.000Z', '2026-11-23T08:30:00.000Z'],
    ] as const;
    const datesOf = (each: Ticket) => [each.dueAt, each.firstResponseDueAt];
    expect(created.map(datesOf)).toEqual([high, low, [null, null]]);
    const [id, other] = created.map((each) => each.id) as [number, number];
    expect(datesOf(await change(owner, id, { priority: 'LOW' }))).toEqual(low);
    expect(await lastChanges(owner, id)).toEqual({
      priority: { from: 'HIGH', to: 'LOW' },
      dueAt: { from: high[0], to: low[0] },
      firstResponseDueAt: { from: high[1], to: low[1] },
    });
    const bulk = await owner.call('PATCH', '/tickets/bulk', { tickets: [{ id: other, priority: 'HIGH' }] });
    expect(datesOf(bulk.body.data[0].data)).toEqual(high);
  });

  it('counts every minute before the first day of the calendar', async () => {
    const owner = await openWorkspace({ targets: { resolution: { HIGH: 60 } } });
    const { id } = await createAt(owner, '2020-01-04T23:00:00.000Z', { priority: 'LOW' });
    now = new Date('2026-11-20T10:00:00.000Z');
    await setBusinessHours(owner.context, { calendar: calendarOf(office) });
    expect((await change(owner, id, { priority: 'HIGH' })).dueAt).toBe('2020-01-05T00:00:00.000Z');
  });

  it('counts every minute again without a calendar', async () => {
    const owner = await openWorkspace({ calendar: calendarOf(office), targets: { resolution: { HIGH: 60 } } });
    expect((await createAt(owner, '2026-11-21T12:00:00.000Z')).dueAt).toBe('2026-11-23T09:00:00.000Z');
    await setBusinessHours(owner.context, { calendar: null });
    expect((await createAt(owner, '2026-11-21T12:00:00.000Z')).dueAt).toBe('2026-11-21T13:00:00.000Z');
  });
});

describe('firstResponseDueAt', () => {
  it('follows the priority only until the first response', async () => {
    const owner = await openWorkspace({ targets: { firstResponse: { HIGH: 30, LOW: 60 } } });
    const requester = await owner.createUser({ role: 'REQUESTER' });
    const { id } = await createAt(owner, '2026-11-20T10:00:00.000Z', { requesterId: requester.id, dueAt: null });
    const low = '2026-11-20T11:00:00.000Z';
    expect((await change(owner, id, { priority: 'LOW' })).firstResponseDueAt).toBe(low);
    expect((await change(owner, id, { priority: 'MEDIUM' })).firstResponseDueAt).toBeNull();
    expect((await change(owner, id, { priority: 'LOW' })).firstResponseDueAt).toBe(low);
    await owner.createComment(id);
    expect((await change(owner, id, { priority: 'HIGH' })).firstResponseDueAt).toBe(low);
  });

  it('stays null for an imported ticket', async () => {
    const targets = { firstResponse: { HIGH: 30, LOW: 60 }, resolution: { LOW: 60 } };
    const owner = await openWorkspace({ calendar: calendarOf(office), targets });
    const { email } = await owner.createUser({ role: 'ADMIN' });
    const given = { user: email, name: 'import', scopes: ['tickets:write' as const], isImport: true, expiresInDays: 1 };
    const { key } = await createKey(owner.context, given);
    const body = {
      ...ticket,
      priority: 'HIGH',
      createdAt: '2026-11-19T10:00:00.000Z',
      dueAt: '2026-12-01T10:00:00.000Z',
    };
    const created = await api.call({ method: 'POST', path: '/api/public/v1/tickets', key, body });
    const { id, dueAt, firstResponseDueAt } = created.body.data;
    expect([dueAt, firstResponseDueAt]).toEqual([body.dueAt, null]);
    const changed = await change(owner, id, { priority: 'LOW' });
    expect([changed.dueAt, changed.firstResponseDueAt]).toEqual([body.dueAt, null]);
  });

  it('is read-only', async () => {
    const owner = await openWorkspace({});
    const firstResponseDueAt = '2026-12-01T10:00:00.000Z';
    expect((await owner.call('POST', '/tickets', { ...ticket, firstResponseDueAt })).status).toBe(400);
  });
});

describe('pauses while PENDING', () => {
  const created = '2026-12-21T08:00:00.000Z';
  const [thursday, monday] = [new Date('2026-12-24T15:00:00.000Z'), new Date('2026-12-28T09:00:00.000Z')];
  const due = '2026-12-21T16:00:00.000Z';
  /** The due date after a pause of 150 open minutes: 90 on Thursday before the holiday, and 60 on Monday. */
  const afterPause = '2026-12-22T10:00:00.000Z';
  const paused: BusinessHoursPatch = {
    calendar: calendarOf(office, ['2026-12-25']),
    targets: { resolution: { HIGH: 480, LOW: 960 }, firstResponse: { HIGH: 60 } },
    pausesWhilePending: true,
  };

  it.each(['IN_PROGRESS', 'RESOLVED', 'CANCELLED'])('moves the due date by the open time until %s', async (status) => {
    const owner = await openWorkspace(paused);
    const { id, dueAt, firstResponseDueAt } = await createAt(owner, created);
    expect(dueAt).toBe(due);
    expect((await change(owner, id, { status: 'PENDING' }, thursday)).dueAt).toBe(due);
    const left = await change(owner, id, { status }, monday);
    expect([left.dueAt, left.firstResponseDueAt]).toEqual([afterPause, firstResponseDueAt]);
    expect((await lastChanges(owner, id)).dueAt).toEqual({ from: due, to: afterPause });
  });

  it('adds several pauses, and keeps them when the priority changes', async () => {
    const owner = await openWorkspace(paused);
    const { id } = await createAt(owner, created);
    for (let pause = 0; pause < 2; pause++) {
      await change(owner, id, { status: 'PENDING' }, thursday);
      await change(owner, id, { status: 'IN_PROGRESS' }, monday);
    }
    expect((await change(owner, id, { title: 'Changed' })).dueAt).toBe('2026-12-22T12:30:00.000Z');
    expect((await change(owner, id, { priority: 'LOW' })).dueAt).toBe('2026-12-23T12:00:00.000Z');
    expect((await change(owner, id, { priority: 'MEDIUM' })).dueAt).toBeNull();
  });

  it('ends pauses and changes a priority in one bulk request', async () => {
    const owner = await openWorkspace(paused);
    const [one, two] = [await createAt(owner, created), await createAt(owner, created)];
    now = thursday;
    const pend = [one, two].map(({ id }) => ({ id, status: 'PENDING' }));
    await owner.call('PATCH', '/tickets/bulk', { tickets: pend });
    now = monday;
    const tickets = [
      { id: one.id, status: 'IN_PROGRESS', priority: 'LOW' },
      { id: two.id, status: 'IN_PROGRESS' },
    ];
    const { body } = await owner.call('PATCH', '/tickets/bulk', { tickets });
    expect(body.data.map(({ data }: { data: Ticket }) => data.dueAt)).toEqual(['2026-12-23T09:30:00.000Z', afterPause]);
  });

  it('keeps a due date that a request has set', async () => {
    const owner = await openWorkspace(paused);
    const dueAt = '2026-12-30T10:00:00.000Z';
    for (const [given, left] of [
      [{ dueAt }, {}],
      [{}, { dueAt }],
    ] as const) {
      const { id } = await createAt(owner, created, given);
      await change(owner, id, { status: 'PENDING' }, thursday);
      expect((await change(owner, id, { status: 'IN_PROGRESS', ...left }, monday)).dueAt).toBe(dueAt);
    }
  });

  it('applies the setting from the beginning of a pause', async () => {
    const owner = await openWorkspace(paused);
    const begun = await createAt(owner, created);
    await change(owner, begun.id, { status: 'PENDING' }, thursday);
    await setBusinessHours(owner.context, { pausesWhilePending: false });
    const running = await createAt(owner, created);
    await change(owner, running.id, { status: 'PENDING' }, thursday);
    await setBusinessHours(owner.context, { pausesWhilePending: true });
    expect((await change(owner, begun.id, { status: 'IN_PROGRESS' }, monday)).dueAt).toBe(afterPause);
    expect((await change(owner, running.id, { status: 'IN_PROGRESS' }, monday)).dueAt).toBe(due);
  });

  it('counts every minute of a pause that ends without a calendar', async () => {
    const owner = await openWorkspace(paused);
    const { id } = await createAt(owner, created);
    await change(owner, id, { status: 'PENDING' }, thursday);
    await setBusinessHours(owner.context, { calendar: null });
    const later = new Date(thursday.getTime() + 3_600_000);
    expect((await change(owner, id, { status: 'IN_PROGRESS' }, later)).dueAt).toBe('2026-12-21T17:00:00.000Z');
  });

  it('keeps the dates of a reopened ticket', async () => {
    const owner = await openWorkspace(paused);
    const { id } = await createAt(owner, created);
    await change(owner, id, { status: 'RESOLVED' }, thursday);
    const { dueAt, firstResponseDueAt } = await change(owner, id, { status: 'IN_PROGRESS' }, monday);
    expect([dueAt, firstResponseDueAt]).toEqual([due, '2026-12-21T09:00:00.000Z']);
  });
});

describe('GET /tickets with overdue and firstResponseOverdue', () => {
  /** Lists the ids for a filter, which uses the clock of the database. */
  const idsOf = async (of: Workspace, filter: string): Promise<number[]> => {
    const { body } = await of.call('GET', `/tickets?${filter}=true&sort=id`);
    expect(body.meta.totalCount).toBe(body.data.length);
    return body.data.map(({ id }: Ticket) => id);
  };
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  const targets = { resolution: { HIGH: 3 * 1440 }, firstResponse: { HIGH: 1440 } };
  const settings = { calendar: { ...calendarOf(always), timeZone: 'UTC' }, targets, pausesWhilePending: true };

  it('compares the due date with the start of a pause', async () => {
    const owner = await openWorkspace({});
    now = daysAgo(10);
    await setBusinessHours(owner.context, settings);
    const open = await owner.createTicket({ priority: 'HIGH' });
    const early = await owner.createTicket({ priority: 'HIGH' });
    const late = await owner.createTicket({ priority: 'HIGH' });
    await change(owner, early.id, { status: 'PENDING' }, daysAgo(8));
    await change(owner, late.id, { status: 'PENDING' }, daysAgo(6));
    expect(await idsOf(owner, 'overdue')).toEqual([open.id, late.id]);
    // The pause of six days moves the due date to yesterday.
    await change(owner, early.id, { status: 'IN_PROGRESS' }, daysAgo(2));
    expect(await idsOf(owner, 'overdue')).toEqual([open.id, early.id, late.id]);
  });

  it('lists unresolved tickets whose first response is overdue', async () => {
    const owner = await openWorkspace({});
    now = daysAgo(10);
    await setBusinessHours(owner.context, settings);
    const requester = await owner.createUser({ role: 'REQUESTER' });
    const fields = { priority: 'HIGH' as const, requesterId: requester.id };
    const open = await owner.createTicket(fields);
    const answered = await owner.createTicket(fields);
    const resolved = await owner.createTicket(fields);
    await owner.createComment(answered.id);
    await change(owner, resolved.id, { status: 'RESOLVED' });
    now = new Date();
    await owner.createTicket(fields);
    expect(await idsOf(owner, 'firstResponseOverdue')).toEqual([open.id]);
    expect((await owner.call('GET', '/tickets?firstResponseOverdue=true&status=PENDING')).body.data).toEqual([]);
    expect((await owner.call('GET', '/tickets?firstResponseOverdue=false')).status).toBe(400);
  });
});

describe('GET /business-hours', () => {
  const read = async (of: Workspace): Promise<BusinessHoursSettings> => {
    const { status, headers, body } = await of.call('GET', '/business-hours');
    expect([status, headers.etag]).toEqual([200, body.data?.etag]);
    return body.data;
  };
  const none = { LOW: null, MEDIUM: null, HIGH: null, CRITICAL: null };

  it('returns the calendar, the targets and the setting for pauses', async () => {
    const owner = await openWorkspace({});
    const before = await read(owner);
    const targets = { firstResponse: none, resolution: none };
    expect(before).toEqual({ calendar: null, targets, pausesWhilePending: false, etag: expect.any(String) });
    const calendar = calendarOf(office, ['2026-12-25', '2026-12-24']);
    await setBusinessHours(owner.context, {
      calendar,
      pausesWhilePending: true,
      targets: { resolution: { HIGH: 60 } },
    });
    const after = await read(owner);
    expect(after).toEqual({
      calendar: { ...calendar, holidays: calendar.holidays.toReversed() },
      targets: { firstResponse: none, resolution: { ...none, HIGH: 60 } },
      pausesWhilePending: true,
      etag: expect.not.stringContaining(before.etag),
    });
    await setBusinessHours(owner.context, { calendar: null });
    expect(await read(owner)).toMatchObject({ calendar: null, pausesWhilePending: false, targets: after.targets });
  });
});

describe('setBusinessHours', () => {
  const week = calendarOf(office);
  const repeat = (count: number, times: string) => Array.from({ length: count }, () => times).join(' ');
  it.each<[path: string, message: RegExp, patch: BusinessHoursPatch]>([
    ['timeZone', /IANA time zone/, { calendar: { ...week, timeZone: 'Berlin' } }],
    ['timeZone', /IANA time zone/, { calendar: { ...week, timeZone: '+01:00' } }],
    ['timeZone', /unknown to PostgreSQL/, { calendar: { ...week, timeZone: 'europe/berlin' } }],
    ['timeZone', /without summer time/, { calendar: { ...week, timeZone: 'CET' } }],
    ['timeZone', /without summer time/, { calendar: { ...week, timeZone: 'WET' } }],
    ['timeZone', /./, { calendar: { intervals: week.intervals } }],
    ['intervals', /at most 4 intervals on MONDAY/, { calendar: calendarOf({ MONDAY: repeat(5, '09:00-10:00') }) }],
    ['intervals', /at least one hour a week/, { calendar: calendarOf({ MONDAY: '09:00-09:40 09:20-09:59' }) }],
    ['intervals', /begin and end at 09:00/, { calendar: calendarOf({ MONDAY: '09:00-09:00' }) }],
    ['intervals.0.opens', /from 00:00 to 23:59/, { calendar: calendarOf({ MONDAY: '24:00-09:00' }) }],
    ['intervals.0.closes', /from 00:00 to 24:00/, { calendar: calendarOf({ MONDAY: '09:00-24:01' }) }],
    ['holidays', /2026-12-25 only once/, { calendar: calendarOf(office, ['2026-12-25', '2026-12-25']) }],
    ['holidays.0.date', /./, { calendar: calendarOf(office, ['2026-02-30']) }],
    ['pausesWhilePending', /requires business hours/, { pausesWhilePending: true }],
    [
      'targets.firstResponse.HIGH',
      /must be at most 3120 minutes, the business hours of the next 365 days/,
      { calendar: calendarOf({ MONDAY: '09:00-10:00' }), targets: { firstResponse: { HIGH: 3121 } } },
    ],
  ])('rejects an invalid value of %s with %s', async (path, message, patch) => {
    const owner = await openWorkspace({});
    await expect(setBusinessHours(owner.context, patch)).rejects.toMatchObject({
      ...{ code: 'VALIDATION_ERROR', message: expect.stringMatching(message) },
      details: expect.arrayContaining([expect.objectContaining({ path })]),
    });
  });

  it('rejects a calendar with too many holidays, and one that is too short for a target', async () => {
    const dates = Array.from({ length: 401 }, (_, day) =>
      new Date(Date.UTC(2027, 0, 1 + day)).toISOString().slice(0, 10),
    );
    const owner = await openWorkspace({ targets: { resolution: { LOW: 100_000 } } });
    const set = (holidays: string[]) => setBusinessHours(owner.context, { calendar: calendarOf(office, holidays) });
    await expect(set(dates)).rejects.toThrow('holidays must contain at most 400 holidays');
    await expect(set(dates.slice(0, 400))).rejects.toThrow('targets.resolution.LOW must be at most');
    await set(dates.slice(0, 10));
  });

  it('checks the targets only if they or the calendar change', async () => {
    const owner = await openWorkspace({});
    const set = (patch: BusinessHoursPatch) => setBusinessHours(owner.context, patch);
    // The 365 days from a Monday have 53 Mondays, and the days from a Tuesday have 52.
    now = new Date('2026-11-23T00:00:00.000Z');
    await set({ calendar: calendarOf({ MONDAY: '09:00-10:00' }), targets: { resolution: { LOW: 53 * 60 } } });
    now = new Date('2026-11-24T00:00:00.000Z');
    expect(await set({ pausesWhilePending: true })).toMatchObject({ pausesWhilePending: true });
    await expect(set({ targets: { resolution: { HIGH: 60 } } })).rejects.toThrow('must be at most 3120 minutes');
  });
});

describe('backfillOpenHours', () => {
  it('adds days, and changes no complete row', async () => {
    const owner = await openWorkspace({ calendar: calendarOf(office) });
    const select = `SELECT opens_at, closes_at, open_before, xmin FROM open_hours WHERE tenant_id = $1 ORDER BY opens_at`;
    const rows = () => query(api.databaseUrl, select, [owner.tenantId]);
    const before = await rows();
    await backfillOpenHours(api.prisma);
    const after = await rows();
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    await backfillOpenHours(api.prisma);
    expect(await rows()).toEqual(after);
  });

  it('closes a holiday that the table reaches later, although every earlier minute is open', async () => {
    const owner = await openWorkspace({});
    now = new Date(Date.now() - 10 * 86_400_000);
    const holiday = new Date();
    holiday.setUTCFullYear(holiday.getUTCFullYear() + 3, holiday.getUTCMonth(), holiday.getUTCDate() - 5);
    await setBusinessHours(owner.context, { calendar: calendarOf(always, [holiday.toISOString().slice(0, 10)]) });
    const rows = () => query(api.databaseUrl, 'SELECT FROM open_hours WHERE tenant_id = $1', [owner.tenantId]);
    expect(await rows()).toHaveLength(1);
    await backfillOpenHours(api.prisma);
    expect(await rows()).toHaveLength(2);
  });
});
