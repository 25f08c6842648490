import pg from 'pg';
import { afterAll, expect } from 'vitest';
import { api, itWithApi as it } from '../support/fixture.ts';
import { requestsWaiting } from '../support/waiting.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/*
 * Tests that a new subscription gets all later changes. If a request waits for a lock while the subscription is
 * created, the subscription also gets the change of the request.
 */
let lock: pg.Client;

it.beforeAll(async () => {
  lock = new pg.Client({ connectionString: api.databaseUrl });
  await lock.connect();
});
afterAll(async () => {
  await lock.end();
});

/**
 * Locks a row, sends requests, and creates a subscription while all requests wait for the lock. Returns the event types
 * of the deliveries.
 */
async function subscribeWhileWaiting(
  workspace: Workspace,
  locked: string,
  changes: (() => Promise<{ status: number }>)[],
) {
  await lock.query('BEGIN');
  await lock.query(`${locked} FOR UPDATE`, [workspace.tenantId]);
  const changing: Promise<{ status: number }>[] = [];
  for (const change of changes) {
    changing.push(change());
    await expect.poll(() => requestsWaiting(api)).toBe(changing.length);
  }
  await workspace.createWebhook();
  await lock.query('COMMIT');
  for (const { status } of await Promise.all(changing)) expect(status).toBeLessThan(300);
  const rows = await api.prisma.delivery.findMany({
    where: { tenantId: workspace.tenantId },
    select: { event: { select: { type: true } } },
  });
  return rows.map(({ event }) => event.type);
}

it('delivers tickets to a subscription that was created while the tickets waited for the ticket sequence', async () => {
  const workspace = await createWorkspace(api);
  await workspace.createTicket();
  const create = () => workspace.call('POST', '/tickets', ticket);
  const events = await subscribeWhileWaiting(workspace, 'SELECT FROM ticket_sequences WHERE tenant_id = $1', [
    create,
    create,
  ]);
  expect(events).toEqual(['ticket.created', 'ticket.created']);
});

it('delivers a change that waited for a ticket lock to a subscription created during the wait', async () => {
  const workspace = await createWorkspace(api);
  const { id } = await workspace.createTicket();
  const events = await subscribeWhileWaiting(workspace, 'SELECT FROM tickets WHERE tenant_id = $1', [
    () => workspace.call('PATCH', `/tickets/${id}`, { title: 'VPN drops again' }),
  ]);
  expect(events).toEqual(['ticket.updated']);
});

/** Selects the counter row of a tenant. Every ticket change locks this row after it writes the ticket. */
const counters = 'SELECT FROM ticket_counts WHERE tenant_id = $1';

it('delivers a ticket that waited for a counter lock to a subscription created during the wait', async () => {
  const workspace = await createWorkspace(api);
  await workspace.createTicket();
  const events = await subscribeWhileWaiting(workspace, counters, [() => workspace.call('POST', '/tickets', ticket)]);
  expect(events).toEqual(['ticket.created']);
  const { body } = await workspace.call('GET', '/tickets');
  expect(body.meta.totalCount).toBe(2);
});

it('delivers a change to a subscription that was created while the change waited for a counter lock', async () => {
  const workspace = await createWorkspace(api);
  const { id } = await workspace.createTicket();
  const events = await subscribeWhileWaiting(workspace, counters, [
    () => workspace.call('PATCH', `/tickets/${id}`, { priority: 'CRITICAL' }),
  ]);
  expect(events).toEqual(['ticket.updated']);
});

it('sets increasing timestamps in the events of a resource, even if a clock was ahead', async () => {
  const workspace = await createWorkspace(api);
  await workspace.createWebhook({ events: ['ticket.updated', 'task.updated'] });
  const { id } = await workspace.createTicket();
  const project = await workspace.createProject();
  const { body } = await workspace.call('POST', `/projects/${project.id}/tasks`, { title: 'Order the switch' });
  const ahead = new Date(Date.now() + 60_000);
  const written = { where: { tenantId: workspace.tenantId }, data: { updatedAt: ahead } };
  await api.prisma.ticket.updateMany(written);
  await api.prisma.task.updateMany(written);
  for (const [method, path, change] of [
    ['PATCH', `/tickets/${id}`, { title: 'VPN drops again' }],
    ['PATCH', `/tickets/${id}`, { watcherUserIds: [workspace.userId] }],
    ['POST', `/tickets/${id}/comments`, { body: 'It is the switch.', visibility: 'PUBLIC' }],
    ['PATCH', `/tasks/${body.data.id}`, { title: 'Order two switches' }],
  ] as const) {
    expect((await workspace.call(method, path, change)).status, path).toBeLessThan(300);
  }
  const rows = await api.prisma.event.findMany({ where: { tenantId: workspace.tenantId }, orderBy: { id: 'asc' } });
  const events = rows.map((row) => JSON.parse(row.body as string));
  const times = events.map(({ timestamp }) => Date.parse(timestamp) - ahead.getTime());
  expect(times).toEqual([1, 2, 3, 1]);
  for (const { timestamp, ticket, task } of events) expect((ticket ?? task).updatedAt).toBe(timestamp);
});
