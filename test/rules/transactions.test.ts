import { selectRows } from '@itsm-api/server/database/statements.ts';
import { type TenantClient, tenantClient } from '@itsm-api/server/database/tenant-client.ts';
import { inTransaction } from '@itsm-api/server/database/transaction.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
  selectRows(db, {
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
    await selectRows(db, { text: 'SELECT 1 / $1::int', values: [0] }).catch(() => undefined);
  });
  await expect(careless).rejects.toThrow('A statement of the transaction failed');
  expect((await state()).title).toBe('After');
});

it('gives its connection back, whatever happened', async () => {
  for (let i = 0; i < 30; i++) await inTransaction(db, () => Promise.reject(new Error('No.'))).catch(() => undefined);
  const { pool } = api.databases.requests;
  expect(pool.idleCount).toBe(pool.totalCount);
});
