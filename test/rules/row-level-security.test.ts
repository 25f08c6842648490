import { sql, tenant } from '@itsm-api/server/database/client/sql.ts';
import { dynamic, type None, oneAsJson, rows } from '@itsm-api/server/database/client/statements.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { withinTenant } from '@itsm-api/server/database/client/tenant-context.ts';
import type { TenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { describe, expect } from 'vitest';
import { api, itWithApi } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/**
 * Tests the third layer of tenant isolation: PostgreSQL hides rows of other tenants from a request, even if the code
 * doesn't filter by tenant. The tests run queries without a tenant filter on the database connections for requests.
 */
let mine: Workspace;
let theirs: Workspace;

const it = itWithApi.extend('options', { scope: 'file' }, { env: { DATABASE_POOL_SIZE: '1' } });
it.beforeAll(async () => {
  [mine, theirs] = [await createWorkspace(api), await createWorkspace(api)];
  for (const workspace of [mine, theirs]) {
    const { id } = await workspace.createAsset({ tags: ['leased'] });
    const ticket = await workspace.createTicket({ watcherUserIds: [workspace.userId], assetIds: [id], tags: ['vip'] });
    const { tenantId } = workspace;
    const ends = { ticketId: ticket.id, targetId: ticket.id };
    await workspace.createAttachment(ticket.id);
    await api.prisma.ticketLink.create({ data: { tenantId, type: 'BLOCKS', ...ends } });
    await workspace.createTask();
    await workspace.createWebhook();
  }
});

const models = [
  'user',
  'ticket',
  'ticketWatcher',
  'ticketAsset',
  'taggedTicket',
  'taggedAsset',
  'ticketLink',
  'attachment',
  'attachmentUsage',
  'ticketSequence',
  'ticketCount',
  'asset',
  'project',
  'task',
] as const;

describe('without the filter of the tenant client', () => {
  it.each([...models, 'webhookSubscription', 'event', 'delivery'] as const)(
    'hides %s rows of another tenant from queries without a tenant filter',
    async (model) => {
      const { prisma } = api.databases.requests;
      const table = prisma[model] as unknown as { findMany(): Promise<{ tenantId: TenantId }[]> };
      const tenantsSeen = async ({ tenantId }: Workspace) => {
        const rows = await withinTenant(tenantId, () => table.findMany());
        return [...new Set(rows.map((row) => row.tenantId))].filter((seen) => seen !== tenantId);
      };
      expect([await tenantsSeen(mine), await tenantsSeen(theirs)]).toEqual([[], []]);
    },
  );

  it('returns only rows of the current tenant for a query that has no tenant filter', async () => {
    const { prisma } = api.databases.requests;
    const rows = await withinTenant(mine.tenantId, () => prisma.ticket.findMany());
    expect(rows.map(({ tenantId }) => tenantId)).toEqual([mine.tenantId]);
  });

  it('prevents queries without a tenant filter from writing rows of another tenant', async () => {
    const { prisma } = api.databases.requests;
    const changed = await withinTenant(mine.tenantId, () => prisma.ticket.updateMany({ data: { title: 'Mine' } }));
    expect(changed.count).toBe(1);
    const data = { tenantId: theirs.tenantId, projectId: 1, title: 'x' };
    await expect(withinTenant(mine.tenantId, () => prisma.task.create({ data }))).rejects.toThrow(
      'row-level security policy',
    );
  });

  it('rejects a database query without a tenant', async () => {
    await expect(api.databases.requests.prisma.ticket.findMany()).rejects.toThrow('ran without a tenant');
  });
});

/** Reads the tenants of all visible tickets. The statement names the tenant, but doesn't filter by it. */
const selectTenants = rows<None, { tenant: bigint }>(
  () => sql`SELECT DISTINCT tenant_id AS tenant FROM tickets WHERE ${tenant}::bigint IS NOT NULL`,
);
const clientOf = ({ tenantId }: Pick<Workspace, 'tenantId'>) => tenantClient(api.databases.requests, tenantId);

describe('without the condition of a statement', () => {
  const listTenants = async (workspace: Workspace) => {
    return (await clientOf(workspace).$sql(selectTenants)).map(({ tenant }) => tenant);
  };

  it('returns only rows of the current tenant from raw SQL on a shared connection', async () => {
    for (const workspace of [mine, theirs, mine]) expect(await listTenants(workspace)).toEqual([workspace.tenantId]);
  });

  it('returns only rows of one tenant if a raw SQL statement sets the tenant', async () => {
    const selectAll = oneAsJson<None, { tenants: string[] }>(
      () => sql`SELECT array_agg(DISTINCT tenant_id::text) AS tenants FROM tickets
        WHERE ${tenant}::bigint IS NOT NULL`,
    );
    for (const workspace of [mine, theirs, mine]) {
      expect(await clientOf(workspace).$sql(selectAll)).toEqual({ tenants: [String(workspace.tenantId)] });
    }
    expect((await readConnectionState()).rows).toEqual([{ tenant: '', role: 'itsm_request', tickets: '0' }]);
  });

  it('returns only rows of the current tenant from raw SQL in a transaction', async () => {
    const db = clientOf(mine);
    expect(await db.$transaction(() => db.$sql(selectTenants))).toEqual([{ tenant: mine.tenantId }]);
  });

  it.each([
    ['fails', (value: string) => sql`1 / length(${value.slice(1)})`],
    ['cannot be parsed', (value: string) => sql`nonsense + length(${value})`],
    ['gets an invalid value', (value: string) => sql`${value}::int`],
  ])('resets the database connection when a statement %s', async (_, expression) => {
    const statement = dynamic(() => sql`SELECT ${expression('x')} WHERE ${tenant}::bigint IS NOT NULL`);
    await expect(clientOf(mine).$sql(statement)).rejects.toThrow();
    expect(await listTenants(theirs)).toEqual([theirs.tenantId]);
    const { rows } = await readConnectionState();
    expect(rows).toEqual([{ tenant: '', role: 'itsm_request', tickets: '0' }]);
  });

  /**
   * Returns the tenant and role of the database connection, and the number of tickets that the connection can read
   * without a tenant.
   */
  async function readConnectionState() {
    const connection = await api.databases.requests.pool.connect();
    try {
      return await connection.query(
        `SELECT current_setting('itsm.tenant_id', true) AS tenant, current_user AS role,
          (SELECT count(*) FROM tickets) AS tickets`,
      );
    } finally {
      connection.release();
    }
  }
});

it('returns only rows of the current tenant for each of 200 concurrent queries', async () => {
  const asked = Array.from({ length: 200 }, (_, i) => (i % 3 === 0 ? mine : theirs).tenantId);
  const seen = await Promise.all(asked.map((tenantId) => clientOf({ tenantId }).$sql(selectTenants)));
  expect(seen.map((found) => found.map(({ tenant }) => tenant))).toEqual(asked.map((tenantId) => [tenantId]));
});
