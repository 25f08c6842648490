import { describe, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';
import { etagOf, signIn, type Visitor } from '../support/visitor.ts';

let agent: Visitor;

it.beforeAll(async () => {
  const { id: userId } = await workspace.createUser({ name: 'Ben Ortiz' });
  agent = await signIn(api, { tenantId: workspace.tenantId, userId });
});

const list = '/developer/proposals';
const statusOf = async (id: number) => (await workspace.call('GET', `/proposals/${id}`)).body.data.status;

describe('/developer/proposals/:id', () => {
  it('names the users and tickets in the changes, and the ticket itself', async () => {
    const { id: ticketId, ticketNumber } = await workspace.createTicket();
    const { id: parentId, ticketNumber: parent } = await workspace.createTicket();
    const { id: assigneeId } = await workspace.createUser({ name: 'Mia <Wong>' });
    const { id } = await workspace.createProposal({
      ...{ operation: 'tickets_update', params: { id: ticketId }, body: { assigneeId, parentId } },
    });
    const { text } = await agent.get(`${list}/${id}`);
    expect(text).toContain(`href="/developer/tickets/${ticketId}">${ticketNumber}</a>, OPEN`);
    expect(text).toContain(`${assigneeId} Mia &lt;Wong&gt;`);
    expect(text).toContain(`${parentId} ${parent}`);
  });

  it('accepts a proposal, and shows who decided and the note', async () => {
    const { id, target } = await workspace.createProposal();
    const path = `${list}/${id}`;
    const decision = { decision: 'ACCEPTED', note: 'Fine.', etag: await etagOf(agent, path) };
    expect((await agent.submit(path, 'decide', decision)).headers.location).toBe(path);
    const { text } = await agent.get(path);
    expect(text).toMatch(/ACCEPTED.*Ben Ortiz.*Fine\./s);
    expect(text).not.toContain('form-decide');
    const changed = await workspace.call('GET', `/tickets/${target?.split(':')[1]}`);
    expect(changed.body.data.title).toBe('Changed');
  });
});

describe('/developer/proposals', () => {
  it('decides about several proposals, and reports those that are no longer pending or unknown', async () => {
    const [first, second, withdrawn] = [
      ...[await workspace.createProposal(), await workspace.createProposal(), await workspace.createProposal()],
    ];
    await workspace.call('DELETE', `/proposals/${withdrawn?.id}`);
    const ids = [String(first?.id), String(withdrawn?.id), '999999999', String(second?.id)];
    const { headers } = await agent.submit(list, 'decide', { ids, decision: 'REJECTED', note: '' });
    expect(headers.location).toBe(list);
    expect((await agent.get(list)).text).toContain('2 REJECTED, 1 no longer pending, 1 not found');
    expect([await statusOf(first?.id ?? 0), await statusOf(second?.id ?? 0)]).toEqual(['REJECTED', 'REJECTED']);
    expect(await statusOf(withdrawn?.id ?? 0)).toBe('WITHDRAWN');
  });
});
