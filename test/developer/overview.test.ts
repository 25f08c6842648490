import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { latencyBuckets } from '@itsm-api/server/usage/dimensions.ts';
import { describe, expect } from 'vitest';
import { query } from '../support/database.ts';
import { admin, api, itAsAdmin, workspace as mine } from '../support/fixture.ts';
import { signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';

const path = '/developer/overview';
let agent: Visitor;
let agentsKey: number;
let adminsKey: number;

const it = itAsAdmin.extend('options', { scope: 'file' }, { env: { ATTACHMENTS_QUOTA_BYTES: '20' } });
it.beforeAll(async () => {
  adminsKey = Number(mine.context.keyId);
  const { id, email } = await mine.createUser();
  agentsKey = (
    await createKey(mine.context, { user: email, name: 'Nightly', scopes: ['tickets:read'], expiresInDays: 5 })
  ).id;
  await createKey(mine.context, { user: email, name: 'Later', scopes: ['tickets:read'], expiresInDays: 31 });
  agent = await signIn(api, { tenantId: mine.tenantId, userId: id });
});

/** Returns the text of each card, by title. */
async function cardsOf(visitor: Visitor): Promise<Record<string, string>> {
  const { status, text } = await visitor.get(path);
  expect(status, text).toBe(200);
  const cards = text.match(/<section class="card">.*?<\/section>/gs) ?? [];
  const texts = cards.map((card) =>
    card
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  return Object.fromEntries(texts.map((card) => [card.replace(/ (\d+|OK) .*/, ''), card]));
}

/** Makes webhooks fail, and an API key reach the limit of an endpoint group. */
async function makeProblems(): Promise<{ failing: number; paused: number }> {
  const [failing, held, paused, healthy] = [
    await mine.createWebhook({ url: 'https://failing.example.com/' }),
    await mine.createWebhook({ url: 'https://held.example.com/', paused: true }),
    await mine.createWebhook({ url: 'https://gone.example.com/' }),
    await mine.createWebhook({ url: 'https://healthy.example.com/' }),
  ];
  expect([held.health, healthy.health]).toEqual(['PAUSED', 'HEALTHY']);
  const update = (set: string, id: number) =>
    query(api.databaseUrl, `UPDATE webhook_subscriptions SET ${set} WHERE tenant_id = $1 AND id = $2`, [
      mine.tenantId,
      id,
    ]);
  await update('failures = 2, failing_since = now(), last_failure_at = now()', failing.id);
  await update(
    `key_id = ${agentsKey}, paused_at = now(), paused_reason = 'The endpoint returned 410 Gone.'`,
    paused.id,
  );
  await query(
    api.databaseUrl,
    `INSERT INTO usage_hours (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
     SELECT $1, date_trunc('hour', now()) - hours * interval '1 hour', key, 'tickets_list', outcome, 7, $3, 50, peak
     FROM (VALUES ($2::bigint, 1, 'GROUP_LIMIT', 100), ($4::bigint, 1, 'SUCCESSFUL', 90), ($4, 30, 'GROUP_LIMIT', 100))
       AS v (key, hours, outcome, peak)`,
    [mine.tenantId, agentsKey, Array<number>(latencyBuckets).fill(0), adminsKey],
  );
  await mine.createAttachment(undefined, { content: 'sixteen letters.' });
  return { failing: failing.id, paused: paused.id };
}

describe('/developer/overview', () => {
  it('reports that nothing needs attention, and links to the pages that an administrator uses first', async () => {
    const fresh = await createWorkspace(api);
    const { text } = await (await signIn(api, fresh)).get(path);
    expect(text).toContain('Nothing needs attention.');
    expect(text).toContain('/developer/keys/new');
    expect((await admin.get('/developer')).headers.location).toBe(path);
  });

  it('shows failing webhooks, keys that expire, keys that reached a limit, and full quotas', async () => {
    const { failing, paused } = await makeProblems();
    const { text } = await admin.get(path);
    expect(text).toContain('5 items need attention.');
    const cards = await cardsOf(admin);
    expect(cards['Failing webhooks']).toMatch(
      /^Failing webhooks 2 gone\.example\.com PAUSED The endpoint returned 410 Gone\. failing\.example\.com RETRYING The last 2 attempts failed\. Show/,
    );
    expect(text).toContain(`href="/developer/webhooks/${failing}"`);
    expect(cards['API keys that expire within']).toMatch(/30 days 1 Nightly \(…\w{4}\) .* Show expiring API keys$/);
    expect(text).toContain(`href="/developer/keys/${agentsKey}"`);
    expect(cards['Rate limits reached in the last']).toMatch(
      /24 hours 1 Nightly \(…\w{4}\) Limit for tickets endpoints: 7 requests rejected, most recently in the hour from .* Show usage$/,
    );
    expect(cards.Quotas).toBe('Quotas 1 Attachments 16 B of 20 B 80 % Active webhooks 4 of 100 4 %');

    const own = await cardsOf(agent);
    expect(own['Failing webhooks']).toContain('Failing webhooks 1 gone.example.com PAUSED');
    expect((await agent.get(path)).text).toContain(`href="/developer/deliveries?subscription=${paused}"`);
    expect(own['API keys that expire within']).toContain('30 days 1 Nightly');
    expect(own['Rate limits reached in the last']).toContain('24 hours 1 Nightly');
    expect(own.Quotas).toBe('Quotas OK Valid API keys 2 of 100 2 %');
  });

  it('shows agents nothing about the keys and webhooks of other users, and other workspaces nothing at all', async () => {
    const { id } = await mine.createUser();
    const other = await signIn(api, { tenantId: mine.tenantId, userId: id });
    const stranger = await signIn(api, await createWorkspace(api));
    for (const visitor of [other, stranger]) {
      const { text } = await visitor.get(path);
      expect(text).toContain('Nothing needs attention.');
      expect(text).not.toMatch(/gone\.example|failing\.example|Nightly/);
    }
  });
});
