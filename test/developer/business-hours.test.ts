import { Priority } from '@itsm-api/contract';
import { getBusinessHours, setBusinessHours } from '@itsm-api/server/resources/business-hours/queries.ts';
import { describe, expect } from 'vitest';
import { admin, api, itAsAdmin as it, workspace } from '../support/fixture.ts';
import { signIn } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';

const path = '/developer/business-hours';
const targetFields = (kind: 'firstResponse' | 'resolution', given: Record<string, string> = {}) =>
  Object.fromEntries(Priority.options.map((priority) => [`targets.${kind}.${priority}`, given[priority] ?? '']));

describe('/developer/business-hours', () => {
  it('changes the targets', async () => {
    const { text } = await admin.submitAndFollow(
      path,
      'resolution',
      targetFields('resolution', { CRITICAL: '240', LOW: '525600' }),
    );
    expect(text).toContain('value="240"');
    const expected = { CRITICAL: 240, HIGH: null, MEDIUM: null, LOW: 525_600 };
    expect((await getBusinessHours(workspace.context)).targets.resolution).toEqual(expected);
    expect((await workspace.createTicket({ priority: 'CRITICAL' })).dueAt).not.toBeNull();
    const theirs = await createWorkspace(api);
    expect((await getBusinessHours(theirs.context)).targets.resolution).toMatchObject({ CRITICAL: null, LOW: null });

    await admin.submit(path, 'firstResponse', targetFields('firstResponse', { HIGH: '30' }));
    expect((await getBusinessHours(workspace.context)).targets).toMatchObject({
      ...{ firstResponse: { HIGH: 30, LOW: null }, resolution: { LOW: 525_600 } },
    });
    await admin.submit(path, 'firstResponse', targetFields('firstResponse'));
    await admin.submit(path, 'resolution', targetFields('resolution'));
    expect((await getBusinessHours(workspace.context)).targets.resolution).toMatchObject({ CRITICAL: null, LOW: null });
  });

  it.each(['0', '525601', '1.5', 'soon'])('rejects a target of %s minutes', async (minutes) => {
    const { status, text } = await admin.submit(path, 'resolution', targetFields('resolution', { HIGH: minutes }));
    expect(status).toBe(400);
    expect(text).toContain('id="error-targets.resolution.HIGH"');
    expect(text).toContain(`value="${minutes}"`);
  });

  it('explains at its field that a target exceeds the open time of a year', async () => {
    const mine = await createWorkspace(api);
    const visitor = await signIn(api, mine);
    await visitor.submit(path, 'calendar', { timeZone: 'UTC', intervals: 'mon 09:00-10:00', holidays: '' });
    const { status, text } = await visitor.submit(path, 'resolution', targetFields('resolution', { LOW: '9000' }));
    expect(status).toBe(400);
    expect(text).toContain('id="error-targets.resolution.LOW"');
  });

  it('sets and deletes the hours, and shows when the workspace opens next', async () => {
    expect((await admin.get(path)).text).toContain('Targets count every minute of every day.');
    const hours = 'mon-thu 09:00-12:00 13:00-24:00\r\nFri 22:00-02:00\r\n';
    const fields = { timeZone: 'Europe/Berlin', intervals: hours, holidays: '2099-12-25 Christmas <b>' };
    const { text } = await admin.submitAndFollow(path, 'calendar', { ...fields, pausesWhilePending: 'yes' });
    expect(text).toMatch(/Open until|Closed\. Opens/);
    expect(text).toContain('monday-thursday 09:00-12:00 13:00-24:00\nfriday 22:00-02:00</textarea>');
    expect(text).toContain('2099-12-25 Christmas &lt;b&gt;</textarea>');
    expect(text).toMatch(/name="pausesWhilePending" value="yes" checked/);

    const always = await admin.submitAndFollow(path, 'calendar', { ...fields, intervals: 'mon-sun 00:00-24:00' });
    expect(always.text).toContain('Always open.');

    await admin.submit(path, 'clear', {});
    expect(await getBusinessHours(workspace.context)).toMatchObject({ calendar: null, pausesWhilePending: false });
  });

  it('shows each wrong field with its typed value', async () => {
    const fields = { timeZone: 'Mars/Base', intervals: 'mon 9-17', holidays: 'Christmas' };
    const { status, text } = await admin.submit(path, 'calendar', fields);
    expect(status).toBe(400);
    expect(text).toContain('id="error-intervals"');
    expect(text).toContain('id="error-holidays"');
    expect(text).toContain('mon 9-17</textarea>');
    const wrongZone = await admin.submit(path, 'calendar', { ...fields, intervals: 'mon 09:00-17:00', holidays: '' });
    expect(wrongZone.text).toContain('id="error-timeZone"');
  });

  it('shows the dates of a ticket, and when its clock stopped', async () => {
    const mine = await createWorkspace(api);
    await setBusinessHours(mine.context, {
      calendar: { timeZone: 'UTC', intervals: [{ weekday: 'MONDAY', opens: '00:00', closes: '24:00' }] },
      targets: { firstResponse: { LOW: 60 }, resolution: { LOW: 120 } },
      pausesWhilePending: true,
    });
    const { id } = await mine.createTicket({ priority: 'LOW' });
    await mine.call('PATCH', `/tickets/${id}`, { status: 'IN_PROGRESS' });
    await mine.call('PATCH', `/tickets/${id}`, { status: 'PENDING' });
    const { text } = await (await signIn(api, mine)).get(`/developer/tickets/${id}`);
    for (const label of ['First response due', 'Due', 'Clock stopped']) expect(text).toContain(`<dt>${label}</dt>`);
  });
});
