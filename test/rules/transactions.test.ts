import { sql, tenant } from '@itsm-api/server/database/client/sql.ts';
import { rows } from '@itsm-api/server/database/client/statements.ts';
import { type TenantClient, tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { ConditionNotMet, withSavepoint } from '@itsm-api/server/database/client/transaction.ts';
import { transaction } from '@itsm-api/server/resources/shared/context.ts';
import { describe, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';

/** Tests that a transaction contains all of its statements: Prisma queries with one or more statements, and raw SQL. */
let db: TenantClient;
let ticketId: number;

it.beforeAll(async () => {
  db = tenantClient(api.databases.requests, workspace.tenantId);
  ticketId = (await workspace.createTicket({ title: 'Before' })).id;
});

const byPrisma = (title: string) => db.ticket.updateMany({ where: { id: ticketId }, data: { title } });
const setResolution = rows<{ id: number; resolution: string }, { id: bigint }>(
  ({ id, resolution }) =>
    sql`UPDATE tickets SET resolution = ${resolution} WHERE tenant_id = ${tenant} AND id = ${id} RETURNING id`,
);
const byStatement = (resolution: string) => db.$sql(setResolution, { id: ticketId, resolution });
const divide = rows<{ by: number }, object>(({ by }) => sql`SELECT ${tenant}::bigint / ${by}::bigint`);
const require = rows<{ condition: boolean | null }, object>(
  ({ condition }) => sql`SELECT require_condition(${condition}) WHERE ${tenant}::bigint IS NOT NULL`,
);
/** Inserts 9,000 rows. Prisma splits the insert into several statements and runs them in a separate transaction. */
const insertInBatches = async () => {
  const row = { projectId: BigInt(projectId), title: 'x' };
  await db.task.createMany({ data: Array.from({ length: 9000 }, () => row) });
};
let projectId = 0;

const readState = async () => {
  const { title, resolution } = await api.prisma.ticket.findFirstOrThrow({ where: { id: ticketId } });
  const tasks = await api.prisma.task.count({ where: { tenantId: workspace.tenantId } });
  return { title, resolution, tasks };
};

it('commits all writes of a transaction, or none if the callback throws', async () => {
  projectId = (await workspace.createProject()).id;
  const before = await readState();
  const failing = db.$transaction(async () => {
    await byPrisma('During');
    await insertInBatches();
    await byStatement('During');
    expect(await readState()).toEqual(before);
    throw new Error('Enough.');
  });
  await expect(failing).rejects.toThrow('Enough.');
  expect(await readState()).toEqual(before);

  await db.$transaction(async () => {
    await byPrisma('After');
    await insertInBatches();
    await byStatement('After');
  });
  expect(await readState()).toEqual({ title: 'After', resolution: 'After', tasks: 9000 });
});

it('rejects a transaction if the callback ignores a failed statement', async () => {
  const careless = db.$transaction(async () => {
    await byPrisma('Lost');
    await db.$sql(divide, { by: 0 }).catch(() => undefined);
  });
  await expect(careless).rejects.toThrow('A statement of the transaction failed');
  expect((await readState()).title).toBe('After');
});

it('runs the afterCommit callbacks of a nested transaction after the outer transaction commits', async () => {
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
  expect([(await readState()).title, done]).toEqual(['After', []]);
  await nested(false);
  expect([(await readState()).title, done]).toEqual(['Nested', ['outer', 'inner']]);
  await byPrisma('After');
});

describe('opening and closing statements', () => {
  const requiring = (condition: boolean | null) => db.$bind(require, { condition });
  const note = (resolution: string) => db.$bind(setResolution, { id: ticketId, resolution });

  it.each<[string, () => Promise<unknown>]>([
    ['Prisma', () => byPrisma('Never')],
    ['a statement', () => byStatement('Never')],
    ['no statement', async () => undefined],
  ])('rolls back the writes by %s when the opening condition of the transaction is false', async (_, work) => {
    const before = await readState();
    const boundaries = { opening: [requiring(true), requiring(false)], closing: () => [note('Never')] };
    await expect(db.$transaction(work, boundaries)).rejects.toBeInstanceOf(ConditionNotMet);
    expect(await readState()).toEqual(before);
  });

  it('does not throw ConditionNotMet for errors other than a false condition', async () => {
    const failing = db.$transaction(() => db.$sql(divide, { by: 0 }), { opening: [requiring(true)] });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    const wrong = { opening: [db.$bind(divide, { by: 0 })] };
    await expect(db.$transaction(() => byPrisma('Never'), wrong)).rejects.not.toBeInstanceOf(ConditionNotMet);
  });

  it('commits or rolls back the closing statements with the rest of the transaction', async () => {
    const before = await readState();
    const closing = (result: unknown) => [note(`Closed with ${result}`), requiring(result === 'all' || null)];
    const refused = db.$transaction(() => byPrisma('x').then(() => 'none'), { closing });
    await expect(refused).rejects.toBeInstanceOf(ConditionNotMet);
    expect(await readState()).toEqual(before);
    await db.$transaction(async () => 'all', { closing });
    expect((await readState()).resolution).toBe('Closed with all');
    const careless = db.$transaction(() => db.$sql(divide, { by: 0 }).catch(() => 'all'), { closing });
    await expect(careless).rejects.toThrow('current transaction is aborted');
  });
});

it('throws ConditionNotMet for a false condition in a statement', async () => {
  const failing = db.$transaction(() => db.$sql(require, { condition: false }));
  await expect(failing).rejects.toBeInstanceOf(ConditionNotMet);
});

describe('withSavepoint', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a false condition', () => db.$sql(require, { condition: false })],
    ['a failed statement', () => db.$sql(divide, { by: 0 })],
    ['an error in the program', () => Promise.reject(new Error('Enough.'))],
    ['no error', async () => undefined],
  ])('undoes only its own writes, also after %s', async (_, end) => {
    const before = await readState();
    await db.$transaction(async () => {
      await byPrisma('Kept');
      const work = async () => {
        await byPrisma('Undone');
        await byStatement('Undone');
        await end();
      };
      await withSavepoint(work, () => false).catch(() => undefined);
    });
    expect(await readState()).toEqual({ ...before, title: 'Kept' });
    await byPrisma('After');
  });

  it('keeps the writes if the result says so, and belongs to a transaction', async () => {
    const write = () => byPrisma('Kept');
    await db.$transaction(() => withSavepoint(write, ({ count }) => count === 1));
    expect((await readState()).title).toBe('Kept');
    await expect(async () => withSavepoint(write, () => true)).rejects.toThrow('outside of a transaction');
  });
});

it('returns the database connection of a failed transaction to the pool', async () => {
  for (let i = 0; i < 30; i++) await db.$transaction(() => Promise.reject(new Error('No.'))).catch(() => undefined);
  const { pool } = api.databases.requests;
  expect(pool.idleCount).toBe(pool.totalCount);
});
