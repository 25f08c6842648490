import type { Approval, NewTicket, Ticket } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { eraseUser } from '@itsm-api/server/resources/privacy/erasure.ts';
import { redact } from '@itsm-api/server/resources/privacy/redaction.ts';
import { createUser, deactivateUser, updateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';

/** A user who can approve, with an API key. */
interface Approver {
  id: number;
  email: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

async function addApprover(overrides: Parameters<Workspace['createUser']>[0] = {}): Promise<Approver> {
  const { id, email } = await workspace.createUser(overrides);
  const scopes = ['tickets:read', 'tickets:write', 'users:read'] as const;
  const { key } = await createKey(workspace.context, { user: email, name: 'test', scopes: [...scopes] });
  const call: Approver['call'] = (method, path, body, headers) =>
    api.call({ method, path: `/api/public/v1${path}`, key, body, ...(headers && { headers }) });
  return { id, email, call };
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

const decide = (by: Approver, { id }: Approval, decision: string, comment?: string, etag?: string) =>
  by.call('PATCH', `/approvals/${id}`, { decision, comment }, etag === undefined ? undefined : { 'if-match': etag });

const readApproval = async (id: number): Promise<Approval> =>
  (await workspace.call('GET', `/approvals/${id}`)).body.data;

/** The fields of an approval that each of its writes changes. */
const newVersion = { etag: expect.any(String), updatedAt: expect.any(String) };

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
      updatedAt: body.data.createdAt,
      etag: expect.stringMatching(/^"1-\w+"$/),
    });
    expect(await list(ticket.id)).toEqual([body.data]);
    expect(await readApproval(body.data.id)).toEqual(body.data);
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
      ...newVersion,
    });
    expect(await readApproval(one.id)).toEqual(body.data);
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

  it.each([
    ['APPROVED', [['REJECTED'], ['APPROVED', 'Other.'], ['APPROVED']], "is already APPROVED, and can't change"],
    ['REJECTED', [['REJECTED', 'Other.'], ['REJECTED']], 'is already REJECTED. Only APPROVED can replace it.'],
  ] as const)(
    'rejects other decisions after %s, and repeats the same one without a change',
    async (decision, others, message) => {
      const approver = await addApprover();
      const { id } = await createChange();
      const approval = await request(id, approver);
      const first = await decide(approver, approval, decision, 'Fine.');
      const { etag } = await read(id);
      for (const tag of [undefined, approval.etag]) {
        expect((await decide(approver, approval, decision, 'Fine.', tag)).body).toEqual(first.body);
      }
      for (const [other, comment] of others) {
        expect(errorOf(await decide(approver, approval, other, comment))).toMatchObject({
          code: 'VALIDATION_ERROR',
          details: [{ path: 'decision', message }],
        });
      }
      expect((await read(id)).etag).toBe(etag);
    },
  );

  it('lets the approver replace a rejection with an approval', async () => {
    const approver = await addApprover();
    const { id } = await createChange();
    const approval = await request(id, approver);
    const { body: rejected } = await decide(approver, approval, 'REJECTED', 'No backup.');
    const { status, body } = await decide(approver, approval, 'APPROVED', 'Now with a backup.');
    expect([status, body.data]).toEqual([
      200,
      {
        ...rejected.data,
        decision: 'APPROVED',
        comment: 'Now with a backup.',
        decidedAt: expect.any(String),
        ...newVersion,
      },
    ]);
    expect((await read(id)).approvalStatus).toBe('APPROVED');
    const changed = { id: approval.id, approverId: approver.id };
    expect((await activityOf(id))[0].changes).toEqual({
      approvalStatus: { from: 'REJECTED', to: 'APPROVED' },
      approvals: { from: [{ ...changed, decision: 'REJECTED' }], to: [{ ...changed, decision: 'APPROVED' }] },
    });
  });

  it('rejects the decision of a user who has become a REQUESTER', async () => {
    const approver = await addApprover();
    const { id } = await createChange();
    const approval = await request(id, approver);
    await decide(approver, approval, 'REJECTED');
    await updateUser(workspace.context, approver.id, { role: 'REQUESTER' }, { keepKeys: true });
    expect(errorOf(await decide(approver, approval, 'APPROVED'))).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('REQUESTER'),
    });
    expect((await read(id)).approvalStatus).toBe('REJECTED');
  });

  it.each([['PENDING'], ['REJECTED']])(
    'rejects an approval after %s with the ETag from before an edit',
    async (before) => {
      const approver = await addApprover();
      const { id } = await createChange();
      const { etag } = await request(id, approver);
      const [approval] = (await list(id)) as [Approval];
      if (before === 'REJECTED') await decide(approver, approval, before, undefined, etag);
      const { etag: seen } = await readApproval(approval.id);
      await workspace.call('PATCH', `/tickets/${id}`, { description: 'Drop all tables.' });
      expect(errorOf(await decide(approver, approval, 'APPROVED', undefined, seen)).code).toBe('PRECONDITION_FAILED');
      expect((await read(id)).approvalStatus).toBe(before);
      const { etag: current } = await readApproval(approval.id);
      expect((await decide(approver, approval, 'APPROVED', undefined, current)).status).toBe(200);
    },
  );

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

describe('GET /tickets/{id}/approvals', () => {
  it('returns a total that matches the approvals while they are added and withdrawn', async () => {
    const approver = await addApprover();
    const { id } = await createChange();
    let isChanging = true;
    const change = async () => {
      for (let i = 0; i < 30; i++) await approver.call('DELETE', `/approvals/${(await request(id, approver)).id}`);
    };
    const changing = change().finally(() => {
      isChanging = false;
    });
    const wrong: object[] = [];
    const compare = async () => {
      while (isChanging) {
        const { data, meta } = (await workspace.call('GET', `/tickets/${id}/approvals`)).body;
        if (data.length !== meta.totalCount) wrong.push({ data, meta });
      }
    };
    await Promise.all([changing, compare(), compare()]);
    expect(wrong).toEqual([]);
  });
});

describe('DELETE /approvals/{id}', () => {
  it('withdraws a pending approval with a key of the user who requested it', async () => {
    const [first, second] = [await addApprover(), await addApprover()];
    const { id } = await createChange();
    const [one, two] = [await request(id, first), await request(id, second)];
    expect((await workspace.call('DELETE', `/approvals/${two.id}`)).body.data).toEqual(two);
    expect(await list(id)).toEqual([one]);
    expect((await activityOf(id))[0].changes.approvals).toEqual({
      from: [{ id: two.id, approverId: second.id, decision: 'PENDING' }],
      to: [],
    });
    expect((await workspace.call('DELETE', `/approvals/${two.id}`)).status).toBe(404);
  });

  it.each([
    ['a decision', {}],
    ['a decision that an edit has reset', { description: 'Another description' }],
  ])('rejects the user who requested it after %s, but not its approver', async (_, patch) => {
    const [first, second] = [await addApprover(), await addApprover()];
    const { id } = await createChange();
    const [one, two] = [await request(id, first), await request(id, second)];
    await decide(first, one, 'APPROVED');
    if ('description' in patch) {
      await workspace.call('PATCH', `/tickets/${id}`, patch);
      await decide(first, one, 'APPROVED', 'Again.');
    }
    const message = expect.stringMatching(/An approver .* has already decided.* administrator/);
    const rejected = await workspace.call('DELETE', `/approvals/${two.id}`);
    expect([rejected.status, errorOf(rejected)]).toMatchObject([400, { code: 'VALIDATION_ERROR', message }]);
    expect((await read(id)).approvalStatus).toBe('PENDING');
    expect((await second.call('DELETE', `/approvals/${two.id}`)).status).toBe(200);
    expect((await read(id)).approvalStatus).toBe('APPROVED');
  });

  it.each(['APPROVED', 'REJECTED'])(
    'rejects the withdrawal of the decision %s, also by its approver',
    async (decision) => {
      const approver = await addApprover();
      const approval = await request((await createChange()).id, approver);
      await decide(approver, approval, decision);
      for (const call of [workspace.call, approver.call]) {
        const response = await call('DELETE', `/approvals/${approval.id}`);
        const message = expect.stringContaining(decision);
        expect([response.status, errorOf(response)]).toMatchObject([400, { code: 'VALIDATION_ERROR', message }]);
      }
      expect(await list(approval.ticketId)).toMatchObject([{ id: approval.id, decision }]);
    },
  );

  it.each(['ADMIN', 'AGENT', 'REQUESTER'] as const)('rejects a key of another user with the role %s', async (role) => {
    const approval = await request((await createChange()).id, await addApprover());
    const response = await (await addApprover({ role })).call('DELETE', `/approvals/${approval.id}`);
    const message = expect.stringContaining('Only its approver and the user who requested it');
    expect([response.status, errorOf(response)]).toMatchObject([400, { code: 'VALIDATION_ERROR', message }]);
    expect(await list(approval.ticketId)).toEqual([approval]);
  });

  it('rejects an outdated If-Match', async () => {
    const approval = await request((await createChange()).id, await addApprover());
    await workspace.call('PATCH', `/tickets/${approval.ticketId}`, { title: 'Other' });
    const withTag = (tag: string) =>
      workspace.call('DELETE', `/approvals/${approval.id}`, undefined, { 'if-match': tag });
    expect((await withTag(approval.etag)).status).toBe(412);
    expect((await withTag((await readApproval(approval.id)).etag)).status).toBe(200);
  });
});

describe('a material change', () => {
  let approver: Approver;
  it.beforeAll(async () => {
    approver = await addApprover();
  });

  /** Creates a CHANGE that the approver has approved. */
  async function approved(overrides: Partial<NewTicket> = {}): Promise<{ ticket: Ticket; approval: Approval }> {
    const { id } = await createChange(overrides);
    const approval = await request(id, approver, 'Please check.');
    await decide(approver, approval, 'APPROVED', 'Fine.');
    return { ticket: await read(id), approval };
  }

  const window = { plannedStartAt: '2026-12-01T20:00:00Z', plannedEndAt: '2026-12-01T22:00:00Z' };
  const assets = async () => ({ assetIds: [(await workspace.createAsset()).id] });
  const patch = (id: number, body: object) => workspace.call('PATCH', `/tickets/${id}`, body);

  const before = [
    ['title', (id: number) => patch(id, { title: 'Another title' })],
    ['planned window', (id: number) => patch(id, window)],
    ['assets', async (id: number) => patch(id, await assets())],
    ['description', (id: number) => patch(id, { description: 'Another description' })],
    ['custom fields', (id: number) => patch(id, { customFields: { rollback: 'None' } })],
    ['attachments, by one more', (id: number) => workspace.createAttachment(id)],
    [
      'attachments, by one less',
      async (id: number) => {
        const { body } = await workspace.call('GET', `/tickets/${id}/attachments`);
        return workspace.call('DELETE', `/attachments/${body.data[0].id}`);
      },
    ],
  ] as const;
  const other = [
    ['priority', (id: number) => patch(id, { priority: 'HIGH' })],
    ['assignee and tags', (id: number) => patch(id, { assigneeId: workspace.userId, tags: ['urgent'] })],
    ['title, which stays the same', (id: number) => patch(id, { title: 'VPN drops' })],
    ['comments', (id: number) => workspace.call('POST', `/tickets/${id}/comments`, { body: 'Ready.' })],
  ] as const;
  const during = before.slice(0, 3);
  const cases = (['OPEN', 'PENDING', 'IN_PROGRESS', 'RESOLVED'] as const).flatMap((status) =>
    [...before, ...other].map((edit) => {
      const material: readonly unknown[] = { OPEN: before, PENDING: before, IN_PROGRESS: during, RESOLVED: [] }[status];
      return [material.includes(edit) ? 'resets' : 'keeps', status, ...edit] as const;
    }),
  );

  it.each(cases)(
    '%s the decisions of a ticket that is %s after a change of its %s',
    async (effect, status, _, edit) => {
      const { ticket, approval } = await approved({ title: 'VPN drops' });
      await workspace.createAttachment(ticket.id);
      // The attachment resets the decision, which is not part of the case.
      await decide(approver, approval, 'APPROVED', 'Fine.');
      if (status !== 'OPEN') await patch(ticket.id, { status });
      const [decided] = (await list(ticket.id)) as [Approval];
      expect(decided.decision).toBe('APPROVED');
      await edit(ticket.id);
      const [after] = (await list(ticket.id)) as [Approval];
      const { approvalStatus } = await read(ticket.id);
      if (effect === 'keeps') return expect([approvalStatus, after]).toEqual(['APPROVED', decided]);
      const pending = { decision: 'PENDING', comment: null, decidedAt: null, ...newVersion };
      expect([approvalStatus, after]).toEqual(['PENDING', { ...decided, ...pending }]);
      expect(after.etag).not.toBe(decided.etag);
      const { id, approverId } = approval;
      expect((await activityOf(ticket.id))[0].changes).toMatchObject({
        approvalStatus: { from: 'APPROVED', to: 'PENDING' },
        approvals: { from: [{ id, approverId, decision: 'APPROVED' }], to: [{ id, approverId, decision: 'PENDING' }] },
      });
    },
  );

  it('resets the decisions if the request also changes the status', async () => {
    const { ticket } = await approved();
    const { body } = await patch(ticket.id, { title: 'Another title', status: 'PENDING' });
    expect(body.data.approvalStatus).toBe('PENDING');
  });

  it.each([
    ['IN_PROGRESS', { title: 'Another title' }],
    ['IN_PROGRESS', window],
  ])('resets the decisions if the request reopens a RESOLVED ticket as %s with %j', async (status, change) => {
    const { ticket } = await approved();
    await patch(ticket.id, { status: 'RESOLVED' });
    const { body } = await patch(ticket.id, { status, ...change });
    expect(body.data).toMatchObject({ status, approvalStatus: 'PENDING' });
  });

  it('keeps the decisions if the request resolves the ticket with another description', async () => {
    const { ticket } = await approved();
    await patch(ticket.id, { status: 'IN_PROGRESS' });
    const { body } = await patch(ticket.id, { status: 'RESOLVED', description: 'Done by hand.' });
    expect(body.data.approvalStatus).toBe('APPROVED');
  });

  it('resets the decisions also in a bulk request', async () => {
    const [{ ticket }, { ticket: other }] = [await approved(), await approved()];
    const tickets = [
      { id: ticket.id, ...(await assets()) },
      { id: other.id, priority: 'HIGH' },
    ];
    const { body } = await workspace.call('PATCH', '/tickets/bulk', { tickets });
    const statuses = body.data.map(({ data }: { data: Ticket }) => data.approvalStatus);
    expect(statuses).toEqual(['PENDING', 'APPROVED']);
  });

  it('keeps a rejection with its comment, and gives it a new ETag', async () => {
    const { ticket } = await approved();
    const second = await addApprover();
    await decide(second, await request(ticket.id, second), 'REJECTED', 'Too risky.');
    const [rejected] = (await list(ticket.id)) as [Approval];
    await patch(ticket.id, { title: 'Another title' });
    const [after, reset] = (await list(ticket.id)) as [Approval, Approval];
    expect([after, reset.decision]).toEqual([{ ...rejected, ...newVersion }, 'PENDING']);
    expect(after.etag).not.toBe(rejected.etag);
    expect((await activityOf(ticket.id))[0].changes).toEqual({
      title: { from: ticket.title, to: 'Another title' },
      approvals: {
        from: [{ id: reset.id, approverId: approver.id, decision: 'APPROVED' }],
        to: [{ id: reset.id, approverId: approver.id, decision: 'PENDING' }],
      },
    });
    expect((await read(ticket.id)).approvalStatus).toBe('REJECTED');
  });

  it.each<[string, (id: number) => Promise<unknown>]>([
    ['inactive users', (id) => deactivateUser(workspace.context, id)],
    ['users who became requesters', (id) => updateUser(workspace.context, id, { role: 'REQUESTER' })],
  ])('withdraws the approvals of %s, but keeps their rejections', async (_, remove) => {
    const [agreed, refused] = [await approved(), await approved()];
    const gone = await addApprover();
    await decide(gone, await request(agreed.ticket.id, gone), 'APPROVED');
    const rejection = await request(refused.ticket.id, gone);
    await decide(gone, rejection, 'REJECTED', 'No.');
    await remove(gone.id);
    for (const { ticket } of [agreed, refused]) await patch(ticket.id, { title: 'Safer' });
    expect(await list(agreed.ticket.id)).toMatchObject([{ id: agreed.approval.id, decision: 'PENDING' }]);
    expect(await list(refused.ticket.id)).toMatchObject([
      { id: rejection.id, decision: 'REJECTED', comment: 'No.' },
      { id: refused.approval.id, decision: 'PENDING' },
    ]);
    expect((await read(refused.ticket.id)).approvalStatus).toBe('REJECTED');
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
