import type { NewTicket, Ticket } from '@itsm-api/contract';
import { decide } from '@itsm-api/server/resources/tickets/approvals/queries.ts';
import { setChangePolicy } from '@itsm-api/server/resources/tickets/change-policy.ts';
import { describe, expect, vi } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket } from '../support/workspace.ts';

const now = '2026-11-20T10:00:00.000Z';
const window = { plannedStartAt: '2026-11-20T09:00:00.000Z', plannedEndAt: '2026-11-20T11:00:00.000Z' };

const it = itBase.extend('options', { scope: 'file' }, { now: () => new Date(now) });
it.beforeAll(async () => {
  await setChangePolicy(workspace.context, true);
});

/** Creates a CHANGE with an approval. */
async function createChange(
  { decision, ...fields }: Partial<NewTicket> & { decision?: 'APPROVED' | 'REJECTED' },
  owner = workspace,
): Promise<Ticket> {
  const { id } = await owner.createTicket({ type: 'CHANGE', ...fields });
  const { id: approvalId, approverId } = await owner.createApproval(undefined, id);
  if (decision) await decide({ ...owner.context, userId: BigInt(approverId) }, approvalId, { decision });
  return (await owner.call('GET', `/tickets/${id}`)).body.data;
}

const patch = (id: number, body: object, owner = workspace) => owner.call('PATCH', `/tickets/${id}`, body);

describe('the policy for changes', () => {
  it.each(['IN_PROGRESS', 'RESOLVED'])('allows %s for an approved change within its window', async (status) => {
    const { id } = await createChange({ decision: 'APPROVED', ...window });
    expect((await patch(id, { status })).body.data.status).toBe(status);
  });

  const early = { plannedStartAt: '2026-11-20T10:00:00.001Z', plannedEndAt: window.plannedEndAt };
  const late = { plannedStartAt: window.plannedStartAt, plannedEndAt: now };
  it.each<[change: Parameters<typeof createChange>[0], reason: string]>([
    [window, "because the change isn't approved: approvalStatus is PENDING. Wait for the approvals."],
    [{ ...window, decision: 'REJECTED' }, "because the change isn't approved: approvalStatus is REJECTED."],
    [{ decision: 'APPROVED' }, 'because the change has no planned window. Set plannedStartAt and plannedEndAt.'],
    [
      { decision: 'APPROVED', ...early },
      `before the planned window starts at 2026-11-20T10:00:00.001Z. The time is ${now}.`,
    ],
    [
      { decision: 'APPROVED', ...late },
      `after the planned window ended at ${now}. The time is ${now}. Plan a new one.`,
    ],
  ])('rejects the start of the change %j', async (change, reason) => {
    const { id } = await createChange(change);
    for (const from of ['OPEN', 'PENDING']) {
      expect((await patch(id, { status: from })).status).toBe(200);
      for (const status of ['IN_PROGRESS', 'RESOLVED']) {
        const single = await patch(id, { status });
        const bulk = await workspace.call('PATCH', '/tickets/bulk', { tickets: [{ id, status }] });
        for (const error of [errorOf(single), bulk.body.data[0].error]) {
          expect(error.code).toBe('INVALID_TRANSITION');
          expect(error.message).toContain(`status can't change from ${from} to ${status} ${reason}`);
        }
      }
    }
  });

  it('rejects a start together with a change that resets the decisions', async () => {
    const { id } = await createChange({ decision: 'APPROVED', ...window });
    const response = await patch(id, { status: 'IN_PROGRESS', description: 'Something else.' });
    expect(errorOf(response)).toMatchObject({ code: 'INVALID_TRANSITION', details: [{ path: 'status' }] });
    expect((await patch(id, { status: 'IN_PROGRESS' })).status).toBe(200);
  });

  it('allows all other status changes', async () => {
    const { id } = await createChange({ decision: 'APPROVED', ...window });
    for (const status of ['PENDING', 'IN_PROGRESS', 'PENDING', 'CANCELLED']) {
      expect((await patch(id, { status })).status).toBe(200);
    }
    const { id: incident } = await workspace.createTicket();
    expect((await patch(incident, { status: 'IN_PROGRESS' })).status).toBe(200);
  });

  it("doesn't apply to import keys and to workspaces without the policy", async () => {
    const key = await workspace.createKey({ isImport: true });
    const { id } = await createChange({});
    const call = { method: 'PATCH', path: `/api/public/v1/tickets/${id}`, key, body: { status: 'IN_PROGRESS' } };
    expect((await api.call(call)).status).toBe(200);
    const body = { ...ticket, type: 'CHANGE', status: 'RESOLVED' };
    expect((await api.call({ ...call, method: 'POST', path: '/api/public/v1/tickets', body })).status).toBe(201);
    const other = await createWorkspace(api);
    const { id: free } = await createChange({}, other);
    expect((await patch(free, { status: 'IN_PROGRESS' }, other)).status).toBe(200);
  });

  it('adds no statement to updates of other tickets', async () => {
    const { id } = await workspace.createTicket();
    const query = vi.spyOn(api.databases.requests.pool, 'runPipeline');
    await patch(id, { status: 'IN_PROGRESS' });
    const texts = query.mock.calls.flatMap(([configs]) => configs.map(({ text }) => text));
    query.mockRestore();
    expect(texts.join('\n')).not.toMatch(/change_policy|"?approvals"?\b/);
  });
});
