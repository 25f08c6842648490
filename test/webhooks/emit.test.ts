import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/*
 * A subscription that was committed before a change was made is told of it, also when the change had begun to wait before.
 */
let api: Api;
let lock: pg.Client;

beforeAll(async () => {
  api = await startApi();
  lock = new pg.Client({ connectionString: api.databaseUrl });
  await lock.connect();
});
afterAll(async () => {
  await lock.end();
  await api.close();
});

/** Subscribes to both events of tickets while as many requests wait for what is locked, one behind the other. */
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
    await expect.poll(waiting, { timeout: 10_000 }).toBe(changing.length);
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

async function waiting(): Promise<number> {
  const rows = await api.prisma.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE application_name = 'itsm-api requests' AND datname = current_database() AND wait_event_type = 'Lock'`;
  return rows[0]?.count ?? 0;
}

it('tells a subscription of a ticket whose create waited for another while it was made', async () => {
  const workspace = await createWorkspace(api);
  await workspace.createTicket();
  const create = () => workspace.call('POST', '/tickets', ticket);
  const told = await subscribeWhileWaiting(workspace, 'SELECT FROM ticket_sequences WHERE tenant_id = $1', [
    create,
    create,
  ]);
  expect(told).toEqual(['ticket.created']);
});

it('tells a subscription of a change that waited while it was made', async () => {
  const workspace = await createWorkspace(api);
  const { id } = await workspace.createTicket();
  const told = await subscribeWhileWaiting(workspace, 'SELECT FROM tickets WHERE tenant_id = $1', [
    () => workspace.call('PATCH', `/tickets/${id}`, { title: 'VPN drops again' }),
  ]);
  expect(told).toEqual(['ticket.updated']);
});
