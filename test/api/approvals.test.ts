import type { Approval, NewTicket, Ticket } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { eraseUser } from '@itsm-api/server/resources/privacy/erasure.ts';
import { redact } from '@itsm-api/server/resources/privacy/redaction.ts';
import { createUser, deactivateUser, updateUser } from '@itsm-api/server/resources/users/queries.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Api, errorOf, startApi } from '../support/api.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';

let api: Api;
let workspace: Workspace;

beforeAll(async () => {
  api = await startApi();
  workspace = await createWorkspace(api);
});
afterAll(() => api.close());

/** A user who can approve, with an API key. */
interface Approver {
  id: number;
  email: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

async function addApprover(overrides: Parameters<Workspace['createUser']>[0] = {}): Promise<Approver> {
  const { id, email } = await workspace.createUser(overrides);
  const scopes = ['tickets:read', 'tickets:write', 'users:read'] as const;
  const { key } = await createKey(workspace.context, { user: email, name: 'test', scopes: [...scopes] });
  return { id, email, call: (method, path, body) => api.call({ method, path: `/api/public/v1${path}`, key, body }) };
}

const createChange = (overrides: Partial<NewTicket> = {}) => workspace.createTicket({ type: 'CHANGE', ...overrides });
const read = async (id: number): Promise<Ticket> => (await workspace.call('GET', `/tickets/${id}`)).body.data;
const list = async (id: number): Promise<Approval[]> =>
  (await workspace.call('GET', `/tickets/${id}/approvals`)).body.data;
const ask = (id: number | string, body: object) => workspace.call('POST', `/tickets/${id}/approvals`, body);
const activityOf = async (id: number) => (await workspace.call('GET', `/tickets/${id}/activity`)).body.data;

/** Requests an approval, and returns it. */
async function request(ticketId: number, { id }: Approver, note?: string): Promise<Approval> {
  const { status, body } = await ask(ticketId, { approverId: id, note });
  expect(status).toBe(201);
  return body.data;
}

const decide = (by: Approver, { id }: Approval, decision: string, comment?: string) =>
  by.call('PATCH', `/approvals/${id}`, { decision, comment });

describe('POST /tickets/{id}/approvals', () => {
  it('requests an approval, and changes the ticket', async () => {
    const approver = await addApprover();
    const ticket = await createChange();
    const { status, body } = await ask(ticket.ticketNumber, { approverId: approver.email, note: 'Tested.' });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      ...{ id: expect.any(Number), ticketId: ticket.id, approverId: approver.id, createdById: workspace.userId },
      ...{ note: 'Tested.', decision: 'PENDING', comment: null, decidedAt: null },
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
    expect(await list(ticket.id)).toEqual([body.data]);
    const after = await read(ticket.id);
    expect(after).toMatchObject({ ...ticket, approvalStatus: 'PENDING', updatedAt: after.updatedAt, etag: after.etag });
    expect([after.updatedAt > ticket.updatedAt, after.etag === ticket.etag]).toEqual([true, false]);
    expect((await activityOf(ticket.id))[0]).toMatchObject({
      actor: { userId: workspace.userId },
      changes: {
        approvalStatus: { from: 'NONE', to: 'PENDING' },
        approvals: { from: [], to: [{ id: body.data.id, approverId: approver.id, decision: 'PENDING' }] },
      },
    });
  });

  it('emits ticket.updated with the approval and the approvalStatus', async () => {
    const webhook = await workspace.createWebhook({
      events: ['ticket.updated'],
      filter: { approvalStatus: ['PENDING'] },
    });
    const { id } = await createChange();
    const approval = await request(id, await addApprover());
    const { body } = await workspace.call('GET', `/webhooks/${webhook.id}/deliveries`);
    const delivery = await workspace.call('GET', `/deliveries/${body.data[0].id}`);
    const { ticket, changes } = JSON.parse(delivery.body.data.body);
    expect(ticket).toMatchObject({ id, approvalStatus: 'PENDING' });
    expect(changes.approvals.to).toEqual([{ id: approval.id, approverId: approval.approverId, decision: 'PENDING' }]);
    await workspace.call('DELETE', `/webhooks/${webhook.id}`);
  });

  it('accepts a service account as the approver', async () => {
    const { id } = await createUser(workspace.context, {
      ...{ name: 'Policy', email: `${unique()}@example.com`, role: 'AGENT', kind: 'SERVICE' },
    });
    expect((await ask((await createChange()).id, { approverId: id })).status).toBe(201);
  });

  it.each(['INCIDENT', 'PROBLEM', 'SERVICE_REQUEST'] as const)('rejects a ticket of the type %s', async (type) => {
    const { id } = await workspace.createTicket({ type });
    const response = await ask(id, { approverId: (await addApprover()).id });
    expect(errorOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('CHANGE') });
  });

  it('rejects the requester, the user of the key, and an approver who already has an approval', async () => {
    const [requester, approver] = [await addApprover(), await addApprover()];
    const { id } = await createChange({ requesterId: requester.id });
    await request(id, approver);
    for (const approverId of [requester.id, workspace.userId, approver.id]) {
      const response = await ask(id, { approverId });
      expect(response.status).toBe(400);
      expect(errorOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'approverId' }] });
    }
    expect(await list(id)).toHaveLength(1);
  });

  it('rejects inactive users and requesters as approvers', async () => {
    const [inactive, role] = [await workspace.createUser(), await workspace.createUser({ role: 'REQUESTER' })];
    await deactivateUser(workspace.context, inactive.id);
    for (const { id } of [inactive, role]) {
      const response = await ask((await createChange()).id, { approverId: id });
      expect(errorOf(response)).toMatchObject({
        code: 'INVALID_REFERENCE',
        details: [{ path: 'approverId', message: 'must be an active ADMIN or AGENT of this workspace' }],
      });
    }
  });

  it('rejects the 21st approval of a ticket', async () => {
    const { id } = await createChange();
    for (let count = 0; count < 20; count++) {
      expect((await ask(id, { approverId: (await workspace.createUser()).id })).status).toBe(201);
    }
    const response = await ask(id, { approverId: (await workspace.createUser()).id });
    expect(errorOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('20') });
    const { body } = await workspace.call('GET', `/tickets/${id}/approvals?perPage=3&page=7`);
    expect([body.meta.totalCount, body.data.length]).toEqual([20, 2]);
  });
});

describe('PATCH /approvals/{id}', () => {
  it('records the decision, and approves the ticket after the last approval', async () => {
    const [first, second] = [await addApprover(), await addApprover({ role: 'ADMIN' })];
    const { id } = await createChange();
    const [one, two] = [await request(id, first), await request(id, second)];
    const { status, body } = await decide(first, one, 'APPROVED', 'After the backup.');
    expect(status).toBe(200);
    expect(body.data).toEqual({
      ...{ ...one, decision: 'APPROVED', comment: 'After the backup.', decidedAt: expect.any(String) },
    });
    expect((await read(id)).approvalStatus).toBe('PENDING');
    await decide(second, two, 'APPROVED');
    expect((await read(id)).approvalStatus).toBe('APPROVED');
    const [last, before] = await activityOf(id);
    expect(before.changes).toEqual({
      approvals: {
        from: [{ id: one.id, approverId: first.id, decision: 'PENDING' }],
        to: [{ id: one.id, approverId: first.id, decision: 'APPROVED' }],
      },
    });
    expect(last.actor.userId).toBe(second.id);
    expect(last.changes.approvalStatus).toEqual({ from: 'PENDING', to: 'APPROVED' });
    await request(id, await addApprover());
    expect((await read(id)).approvalStatus).toBe('PENDING');
  });

  it('rejects the ticket after one rejection', async () => {
    const [first, second] = [await addApprover(), await addApprover()];
    const { id } = await createChange();
    const [one, two] = [await request(id, first), await request(id, second)];
    await decide(first, one, 'REJECTED', 'Too risky.');
    expect((await read(id)).approvalStatus).toBe('REJECTED');
    expect((await decide(second, two, 'APPROVED')).status).toBe(200);
    expect((await read(id)).approvalStatus).toBe('REJECTED');
  });

  it('rejects another decision, and accepts the same decision again without a change', async () => {
    const approver = await addApprover();
    const { id } = await createChange();
    const approval = await request(id, approver);
    const first = await decide(approver, approval, 'APPROVED', 'Fine.');
    const { etag } = await read(id);
    expect((await decide(approver, approval, 'APPROVED', 'Fine.')).body).toEqual(first.body);
    for (const [decision, comment] of [['REJECTED'], ['APPROVED', 'Other.'], ['APPROVED']] as const) {
      expect(errorOf(await decide(approver, approval, decision, comment))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'decision', message: "is already APPROVED, and can't change" }],
      });
    }
    expect((await read(id)).etag).toBe(etag);
  });

  it('rejects a decision with the key of another user, also of an administrator', async () => {
    const { id } = await createChange();
    const approval = await request(id, await addApprover());
    for (const call of [workspace.call, (await addApprover()).call]) {
      const response = await call('PATCH', `/approvals/${approval.id}`, { decision: 'APPROVED' });
      expect(errorOf(response)).toMatchObject({
        code: 'VALIDATION_ERROR',
        message: expect.stringContaining('Only the approver'),
      });
    }
    expect((await list(id))[0]?.decision).toBe('PENDING');
  });

  it('rejects the decision PENDING', async () => {
    const approver = await addApprover();
    const approval = await request((await createChange()).id, approver);
    expect((await decide(approver, approval, 'PENDING')).status).toBe(400);
  });
});

describe('DELETE /approvals/{id}', () => {
  it('withdraws a pending approval', async () => {
    const [first, second] = [await addApprover(), await addApprover()];
    const { id } = await createChange();
    const [one, two] = [await request(id, first), await request(id, second)];
    await decide(first, one, 'APPROVED');
    expect((await workspace.call('DELETE', `/approvals/${two.id}`)).body.data).toEqual(two);
    expect((await read(id)).approvalStatus).toBe('APPROVED');
    expect((await activityOf(id))[0].changes.approvals).toEqual({
      from: [{ id: two.id, approverId: second.id, decision: 'PENDING' }],
      to: [],
    });
    const decided = await workspace.call('DELETE', `/approvals/${one.id}`);
    expect(errorOf(decided)).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('APPROVED') });
    expect((await workspace.call('DELETE', `/approvals/${two.id}`)).status).toBe(404);
  });
});

describe('a material change', () => {
  let approver: Approver;
  beforeAll(async () => {
    approver = await addApprover();
  });

  /** Creates a CHANGE that the approver has approved. */
  async function approved(overrides: Partial<NewTicket> = {}): Promise<{ ticket: Ticket; approval: Approval }> {
    const { id } = await createChange(overrides);
    const approval = await request(id, approver, 'Please check.');
    await decide(approver, approval, 'APPROVED', 'Fine.');
    return { ticket: await read(id), approval };
  }

  it.each<[patch: object]>([
    [{ title: 'Another title' }],
    [{ description: 'Another description' }],
    [{ plannedStartAt: '2026-12-01T20:00:00Z', plannedEndAt: '2026-12-01T22:00:00Z' }],
    [{ title: 'Another title', status: 'PENDING' }],
  ])('resets the decisions after %j', async (patch) => {
    const { ticket, approval } = await approved();
    const { body } = await workspace.call('PATCH', `/tickets/${ticket.id}`, patch);
    expect(body.data).toMatchObject({ approvalStatus: 'PENDING' });
    expect(await list(ticket.id)).toEqual([approval]);
    const { id, approverId } = approval;
    expect((await activityOf(ticket.id))[0].changes).toMatchObject({
      approvalStatus: { from: 'APPROVED', to: 'PENDING' },
      approvals: { from: [{ id, approverId, decision: 'APPROVED' }], to: [{ id, approverId, decision: 'PENDING' }] },
    });
    expect((await decide(approver, approval, 'REJECTED')).status).toBe(200);
  });

  it('resets the decisions after other assets, also in a bulk request', async () => {
    const { ticket } = await approved();
    const { ticket: other } = await approved();
    const assetIds = [(await workspace.createAsset()).id];
    const tickets = [
      { id: ticket.id, assetIds },
      { id: other.id, priority: 'HIGH' },
    ];
    const { body } = await workspace.call('PATCH', '/tickets/bulk', { tickets });
    const statuses = body.data.map(({ data }: { data: Ticket }) => data.approvalStatus);
    expect(statuses).toEqual(['PENDING', 'APPROVED']);
  });

  it.each<[string, (id: number) => Promise<unknown>]>([
    ['inactive users', (id) => deactivateUser(workspace.context, id)],
    ['users who became requesters', (id) => updateUser(workspace.context, id, { role: 'REQUESTER' })],
  ])('resets the decision of each approver, and withdraws the approvals of %s', async (_, remove) => {
    const { ticket, approval } = await approved();
    const gone = await addApprover();
    await decide(gone, await request(ticket.id, gone), 'REJECTED');
    await remove(gone.id);
    expect((await read(ticket.id)).approvalStatus).toBe('REJECTED');
    await workspace.call('PATCH', `/tickets/${ticket.id}`, { title: 'Safer' });
    expect(await list(ticket.id)).toEqual([approval]);
  });

  it.each<[patch: object]>([[{ priority: 'HIGH' }], [{ title: 'VPN drops' }], [{ status: 'IN_PROGRESS' }]])(
    'keeps the decisions after %j',
    async (patch) => {
      const { ticket } = await approved();
      const { body } = await workspace.call('PATCH', `/tickets/${ticket.id}`, patch);
      expect(body.data.approvalStatus).toBe('APPROVED');
    },
  );

  it('keeps the decisions while the ticket is in progress', async () => {
    const { ticket } = await approved();
    await workspace.call('PATCH', `/tickets/${ticket.id}`, { status: 'IN_PROGRESS' });
    const { body } = await workspace.call('PATCH', `/tickets/${ticket.id}`, { description: 'Done by hand.' });
    expect(body.data.approvalStatus).toBe('APPROVED');
  });
});

describe('an approver who can no longer decide', () => {
  it.each<[what: string, end: (id: number) => Promise<unknown>]>([
    ['is deactivated', (id) => deactivateUser(workspace.context, id)],
    ['is erased', (id) => eraseUser(workspace.context, id)],
    ['becomes a REQUESTER', (id) => updateUser(workspace.context, id, { role: 'REQUESTER' })],
  ])('withdraws only the pending approvals if the user %s', async (_, end) => {
    const [approver, other] = [await addApprover(), await addApprover()];
    const [alone, both, decided] = [await createChange(), await createChange(), await createChange()];
    await request(alone.id, approver);
    const kept = await request(both.id, other);
    const withdrawn = await request(both.id, approver);
    await decide(other, kept, 'APPROVED');
    await decide(approver, await request(decided.id, approver), 'APPROVED');
    await end(approver.id);
    expect([await list(alone.id), (await read(alone.id)).approvalStatus]).toEqual([[], 'NONE']);
    expect((await list(both.id)).map(({ id }) => id)).toEqual([kept.id]);
    expect((await read(both.id)).approvalStatus).toBe('APPROVED');
    expect((await activityOf(both.id))[0].changes.approvals.from).toMatchObject([{ id: withdrawn.id }]);
    expect((await read(decided.id)).approvalStatus).toBe('APPROVED');
  });
});

describe('GET /approvals', () => {
  it('lists the approvals of an approver by decision, newest first', async () => {
    const approver = await addApprover();
    const ids: number[] = [];
    for (let count = 0; count < 3; count++) ids.unshift((await request((await createChange()).id, approver)).id);
    await decide(approver, { id: ids[2] } as Approval, 'REJECTED');
    const idsOf = async (query: string) => {
      const { body } = await approver.call('GET', `/approvals?${query}`);
      expect(body.meta.totalCount).toBe(body.data.length);
      return body.data.map(({ id }: Approval) => id);
    };
    expect(await idsOf('approverId=me')).toEqual(ids);
    expect(await idsOf('approverId=me&decision=PENDING')).toEqual(ids.slice(0, 2));
    expect(await idsOf(`approverId=${approver.email}&decision=APPROVED,REJECTED`)).toEqual(ids.slice(2));
    expect(await idsOf(`approverId=${workspace.userId}`)).toEqual([]);
  });
});

describe('GET /tickets with approvalStatus', () => {
  it('lists tickets by the result of their approvals', async () => {
    const owner = await createWorkspace(api);
    const change = await owner.createTicket({ type: 'CHANGE' });
    const { ticketId } = await owner.createApproval();
    const idsOf = async (query: string) => {
      const { body } = await owner.call('GET', `/tickets?${query}`);
      expect(body.meta.totalCount).toBe(body.data.length);
      return body.data.map(({ id }: Ticket) => id);
    };
    expect(await idsOf('approvalStatus=PENDING')).toEqual([ticketId]);
    expect(await idsOf('approvalStatus=NONE')).toEqual([change.id]);
    expect(await idsOf('approvalStatus=NONE,PENDING')).toEqual([ticketId, change.id]);
    expect(await idsOf('approvalStatus=APPROVED&type=CHANGE')).toEqual([]);
  });
});

it('redacts the note and the comment of approvals together with their ticket', async () => {
  const approver = await addApprover();
  const { id } = await createChange();
  const headers = { 'idempotency-key': unique() };
  const body = { approverId: approver.id, note: 'Ask Grace Hopper.' };
  const { body: created } = await workspace.call('POST', `/tickets/${id}/approvals`, body, headers);
  await decide(approver, created.data, 'APPROVED', 'Grace agrees.');
  await redact(workspace.context, { tickets: [id] });
  expect(await list(id)).toMatchObject([{ note: '[redacted]', comment: '[redacted]', decision: 'APPROVED' }]);
  const repeated = await workspace.call('POST', `/tickets/${id}/approvals`, body, headers);
  expect(repeated.body.data).toEqual({ ...created.data, note: '[redacted]' });
  expect((await read(id)).approvalStatus).toBe('APPROVED');
});
