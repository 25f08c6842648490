import { expect } from 'vitest';
import { api, it, workspace as owner } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

/**
 * During an update, the next release runs concurrently with the current release. The next release can write values that
 * the current release doesn't support (docs/decisions/schema-migrations.md).
 */

it('accepts an API key that has a scope from a later release', async () => {
  const key = await owner.createKey({ scopes: ['tickets:read', 'webhooks:manage'] });
  await api.owner.pool.query(
    `UPDATE api_keys SET scopes = scopes || ARRAY['changes:plan'] WHERE id = (SELECT max(id) FROM api_keys)`,
  );
  const call = (path: string) => api.call({ method: 'GET', path: `/api/public/v1${path}`, key });
  expect((await call('/tickets')).status).toBe(200);
  expect((await call('/users')).status).toBe(403);
  expect((await call('/me')).body.data.key.scopes).toEqual(['tickets:read', 'webhooks:manage']);
});

it('keeps the event types from a later release when a client updates a subscription', async () => {
  const { id } = await owner.createWebhook({ events: ['ticket.created'] });
  await api.owner.pool.query(
    `UPDATE webhook_subscriptions SET events = ARRAY['change.planned', 'ticket.created'] WHERE id = $1`,
    [id],
  );
  expect((await owner.call('GET', '/webhooks')).body.data).toMatchObject([{ events: ['ticket.created'] }]);
  expect((await owner.call('PATCH', `/webhooks/${id}`, { filter: { priority: ['HIGH'] } })).status).toBe(200);
  expect((await owner.call('POST', `/webhooks/${id}/test`)).body.error).toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining('change.planned'),
  });
  await owner.createTicket({ priority: 'HIGH' });
  expect((await owner.call('GET', `/webhooks/${id}/deliveries`)).body.data).toMatchObject([
    { event: 'ticket.created' },
  ]);
  const row = await api.prisma.webhookSubscription.findFirstOrThrow({ where: { id, tenantId: owner.tenantId } });
  expect(row.events).toContain('change.planned');
});

it('omits a subscription or delivery if all its event types are from a later release', async () => {
  const workspace = await createWorkspace(api);
  const [theirs, mine] = [await workspace.createWebhook(), await workspace.createWebhook()];
  await workspace.createTicket();
  await workspace.createTicket();
  await api.owner.pool.query(`UPDATE webhook_subscriptions SET events = ARRAY['change.planned'] WHERE id = $1`, [
    theirs.id,
  ]);
  const { rows } = await api.owner.pool.query(
    `UPDATE events SET type = 'change.planned' WHERE id = (SELECT min(event_id) FROM deliveries WHERE subscription_id = $1)
     RETURNING (SELECT id FROM deliveries WHERE subscription_id = $1 AND event_id = events.id) AS id`,
    [mine.id],
  );
  expect((await workspace.call('GET', '/webhooks')).body).toMatchObject({ data: [{ id: mine.id }] });
  const callTheirs = (method: 'GET' | 'PATCH' | 'POST' | 'DELETE', path = '', body?: object) =>
    workspace.call(method, `/webhooks/${theirs.id}${path}`, body);
  expect((await callTheirs('GET')).status).toBe(404);
  expect((await callTheirs('PATCH', '', { paused: true })).status).toBe(404);
  expect((await callTheirs('POST', '/replay', { since: '2026-11-20T10:00:00Z' })).status).toBe(404);
  expect((await callTheirs('DELETE')).status).toBe(404);
  expect((await api.prisma.webhookSubscription.findFirst({ where: { id: theirs.id } }))?.active).toBe(true);
  const deliveries = (await workspace.call('GET', `/webhooks/${mine.id}/deliveries`)).body.data;
  expect(deliveries.map(({ event }: { event: string }) => event)).toEqual(['ticket.created']);
  expect((await workspace.call('GET', `/deliveries/${rows[0].id}`)).status).toBe(404);
  expect((await workspace.call('POST', `/deliveries/${rows[0].id}/replay`)).status).toBe(404);
});
