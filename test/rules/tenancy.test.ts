import { openDatabases } from '@itsm-api/server/database/client/databases.ts';
import { type TenantClient, tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { describe, expect } from 'vitest';
import { api, it, workspace as mine } from '../support/fixture.ts';
import { type RawClient, rawClient } from '../support/raw-client.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/**
 * Tests the layers of tenant isolation below the API. The tenant client rejects some queries. PostgreSQL rejects some
 * statements that bypass the tenant client.
 */
let prisma: RawClient;
let theirs: Workspace;
let db: TenantClient;
let myTicket: number;
let theirTicket: number;

it.beforeAll(async () => {
  prisma = api.prisma;
  theirs = await createWorkspace(api);
  db = tenantClient(api.owner, mine.tenantId);
  myTicket = (await mine.createTicket()).id;
  theirTicket = (await theirs.createTicket({ assigneeId: theirs.userId })).id;
});

// The tests bypass the types, because they pass queries that the types reject.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Untyped = any;

describe('the tenant client', () => {
  it.each([
    ['findFirst', () => db.ticket.findFirst({ where: { id: theirTicket } }), null],
    ['findMany', () => db.ticket.findMany({ where: { id: theirTicket } }), []],
    ['an OR', () => db.ticket.findMany({ where: { OR: [{ id: theirTicket }, { tenantId: theirs.tenantId }] } }), []],
    ['a NOT', () => db.ticket.findMany({ where: { NOT: { tenantId: mine.tenantId } } }), []],
    ['another tenantId', () => db.ticket.findMany({ where: { tenantId: theirs.tenantId } }), []],
    ['a relation filter', () => db.ticket.findMany({ where: { assignee: { tenantId: theirs.tenantId } } }), []],
    ['count', () => db.ticket.count({ where: { tenantId: theirs.tenantId } }), 0],
    ['updateMany', () => db.ticket.updateMany({ where: { id: theirTicket }, data: { title: 'x' } }), { count: 0 }],
    ['deleteMany', () => db.ticket.deleteMany({ where: { id: theirTicket } }), { count: 0 }],
  ])('does not let the tenant client find rows of another tenant by %s', async (_, run, nothing) => {
    expect(await run()).toEqual(nothing);
  });

  it('finds only rows of one tenant with the tenant client, even without a `where` clause', async () => {
    const rows = await db.ticket.findMany();
    expect(new Set(rows.map(({ tenantId }) => tenantId))).toEqual(new Set([mine.tenantId]));
  });

  const ticket = () => ({
    type: 'INCIDENT' as const,
    number: 1_000_000,
    title: 'x',
    description: 'x',
    requesterId: BigInt(mine.userId),
  });

  it.each<[string, (client: Untyped) => Promise<unknown>]>([
    [
      'findUnique',
      (client) => client.ticket.findUnique({ where: { tenantId_id: { tenantId: theirs.tenantId, id: theirTicket } } }),
    ],
    [
      'update',
      (client) =>
        client.ticket.update({
          where: { tenantId_id: { tenantId: theirs.tenantId, id: theirTicket } },
          data: { title: 'x' },
        }),
    ],
    ['upsert', (client) => client.ticket.upsert({ where: {}, create: {}, update: {} })],
    [
      'delete',
      (client) => client.ticket.delete({ where: { tenantId_id: { tenantId: theirs.tenantId, id: theirTicket } } }),
    ],
    [
      'a cursor',
      (client) => client.ticket.findMany({ cursor: { tenantId_id: { tenantId: theirs.tenantId, id: theirTicket } } }),
    ],
    [
      'a nested connect',
      (client) =>
        client.ticket.create({
          data: {
            ...ticket(),
            assignee: { connect: { tenantId_id: { tenantId: theirs.tenantId, id: theirs.userId } } },
          },
        }),
    ],
    ['a nested create', (client) => client.ticket.create({ data: { ...ticket(), children: { create: [] } } })],
    [
      'a nested update',
      (client) => client.ticket.updateMany({ where: { id: myTicket }, data: { assignee: { update: {} } } }),
    ],
    ['tenantId in create', (client) => client.ticket.create({ data: { ...ticket(), tenantId: theirs.tenantId } })],
    [
      'tenantId in createMany',
      (client) => client.ticket.createMany({ data: [ticket(), { ...ticket(), tenantId: theirs.tenantId }] }),
    ],
    [
      'tenantId in updateMany',
      (client) => client.ticket.updateMany({ where: { id: myTicket }, data: { tenantId: theirs.tenantId } }),
    ],
    [
      'its own tenantId in data',
      (client) => client.ticket.updateMany({ where: { id: myTicket }, data: { tenantId: mine.tenantId } }),
    ],
    ['the model Tenant', (client) => client.tenant.findMany()],
  ])('rejects a query with %s in the tenant client', async (_, run) => {
    await expect(run(db)).rejects.toThrow('The tenant client rejects');
    // The tenant client also rejects the query in a transaction.
    await expect(db.$transaction(() => run(db))).rejects.toThrow('The tenant client rejects');
  });

  it.each<[string, (client: Untyped) => Promise<unknown>]>([
    ['an undefined id', (client) => client.ticket.findMany({ where: { id: undefined } })],
    [
      'an undefined value in data',
      (client) => client.ticket.updateMany({ where: { id: myTicket }, data: { title: undefined } }),
    ],
  ])('rejects %s in the tenant client, because the query would match all rows or change nothing', async (_, run) => {
    await expect(run(db)).rejects.toThrow('undefined');
  });

  it('inserts rows for the correct tenant with the tenant client', async () => {
    const one = await db.project.create({ data: { key: 'ONE', name: 'One' } });
    const many = await db.project.createManyAndReturn({
      data: [
        { key: 'TWO', name: 'Two' },
        { key: 'SIX', name: 'Six' },
      ],
    });
    expect([one, ...many].map(({ tenantId }) => tenantId)).toEqual([mine.tenantId, mine.tenantId, mine.tenantId]);
  });

  it('includes only related rows of the same tenant with the tenant client', async () => {
    const row = await db.ticket.findFirst({ where: { id: myTicket }, include: { requester: true, tenant: true } });
    expect([row?.requester.tenantId, row?.tenant.id]).toEqual([mine.tenantId, mine.tenantId]);
  });
});

describe('PostgreSQL', () => {
  it('prevents references to rows of another tenant in the database', async () => {
    const update = prisma.ticket.updateMany({
      where: { tenantId: mine.tenantId, id: myTicket },
      data: { assigneeId: theirs.userId },
    });
    await expect(update).rejects.toMatchObject({ code: 'P2003' });
  });

  it('prevents rows without a tenant in the database', async () => {
    await expect(prisma.project.create({ data: { key: 'NONE', name: 'None' } })).rejects.toMatchObject({
      code: 'P2003',
    });
  });

  const tables = () => prisma.$queryRaw<{ name: string }[]>`
    SELECT relname AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind = 'r' AND nspname = 'public' AND relname NOT IN ('tenants', 'deleted_tenants', 'installation', 'change_epochs', 'change_feeds', 'sign_in_failures',
      'used_challenges', '_prisma_migrations')`;

  it('starts every key, foreign key and index with the column tenant_id, with three exceptions', async () => {
    expect((await tables()).length).toBeGreaterThanOrEqual(11);
    const others = await prisma.$queryRaw<{ name: string }[]>`
      SELECT i.indexrelid::regclass::text AS name FROM pg_index i
      JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE n.nspname = 'public' AND c.relname NOT IN ('tenants', 'deleted_tenants', 'installation', 'change_epochs', 'change_feeds', 'server_runs',
        'sign_in_failures', 'used_challenges', '_prisma_migrations')
        AND a.attname <> 'tenant_id' ORDER BY 1`;
    // Two of the exceptions are indexes for lookups by API key hash and by email, which don't know the tenant yet. The
    // third exception is the text index, in which each word starts with the tenant id.
    expect(others.map(({ name }) => name)).toEqual(['api_keys_hash_key', 'texts_document_idx', 'users_email_idx']);
    const keys = await prisma.$queryRaw<{ name: string }[]>`
      SELECT conname AS name FROM pg_constraint
      JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = conkey[1]
      WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND a.attname <> 'tenant_id'`;
    expect(keys).toEqual([]);
  });

  it('cancels a SQL statement that exceeds the statement timeout', async () => {
    const hasty = openDatabases({
      url: api.databaseUrl,
      requestConnections: 1,
      timeouts: { statementMs: 50, lockMs: 50 },
      worker: false,
      onConnectionError: () => undefined,
    });
    await expect(rawClient(hasty.system.prisma).$queryRaw`SELECT pg_sleep(5)`).rejects.toThrow('statement timeout');
    await hasty.close();
  });
});
