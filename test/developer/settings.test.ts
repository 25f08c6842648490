import { listAudit } from '@itsm-api/server/resources/audit/queries.ts';
import { describe, expect } from 'vitest';
import { admin, api, itAsAdmin as it, workspace } from '../support/fixture.ts';
import { signIn } from '../support/visitor.ts';

const path = '/developer/settings';

describe('/developer/settings', () => {
  it('changes the rules for API keys, which limit the lifetimes in the form for a new key', async () => {
    const lifetimes = async () => {
      const { text } = await admin.get('/developer/keys/new');
      const select = /<select name="expiresInDays".*?<\/select>/s.exec(text)?.[0] ?? '';
      return [...select.matchAll(/value="(\w+)"/g)].map(([, value]) => value);
    };
    expect(await lifetimes()).toEqual(['30', '60', '90', '365', 'never']);
    const sent = await admin.submitAndFollow(path, 'keys', { maxLifetimeDays: '', expiryRequired: 'yes' });
    expect(sent.text).toMatch(/name="expiryRequired" value="yes" checked/);
    expect(await lifetimes()).toEqual(['30', '60', '90', '365']);
    await admin.submitAndFollow(path, 'keys', { maxLifetimeDays: '45' });
    expect(await lifetimes()).toEqual(['30', '45']);
    const { data } = await listAudit(workspace.context, { page: 1, perPage: 1 });
    expect(data).toMatchObject([{ action: 'settings.updated', changes: { keyPolicy: expect.anything() } }]);
    const wrong = await admin.submit(path, 'keys', { maxLifetimeDays: '0' });
    expect([wrong.status, wrong.text.includes('id="error-maxLifetimeDays"')]).toEqual([400, true]);
    await admin.submit(path, 'keys', { maxLifetimeDays: '' });
  });

  it('rejects users who are not administrators', async () => {
    const { id } = await workspace.createUser({ role: 'AGENT' });
    const agent = await signIn(api, { tenantId: workspace.tenantId, userId: id });
    expect((await agent.get(path)).status).toBe(403);
  });
});
