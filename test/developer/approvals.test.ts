import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';
import { etagOf, signIn, type Visitor } from '../support/visitor.ts';

let agentId: number;
let agent: Visitor;

it.beforeAll(async () => {
  agentId = (await workspace.createUser({ name: 'Agent' })).id;
  agent = await signIn(api, { tenantId: workspace.tenantId, userId: agentId });
});

const list = '/developer/approvals';
const read = async (id: number) => {
  const { body } = await workspace.call('GET', '/approvals?perPage=100');
  return body.data.find((each: { id: number }) => each.id === id);
};

describe('/developer/approvals', () => {
  it('lists the pending approvals of the signed-in user', async () => {
    const [own, other] = [await workspace.createApproval(agentId), await workspace.createApproval()];
    const { text } = await agent.get(list);
    expect(text).toContain(`href="${list}/${own.id}"`);
    expect(text).not.toContain(`href="${list}/${other.id}"`);
    const href = `href="${list}/${own.id}"`;
    expect((await agent.get('/developer/overview')).text).toContain(href);
    expect((await agent.get(`/developer/tickets/${own.ticketId}`)).text).toContain(`${href}>Decide</a>`);
    expect((await agent.get(`/developer/tickets/${other.ticketId}`)).text).toContain('>Details</a>');
    const withdrawn = await agent.submit(`${list}/${own.id}`, 'decide', {
      ...{ decision: 'APPROVED', comment: '', etag: await etagOf(agent, `${list}/${own.id}`) },
    });
    expect(withdrawn.status).toBe(303);
    expect((await agent.get(list)).text).toContain('No change waits for your decision.');
  });

  it('lets the approver reject, and approve afterwards', async () => {
    const { id, ticketId } = await workspace.createApproval(agentId);
    const path = `${list}/${id}`;
    const submit = async (decision: string, comment = '') =>
      agent.submit(path, 'decide', { decision, comment, etag: await etagOf(agent, path) });
    expect((await submit('')).status).toBe(400);
    expect((await agent.get(path)).text).toMatch(/value="APPROVED">Approve<.*value="REJECTED">Reject</s);
    expect((await submit('REJECTED', 'Too\r\nrisky.')).headers.location).toBe(list);
    expect(await read(id)).toMatchObject({ decision: 'REJECTED', comment: 'Too\nrisky.' });
    expect((await agent.get(`/developer/tickets/${ticketId}`)).text).toContain('Too\nrisky.');
    const { text } = await agent.get(path);
    expect(text).toContain('You have rejected this change.');
    expect(text).not.toContain('value="REJECTED"');
    expect((await submit('APPROVED')).headers.location).toBe(list);
    expect(await read(id)).toMatchObject({ decision: 'APPROVED', comment: null });
    expect((await agent.get(path)).text).not.toContain('form-decide');
  });

  it('shows the custom fields and attachments that the approver decides about', async () => {
    const { id, ticketId } = await workspace.createApproval(agentId);
    await workspace.call('PATCH', `/tickets/${ticketId}`, {
      customFields: { rollback: `${'x'.repeat(2000)} Restore the snapshot` },
    });
    const { id: attachmentId } = await workspace.createAttachment(ticketId, { name: 'plan.txt' });
    const { text } = await agent.get(`${list}/${id}`);
    expect(text).toContain('Restore the snapshot');
    expect(text).toContain(`href="/developer/attachments/${attachmentId}/content">plan.txt`);
  });

  it.each(['PENDING', 'REJECTED'])('lets only administrators withdraw an approval that is %s', async (decision) => {
    const { id, ticketId } = await workspace.createApproval(agentId);
    const path = `${list}/${id}`;
    const etag = async () => etagOf(agent, path);
    if (decision === 'REJECTED') await agent.submit(path, 'decide', { decision, comment: 'No.', etag: await etag() });
    expect((await agent.get(path)).text).not.toContain('form-withdraw');
    expect((await agent.submit(path, 'withdraw', { etag: await etag() })).status).toBe(403);
    const admin = await signIn(api, { tenantId: workspace.tenantId, userId: workspace.userId });
    expect((await admin.get(path)).text).toContain('form-withdraw');
    const old = await etag();
    await workspace.call('PATCH', `/tickets/${ticketId}`, { description: 'Other.' });
    const late = await admin.submit(path, 'withdraw', { etag: old });
    expect(late).toMatchObject({ status: 412, text: expect.stringContaining('Reload the page and check them.') });
    const { headers } = await admin.submit(path, 'withdraw', { etag: await etag() });
    expect(headers.location).toBe(`/developer/tickets/${ticketId}`);
    expect(await read(id)).toBeUndefined();
    const { approvalStatus } = (await workspace.call('GET', `/tickets/${ticketId}`)).body.data;
    expect(approvalStatus).toBe('NONE');
    const { text } = await admin.get('/developer/audit?action=approval.withdrawn');
    expect(text).toContain(decision);
  });

  it('rejects a decision about a change that has changed since the page was opened', async () => {
    const { id, ticketId } = await workspace.createApproval(agentId);
    const path = `${list}/${id}`;
    const etag = await etagOf(agent, path);
    await workspace.call('PATCH', `/tickets/${ticketId}`, { description: 'Drop all tables.' });
    const late = await agent.submit(path, 'decide', { decision: 'APPROVED', comment: '', etag });
    expect(late).toMatchObject({ status: 412, text: expect.stringContaining('Reload the page and check them.') });
    expect(await read(id)).toMatchObject({ decision: 'PENDING' });
  });

  it('shows the approval of another user without the form', async () => {
    const approver = await workspace.createUser({ name: 'Other' });
    const { id } = await workspace.createApproval(approver.id);
    const { status, text } = await agent.get(`${list}/${id}`);
    expect([status, text.includes('Other'), text.includes('form-decide')]).toEqual([200, true, false]);
    await deactivateUser(workspace.context, approver.id);
    expect((await agent.get(`${list}/${id}`)).status).toBe(404);
  });
});
