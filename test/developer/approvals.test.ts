import { deactivateUser } from '@itsm-api/server/resources/users/queries.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { etagOf, signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

let api: Api;
let workspace: Workspace;
let agentId: number;
let agent: Visitor;

beforeAll(async () => {
  api = await startApi();
  workspace = await createWorkspace(api);
  agentId = (await workspace.createUser({ name: 'Agent' })).id;
  agent = await signIn(api, { tenantId: workspace.tenantId, userId: agentId });
});
afterAll(() => api.close());

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
    await workspace.call('DELETE', `/approvals/${own.id}`);
    expect((await agent.get(list)).text).toContain('No change waits for your decision.');
  });

  it('lets the approver decide once', async () => {
    const { id, ticketId } = await workspace.createApproval(agentId);
    const path = `${list}/${id}`;
    const etag = await etagOf(agent, path);
    expect((await agent.submit(path, 'decide', { decision: '', comment: '', etag })).status).toBe(400);
    const { headers } = await agent.submit(path, 'decide', { decision: 'REJECTED', comment: 'Too\r\nrisky.', etag });
    expect(headers.location).toBe(list);
    expect(await read(id)).toMatchObject({ decision: 'REJECTED', comment: 'Too\nrisky.' });
    const { text } = await agent.get(path);
    expect(text).toContain('REJECTED');
    expect(text).not.toContain('form-decide');
    expect((await agent.get(`/developer/tickets/${ticketId}`)).text).toContain('Too\nrisky.');
  });

  it('rejects a decision about a change that has changed since the page was opened', async () => {
    const { id, ticketId } = await workspace.createApproval(agentId);
    const path = `${list}/${id}`;
    const etag = await etagOf(agent, path);
    await workspace.call('PATCH', `/tickets/${ticketId}`, { description: 'Drop all tables.' });
    expect((await agent.submit(path, 'decide', { decision: 'APPROVED', comment: '', etag })).status).toBe(412);
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
