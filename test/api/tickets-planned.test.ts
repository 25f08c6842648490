import type { Ticket } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

const [first, second, third] = [1, 2, 3].map((day) => `2026-12-0${day}T20:00:00.000Z`) as [string, string, string];
const window = { plannedStartAt: first, plannedEndAt: second };
const none = { plannedStartAt: null, plannedEndAt: null };

const patch = (id: number, body: object) => workspace.call('PATCH', `/tickets/${id}`, body);
const windowOf = ({ plannedStartAt, plannedEndAt }: Ticket) => ({ plannedStartAt, plannedEndAt });

describe('plannedStartAt and plannedEndAt', () => {
  it('plans, moves and clears the window of a CHANGE', async () => {
    const given = { plannedStartAt: '2026-12-01T21:00:00+01:00', plannedEndAt: second };
    const { id, ...created } = await workspace.createTicket({ type: 'CHANGE', ...given });
    expect(created).toMatchObject(window);
    const moved = { plannedStartAt: second, plannedEndAt: third };
    expect(windowOf((await patch(id, moved)).body.data)).toEqual(moved);
    expect((await patch(id, { title: 'Changed' })).body.data).toMatchObject(moved);
    expect(windowOf((await patch(id, none)).body.data)).toEqual(none);
    const { body } = await workspace.call('GET', `/tickets/${id}/activity`);
    expect(body.data[0].changes).toEqual({
      plannedStartAt: { from: second, to: null },
      plannedEndAt: { from: third, to: null },
    });
  });

  it.each<[patched: object, expected: object]>([
    [{ plannedEndAt: third }, { plannedStartAt: first, plannedEndAt: third }],
    [{ plannedStartAt: null }, none],
    [{ plannedEndAt: null }, none],
  ])('changes the window from the first to the second day by %j', async (patched, expected) => {
    const { id } = await workspace.createTicket({ type: 'CHANGE', ...window });
    const { status, body } = await patch(id, patched);
    expect(status).toBe(200);
    expect(windowOf(body.data)).toEqual(expected);
  });

  it.each<[given: object, path: string]>([
    [{ plannedStartAt: first }, 'plannedEndAt'],
    [{ plannedStartAt: null, plannedEndAt: first }, 'plannedStartAt'],
    [{ plannedStartAt: first, plannedEndAt: null }, 'plannedEndAt'],
    [{ plannedStartAt: second, plannedEndAt: first }, 'plannedEndAt'],
    [{ plannedStartAt: first, plannedEndAt: first }, 'plannedEndAt'],
    [{ plannedStartAt: 'Saturday', plannedEndAt: first }, 'plannedStartAt'],
  ])('rejects %j', async (given, path) => {
    const { id } = await workspace.createTicket({ type: 'CHANGE' });
    const created = await workspace.call('POST', '/tickets', { ...ticket, type: 'CHANGE', ...given });
    for (const response of [created, await patch(id, given)]) {
      expect(response.status).toBe(400);
      expect(errorOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    }
  });

  it('rejects a change of one time that makes the window invalid', async () => {
    const { id } = await workspace.createTicket({ type: 'CHANGE', ...window });
    const response = await patch(id, { plannedStartAt: third });
    expect(errorOf(response)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'plannedEndAt', message: 'must be after plannedStartAt' }],
    });
  });

  it.each(['INCIDENT', 'PROBLEM', 'SERVICE_REQUEST'] as const)('rejects a window of the type %s', async (type) => {
    const created = await workspace.call('POST', '/tickets', { ...ticket, type, ...window });
    const { id } = await workspace.createTicket({ type, ...none });
    for (const response of [created, await patch(id, window)]) {
      expect(errorOf(response)).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'plannedStartAt', message: 'can be set only for tickets of the type CHANGE' }],
      });
    }
    expect((await patch(id, none)).status).toBe(200);
  });

  it('plans windows with bulk requests and import keys', async () => {
    const change = { ...ticket, type: 'CHANGE' };
    const { email } = await workspace.createUser({ role: 'ADMIN' });
    const { key } = await createKey(workspace.context, {
      ...{ user: email, name: 'import', scopes: ['tickets:write'], isImport: true, expiresInDays: 1 },
    });
    const body = { tickets: [{ ...change, ...window }, { ...ticket, ...window }, change] };
    const created = await api.call({ method: 'POST', path: '/api/public/v1/tickets/bulk', key, body });
    expect(created.body.data.map(({ status }: { status: number }) => status)).toEqual([201, 400, 201]);
    const [one, , three] = created.body.data.map(({ data }: { data: Ticket }) => data);
    expect(one).toMatchObject(window);
    const tickets = [
      { id: one.id, plannedStartAt: null },
      { id: three.id, ...window },
    ];
    const changed = await workspace.call('PATCH', '/tickets/bulk', { tickets });
    expect(changed.body.data.map(({ data }: { data: Ticket }) => windowOf(data))).toEqual([none, window]);
  });
});

describe('GET /tickets with plannedSince and plannedBefore', () => {
  let owner: Workspace;
  it.beforeAll(async () => {
    owner = await createWorkspace(api);
    const windows = [window, { plannedStartAt: second, plannedEndAt: third }, none];
    for (const [index, planned] of windows.entries()) {
      await owner.createTicket({ type: 'CHANGE', title: `${index}`, ...planned });
    }
  });

  it.each([
    [`plannedSince=${first}`, '01'],
    [`plannedSince=${second}`, '1'],
    [`plannedSince=${third}`, ''],
    [`plannedBefore=${first}`, ''],
    [`plannedBefore=${second}`, '0'],
    [`plannedBefore=${third}`, '01'],
    ['plannedSince=2026-12-02T12:00:00Z&plannedBefore=2026-12-02T13:00:00Z', '0'],
    ['plannedSince=2026-12-02T12:00:00Z&plannedBefore=2026-12-02T21:00:00Z', '01'],
    [`plannedSince=${first}&status=OPEN&q=1`, '1'],
    [`plannedSince=${first}&status=CLOSED`, ''],
  ])('lists the changes whose window overlaps %s', async (query, expected) => {
    const { status, body } = await owner.call('GET', `/tickets?sort=id&${query}`);
    expect(status).toBe(200);
    expect(body.meta.totalCount).toBe(body.data.length);
    expect(body.data.map(({ title }: Ticket) => title).join('')).toBe(expected);
  });
});
