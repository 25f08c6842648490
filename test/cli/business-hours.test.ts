import { expect } from 'vitest';
import { api } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { itWithCommands as it, itsm } from './itsm.ts';

/* Tests the commands of `itsm business-hours`. test/api/business-hours.test.ts tests what the business hours do. */

const run = async (of: Workspace, verb: string, ...options: string[]) =>
  itsm(`business-hours ${verb} --tenant ${of.tenantId}`, ...options);

/** Runs a command with `--json`, and returns its result. */
async function json(of: Workspace, verb: string, ...options: string[]) {
  const { code, stdout, stderr } = await run(of, verb, '--json', ...options);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

const intervals = (weekdays: string[], opens: string, closes: string) =>
  weekdays.map((weekday) => ({ weekday, opens, closes }));

it('sets, shows and clears the business hours of a tenant', async () => {
  const owner = await createWorkspace(api);
  const hours = ['--intervals', 'mon-wed 9:00-12:00 13:00-17:30', '--intervals', 'Saturday 22:00-06:00'];
  const set = await json(owner, 'set', '--time-zone', 'Europe/Berlin', ...hours);
  const days = ['MONDAY', 'TUESDAY', 'WEDNESDAY'];
  expect(set.calendar).toEqual({
    timeZone: 'Europe/Berlin',
    intervals: [
      ...days.flatMap((day) => [...intervals([day], '09:00', '12:00'), ...intervals([day], '13:00', '17:30')]),
      ...intervals(['SATURDAY'], '22:00', '06:00'),
    ],
    holidays: [],
  });
  await json(owner, 'set', '--holidays', '2026-12-25 Christmas\n2026-12-24', '--pauses-while-pending', 'true');
  const shown = await run(owner, 'show');
  expect(shown.stdout.replaceAll(/ {2,}/g, '  ')).toContain(
    [
      'time zone  Europe/Berlin',
      'intervals  monday-wednesday 09:00-12:00 13:00-17:30; saturday 22:00-06:00',
      'holidays  2026-12-24; 2026-12-25 Christmas',
      'pauses while pending  true',
    ].join('\n'),
  );
  const [change] = await api.prisma.auditEntry.findMany({
    where: { tenantId: owner.tenantId },
    orderBy: { id: 'desc' },
  });
  expect(change).toMatchObject({ action: 'settings.updated', osUser: expect.any(String) });
  expect(Object.keys(change?.changes ?? {}).sort()).toEqual(['holidays', 'pausesWhilePending']);
  expect((await json(owner, 'set', '--holidays', '')).calendar.holidays).toEqual([]);

  expect(await json(owner, 'clear')).toMatchObject({ calendar: null, pausesWhilePending: false });
  expect((await owner.call('GET', '/business-hours')).body.data.calendar).toBeNull();
  expect((await run(owner, 'show')).stdout).toContain('none: every minute counts');
});

it.each([
  ['sat-mon 00:00-24:00', ['MONDAY', 'SATURDAY', 'SUNDAY']],
  ['friday 00:00-24:00', ['FRIDAY']],
])('accepts the intervals %s', async (line, weekdays) => {
  const owner = await createWorkspace(api);
  const { calendar } = await json(owner, 'set', '--time-zone', 'UTC', '--intervals', line);
  const found = calendar.intervals.map(({ weekday }: { weekday: string }) => weekday);
  expect(found.sort()).toEqual(weekdays.sort());
});

it.each([
  [['--time-zone', 'Mars/Olympus', '--intervals', 'mon 09:00-17:00'], 'must be an IANA time zone'],
  [['--time-zone', 'UTC'], 'intervals'],
  [['--time-zone', 'UTC', '--intervals', 'mo 09:00-17:00'], 'mon-fri 09:00-12:00 13:00-17:30'],
  [['--time-zone', 'UTC', '--intervals', 'mon 9-17'], 'mon-fri 09:00-12:00 13:00-17:30'],
  [['--time-zone', 'UTC', '--intervals', 'fri- 09:00-17:00'], 'mon-fri 09:00-12:00 13:00-17:30'],
  [['--time-zone', 'UTC', '--intervals', 't-f 09:00-17:00'], 'mon-fri 09:00-12:00 13:00-17:30'],
  [['--time-zone', 'UTC', '--intervals', 'mon'], 'mon-fri 09:00-12:00 13:00-17:30'],
  [['--holidays', 'Christmas'], '2026-12-25 Christmas'],
  [['--holidays', '2027-02-28\n2027-02-29 Leap day'], 'has the line 2027-02-29 Leap day'],
  [['--pauses-while-pending', 'true'], 'requires business hours'],
  [[], 'Choose what to change'],
])('rejects %j', async (options, message) => {
  const { code, stderr } = await run(await createWorkspace(api), 'set', ...options);
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain(message);
});

it('changes the targets for the first response with `tenants update`', async () => {
  const owner = await createWorkspace(api);
  const options = '--first-response-high 60 --target-high 240 --json';
  const { stdout } = await itsm(`tenants update ${owner.tenantId} ${options}`);
  const none = { LOW: null, MEDIUM: null, CRITICAL: null };
  const [firstResponseTargets, resolutionTargets] = [60, 240].map((HIGH) => ({ ...none, HIGH }));
  expect(JSON.parse(stdout)).toMatchObject({ firstResponseTargets, resolutionTargets });
  expect((await run(owner, 'show')).stdout).toMatch(/first response targets +HIGH 60 min/);
});
