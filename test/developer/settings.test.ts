import { getResolutionTargets } from '@itsm-api/server/resources/tickets/due-date.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

let api: Api;
let workspace: Workspace;
let admin: Visitor;

beforeAll(async () => {
  api = await startApi();
  workspace = await createWorkspace(api);
  admin = await signIn(api, workspace);
});
afterAll(() => api.close());

const path = '/developer/settings';
const none = { CRITICAL: '', HIGH: '', MEDIUM: '', LOW: '' };

describe('/developer/settings', () => {
  it('changes the resolution targets and records an audit entry', async () => {
    const { text } = await admin.submitAndFollow(path, 'targets', { ...none, CRITICAL: '240', LOW: '525600' });
    expect(text).toContain('value="240"');
    const expected = { CRITICAL: 240, HIGH: null, MEDIUM: null, LOW: 525_600 };
    expect(await getResolutionTargets(workspace.context.db)).toEqual(expected);
    expect((await admin.get('/developer/audit')).text).toContain('settings.updated');
    expect((await workspace.createTicket({ priority: 'CRITICAL' })).dueAt).not.toBeNull();
    const theirs = await createWorkspace(api);
    expect(await getResolutionTargets(theirs.context.db)).toMatchObject({ CRITICAL: null, LOW: null });

    await admin.submit(path, 'targets', none);
    expect(await getResolutionTargets(workspace.context.db)).toMatchObject({ CRITICAL: null, LOW: null });
  });

  it.each(['0', '525601', '1.5', 'soon'])('rejects a target of %s minutes', async (minutes) => {
    const { status, text } = await admin.submit(path, 'targets', { ...none, HIGH: minutes });
    expect(status).toBe(400);
    expect(text).toContain('id="error-HIGH"');
    expect(text).toContain(`value="${minutes}"`);
  });

  it('rejects users who are not administrators', async () => {
    const { id } = await workspace.createUser({ role: 'AGENT' });
    const agent = await signIn(api, { tenantId: workspace.tenantId, userId: id });
    expect((await agent.get(path)).status).toBe(403);
  });
});
