import { queryRows } from '@itsm-api/server/database/client/raw-sql.ts';
import { rawClient, type TenantClient, tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { ConditionNotMet, inTransaction } from '@itsm-api/server/database/client/transaction.ts';
import { transaction } from '@itsm-api/server/resources/shared/context.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/*
 * A transaction is one for all that is done in it, by Prisma, by Prisma in several statements, and by SQL.
 */
let api: Api;
let workspace: Workspace;
let db: TenantClient;
let ticketId: number;

beforeAll(async () => {
  api = await startApi();
  workspace = await createWorkspace(api);
  db = tenantClient(api.databases.requests, workspace.tenantId);
  ticketId = (await workspace.createTicket({ title: 'Before' })).id;
});
afterAll(() => api.close());

const byPrisma = (title: string) => db.ticket.updateMany({ where: { id: ticketId }, data: { title } });
const byStatement = (status: string) =>
  queryRows(db, {
    text: 'UPDATE tickets SET resolution = $3 WHERE tenant_id = $1 AND id = $2 RETURNING id',
    values: [db.$tenantId, ticketId, status],
  });
/** So many that Prisma sends several statements, in a transaction of its own. */
const inPieces = async () => {
  const row = { projectId: BigInt(projectId), title: 'x' };
  await db.task.createMany({ data: Array.from({ length: 9000 }, () => row) });
};
let projectId = 0;

const state = async () => {
  const { title, resolution } = await api.prisma.ticket.findFirstOrThrow({ where: { id: ticketId } });
  const tasks = await api.prisma.task.count({ where: { tenantId: workspace.tenantId } });
  return { title, resolution, tasks };
};

it('commits all, or nothing when its work throws', async () => {
  projectId = (await workspace.createProject()).id;
  const before = await state();
  const failing = inTransaction(db, async () => {
    await byPrisma('During');
    await inPieces();
    await byStatement('During');
    expect(await state()).toEqual(before);
    throw new Error('Enough.');
  });
  await expect(failing).rejects.toThrow('Enough.');
  expect(await state()).toEqual(before);

  await inTransaction(db, async () => {
    await byPrisma('After');
    await inPieces();
    await byStatement('After');
  });
  expect(await state()).toEqual({ title: 'After', resolution: 'After', tasks: 9000 });
}, 60_000);

it('does not pretend to have committed when a failure in it was not passed on', async () => {
  const careless = inTransaction(db, async () => {
    await byPrisma('Lost');
    await queryRows(db, { text: 'SELECT 1 / $1::int', values: [0] }).catch(() => undefined);
  });
  await expect(careless).rejects.toThrow('A statement of the transaction failed');
  expect((await state()).title).toBe('After');
});

it('is a part of one that is under way, and does afterwards what is to be done when all is committed', async () => {
  const context = { ...workspace.context, db };
  const done: string[] = [];
  const nested = (fails: boolean) =>
    transaction(context, async (outer) => {
      outer.afterCommit(() => done.push('outer'));
      await transaction(outer, async (inner) => {
        inner.afterCommit(() => done.push('inner'));
        await byPrisma('Nested');
      });
      expect(done).toEqual([]);
      if (fails) throw new Error('Enough.');
    });
  await expect(nested(true)).rejects.toThrow('Enough.');
  expect([(await state()).title, done]).toEqual(['After', []]);
  await nested(false);
  expect([(await state()).title, done]).toEqual(['Nested', ['outer', 'inner']]);
  await byPrisma('After');
});

describe('its edges', () => {
  const requiring = (condition: boolean | null) => ({ text: 'SELECT require_condition($1)', values: [condition] });
  const division = { text: 'SELECT 1 / $1::int', values: [0] };
  const note = (resolution: string) => ({
    text: 'UPDATE tickets SET resolution = $3 WHERE tenant_id = $1 AND id = $2',
    values: [db.$tenantId, ticketId, resolution],
  });

  it.each<[string, () => Promise<unknown>]>([
    ['Prisma', () => byPrisma('Never')],
    ['a statement', () => byStatement('Never')],
    ['nothing', async () => undefined],
  ])('keep the work of %s from being done when the opening says no', async (_, work) => {
    const before = await state();
    const edges = { opening: [requiring(true), requiring(false)], closing: () => [note('Never')] };
    await expect(inTransaction(db, work, edges)).rejects.toBeInstanceOf(ConditionNotMet);
    expect(await state()).toEqual(before);
  });

  it('tell no other failure for a refusal', async () => {
    const failing = inTransaction(db, () => queryRows(db, division), { opening: [requiring(true)] });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    const wrong = { opening: [division] };
    await expect(inTransaction(db, () => byPrisma('Never'), wrong)).rejects.not.toBeInstanceOf(ConditionNotMet);
  });

  it('are committed with the work, or rolled back with it', async () => {
    const before = await state();
    const closing = (result: unknown) => [note(`Closed with ${result}`), requiring(result === 'all' || null)];
    const refused = inTransaction(db, () => byPrisma('x').then(() => 'none'), { closing });
    await expect(refused).rejects.toBeInstanceOf(ConditionNotMet);
    expect(await state()).toEqual(before);
    await inTransaction(db, async () => 'all', { closing });
    expect((await state()).resolution).toBe('Closed with all');
    const careless = inTransaction(db, () => queryRows(db, division).catch(() => 'all'), { closing });
    await expect(careless).rejects.toThrow('current transaction is aborted');
  });
});

it('reports a condition that its own work requires, however Prisma wraps it', async () => {
  const failing = inTransaction(db, () => rawClient(db).$queryRaw`SELECT require_condition(false)::text`);
  await expect(failing).rejects.toBeInstanceOf(ConditionNotMet);
});

it('gives its connection back, whatever happened', async () => {
  for (let i = 0; i < 30; i++) await inTransaction(db, () => Promise.reject(new Error('No.'))).catch(() => undefined);
  const { pool } = api.databases.requests;
  expect(pool.idleCount).toBe(pool.totalCount);
});
