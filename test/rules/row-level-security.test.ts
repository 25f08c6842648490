import { queryOne, queryRows, tenantQuery } from '@itsm-api/server/database/client/raw-sql.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { withinTenant } from '@itsm-api/server/database/client/tenant-context.ts';
import { inTransaction } from '@itsm-api/server/database/client/transaction.ts';
import type { TenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/*
 * The third wall: what PostgreSQL keeps from a request when the code forgets the tenant. Everything here asks as requests
 * do, on their connections, with the tenant's condition left out.
 */
let api: Api;
let mine: Workspace;
let theirs: Workspace;

beforeAll(async () => {
  // One connection, which both tenants use in turn.
  api = await startApi({ env: { DATABASE_POOL_SIZE: '1' } });
  [mine, theirs] = [await createWorkspace(api), await createWorkspace(api)];
  for (const workspace of [mine, theirs]) {
    await workspace.createTicket({ watcherUserIds: [workspace.userId] });
    await workspace.createAsset();
    await workspace.createTask();
    await workspace.createWebhook();
  }
});
afterAll(() => api.close());

const models = [
  'user',
  'ticket',
  'ticketWatcher',
  'ticketSequence',
  'ticketCount',
  'asset',
  'project',
  'task',
] as const;

describe('without the filter of the tenant client', () => {
  it.each([...models, 'webhookSubscription', 'event', 'delivery'] as const)(
    "%s has nobody else's rows",
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

  it('finds its own rows', async () => {
    const { prisma } = api.databases.requests;
    const rows = await withinTenant(mine.tenantId, () => prisma.ticket.findMany());
    expect(rows.map(({ tenantId }) => tenantId)).toEqual([mine.tenantId]);
  });

  it("changes nobody else's rows, and makes none for them", async () => {
    const { prisma } = api.databases.requests;
    const changed = await withinTenant(mine.tenantId, () => prisma.ticket.updateMany({ data: { title: 'Mine' } }));
    expect(changed.count).toBe(1);
    const data = { tenantId: theirs.tenantId, projectId: 1, title: 'x' };
    await expect(withinTenant(mine.tenantId, () => prisma.task.create({ data }))).rejects.toThrow(
      'row-level security policy',
    );
  });

  it('is refused to ask for no tenant', async () => {
    await expect(api.databases.requests.prisma.ticket.findMany()).rejects.toThrow('outside of its tenant');
  });
});

describe('without the condition of a raw statement', () => {
  const everything = { text: 'SELECT DISTINCT tenant_id::text AS tenant FROM tickets WHERE $1::int = 1', values: [1] };
  const tenantsOf = async (workspace: Workspace) =>
    (await queryRows<{ tenant: string }>(tenantClient(api.databases.requests, workspace.tenantId), everything)).map(
      ({ tenant }) => tenant,
    );

  it("has nobody else's rows, one tenant after the other on one connection", async () => {
    for (const workspace of [mine, theirs, mine])
      expect(await tenantsOf(workspace)).toEqual([String(workspace.tenantId)]);
  });

  it("has nobody else's rows where the statement brings its tenant itself", async () => {
    const everyone = tenantQuery(
      'SELECT array_agg(DISTINCT tenant_id::text) AS tenants FROM tickets WHERE $2::int = 1',
    );
    for (const { tenantId } of [mine, theirs, mine]) {
      const db = tenantClient(api.databases.requests, tenantId);
      expect(await queryOne(db, everyone, [1])).toEqual({ tenants: [String(tenantId)] });
    }
    expect((await left()).rows).toEqual([{ tenant: '', role: 'itsm_request', tickets: '0' }]);
  });

  it("has nobody else's rows in a transaction", async () => {
    const db = tenantClient(api.databases.requests, mine.tenantId);
    const rows = await inTransaction(db, () => queryRows(db, everything));
    expect(rows).toEqual([{ tenant: String(mine.tenantId) }]);
  });

  it.each([
    ['fails', { text: 'SELECT 1 / $1::int', values: [0] }],
    ['cannot be parsed', { text: 'SELECT nonsense FROM tickets WHERE $1::int = 1', values: [1] }],
    ['is given what it cannot read', { text: 'SELECT $1::int', values: ['x'] }],
  ])('leaves nothing behind when it %s', async (_, statement) => {
    await expect(queryRows(tenantClient(api.databases.requests, mine.tenantId), statement)).rejects.toThrow();
    expect(await tenantsOf(theirs)).toEqual([String(theirs.tenantId)]);
    const { rows } = await left();
    expect(rows).toEqual([{ tenant: '', role: 'itsm_request', tickets: '0' }]);
  });

  /** What the next one on the connection would find, if it brought no tenant. */
  async function left() {
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

it('gives each its own rows, however many wait for a connection at once', async () => {
  const everything = { text: 'SELECT DISTINCT tenant_id::text AS tenant FROM tickets', values: [] };
  const asked = Array.from({ length: 200 }, (_, i) => (i % 3 === 0 ? mine : theirs).tenantId);
  const seen = await Promise.all(
    asked.map((tenantId) => queryRows<{ tenant: string }>(tenantClient(api.databases.requests, tenantId), everything)),
  );
  expect(seen.map((rows) => rows.map(({ tenant }) => BigInt(tenant)))).toEqual(asked.map((tenantId) => [tenantId]));
});
