import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { clearAway, moveTenant } from '@itsm-api/server/resources/tenants/move.ts';
import { settleMoves, sweepMoved, withdrawCalledOff } from '@itsm-api/server/resources/tenants/move-settle.ts';
import { readTenantTables } from '@itsm-api/server/resources/tenants/move-tables.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secret-cipher.ts';
import { noteSecretKeys } from '@itsm-api/server/webhooks/secret-keys.ts';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Cell, fill } from './cells.ts';
import { ask } from './cells-load.ts';
import { type Ground, openGround } from './ground.ts';
import { cutAtSwitch, runMove, startMover } from './movers.ts';
import { supervise } from './server.ts';
import { addWorkspace, subscribe, type Workspace } from './workspaces.ts';

/*
 * What moves do when a part of them is lost at a moment that no random kill would hit, or comes back as another one. Only the
 * first cell has a process, whose worker settles moves; for the others the tests do what a worker would.
 */
const stops: (() => Promise<unknown>)[] = [];
const key = randomBytes(32).toString('base64');
const tickets = 30;
let first: Cell;
let second: Ground;
let third: Ground;
const holding: pg.Client[] = [];
let workspaces = 0;
let name: string;

beforeAll(async () => {
  const open = (CELL: string) => openGround(stops, {}, { WEBHOOK_SECRET_KEY: key, CELL });
  const [ground, ...others] = await Promise.all([open('1'), open('2'), open('3')]);
  [second, third] = others as [Ground, Ground];
  const server = supervise({ ...ground.env, LOG_LEVEL: 'fatal' });
  stops.push(server.stop);
  await server.ready();
  first = { ...ground, server };
  for (const { runtime } of others) await noteSecretKeys(runtime.databases.system.pool, createSecretCipher([key]));
}, 300_000);
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});
beforeEach(() => {
  name = `Workspace ${++workspaces}`;
});
/** What a test that failed has left. */
afterEach(async () => {
  await second.postgres.start();
  await Promise.all(holding.splice(0).map((client) => client.end().catch(() => undefined)));
});

async function workspaceIn(cell: Ground, called = name): Promise<Workspace> {
  const workspace = await addWorkspace(cell.runtime, called);
  await fill(cell, workspace, tickets);
  return workspace;
}

/** The numbers of those cells in which the workspace can be written, with all that it has. */
async function placesOf(workspace: Workspace): Promise<number[]> {
  const places = await Promise.all([first, second, third].map((cell) => isWritable(cell, workspace)));
  return [1, 2, 3].filter((_, index) => places[index]);
}

/** Writes as a request would. */
async function isWritable({ runtime }: Ground, { tenantId }: Workspace): Promise<boolean> {
  const client = await runtime.databases.requests.pool.connect();
  try {
    await client.query(`BEGIN; SELECT set_config('itsm.tenant_id', '${tenantId}', true)`);
    await client.query('UPDATE users SET version = version');
  } catch (error) {
    expect(error).toMatchObject({ code: 'TM001' });
    return false;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  const found = await runtime.prisma.tenant.findUnique({ where: { id: tenantId } });
  if (!found?.active) return false;
  expect(await runtime.prisma.ticket.count({ where: { tenantId } })).toBe(tickets);
  return true;
}

/** Lets nobody write the table; resolves to what lets them again. */
async function hold({ postgres }: Ground, table: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: postgres.url });
  client.on('error', () => undefined);
  await client.connect();
  holding.push(client);
  await client.query(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`);
  return () => client.end().catch(() => undefined);
}

async function stateIn({ runtime }: Ground, { tenantId }: Workspace): Promise<string | undefined> {
  return (await runtime.prisma.tenantMove.findUnique({ where: { tenantId } }))?.state;
}

const patiently = { timeout: 60_000, interval: 20 };
const soon = { timeout: 15_000, interval: 20 };

/** Begins a move from the first cell to the second, which waits where the second one is to decide. */
async function moveAsFarAsDecision(workspace: Workspace) {
  const letCopy = await hold(second, 'tickets');
  const mover = startMover(first, second, name);
  const closed = once(mover.child, 'close');
  await expect.poll(() => stateIn(second, workspace), patiently).toBe('ARRIVING');
  const letDecide = await hold(second, 'tenant_moves');
  await letCopy();
  await expect.poll(() => stateIn(first, workspace), patiently).toBe('LEAVING');
  return { ...mover, closed, letDecide };
}

/** How the first cell answers what reads and what writes. */
async function answersOf({ key }: Workspace): Promise<[number, number]> {
  const read = await ask(first.apiUrl, key, 'GET', '/tickets');
  const body = { name: 'Probe', assetTag: `probe ${Math.random()}`, type: 'LAPTOP' };
  return [read.status, (await ask(first.apiUrl, key, 'POST', '/assets', body)).status];
}

const moveIn = ({ runtime }: Ground, { tenantId }: Workspace, { postgres }: Ground) =>
  moveTenant(runtime, { id: Number(tenantId), to: postgres.url });

it('only reads where the other cell is lost before it decided, and stays when that is back; others are settled', {
  timeout: 300_000,
}, async () => {
  const workspace = await workspaceIn(first);
  const other = await workspaceIn(first, `${name}, too`);
  const { closed, said } = await moveAsFarAsDecision(workspace);
  await second.postgres.killAll();
  await closed;
  expect(said()).toContain('A connection was lost while the cells were switched.');
  expect(await answersOf(workspace)).toEqual([200, 429]);
  // The lost one comes first.
  await cutAtSwitch(other, { from: first, to: third, decided: true });
  await expect.poll(() => stateIn(first, other), patiently).toBe('MOVED');
  expect(await answersOf(workspace)).toEqual([200, 429]);
  await second.postgres.start();
  await expect.poll(() => placesOf(workspace), patiently).toEqual([1]);
  expect(await placesOf(other)).toEqual([3]);
});

it('only reads where mover and other cell are lost behind the decision, and has moved when that is back', {
  timeout: 300_000,
}, async () => {
  const workspace = await workspaceIn(first);
  const { child, closed, letDecide } = await moveAsFarAsDecision(workspace);
  const letDepart = await hold(first, 'tenant_moves');
  await letDecide();
  await expect.poll(() => isWritable(second, workspace), patiently).toBe(true);
  child.kill('SIGKILL');
  await closed;
  await second.postgres.killAll();
  expect(await answersOf(workspace)).toEqual([200, 429]);
  // The statement that waits is gone with its mover, as PostgreSQL finds out each second, and not when it has waited enough.
  const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'tenant_moves'::regclass";
  await expect.poll(async () => (await first.runtime.databases.system.pool.query(waiting)).rows, soon).toEqual([]);
  await letDepart();
  expect(await answersOf(workspace)).toEqual([200, 429]);
  await second.postgres.start();
  await expect.poll(() => placesOf(workspace), patiently).toEqual([2]);
  await expect.poll(() => stateIn(first, workspace), patiently).toBe('MOVED');
  expect(await answersOf(workspace)).toEqual([429, 429]);
});

it('is on one side where the mover is killed while the other cell decides', { timeout: 300_000 }, async () => {
  const workspace = await workspaceIn(first);
  const { child, closed, letDecide } = await moveAsFarAsDecision(workspace);
  child.kill('SIGKILL');
  await closed;
  await letDecide();
  await expect.poll(() => stateIn(first, workspace), patiently).not.toBe('LEAVING');
  await expect.poll(() => placesOf(workspace), patiently).toHaveLength(1);
});

it('stays where the mover is killed as it would leave', { timeout: 300_000 }, async () => {
  const workspace = await workspaceIn(first);
  const letLeave = await hold(first, 'tenant_moves');
  const { child } = startMover(first, second, name);
  const closed = once(child, 'close');
  const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'tenant_moves'::regclass";
  const { pool } = first.runtime.databases.system;
  await expect.poll(async () => (await pool.query(waiting)).rows.length, patiently).toBe(1);
  child.kill('SIGKILL');
  await closed;
  await expect.poll(async () => (await pool.query(waiting)).rows, patiently).toEqual([]);
  await letLeave();
  await expect.poll(() => placesOf(workspace), patiently).toEqual([1]);
});

const nowhere = 'postgresql://postgres@127.0.0.1:9/itsm';

it('settles a move at --to where the address that it went to is gone', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(second);
  await cutAtSwitch(workspace, { from: second, to: third, decided: true, address: nowhere });
  await expect(settleMoves(second.runtime)).rejects.toThrow("The database can't be reached: connect ECONNREFUSED");
  await expect(moveIn(second, workspace, first)).rejects.toThrow('It is not decided where the tenant is');
  expect(await moveIn(second, workspace, third)).toEqual({ rows: 0 });
  expect(await placesOf(workspace)).toEqual([3]);
  // That is where it is looked for from now on.
  await sweepMoved(second.runtime, { afterSeconds: 0 });
  expect(await second.runtime.prisma.ticket.count({ where: { tenantId: workspace.tenantId } })).toBe(0);
});

it('says of a workspace that has moved where it is not', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(first);
  await moveIn(first, workspace, second);
  expect(await moveIn(first, workspace, second)).toEqual({ rows: 0 });
  await expect(moveIn(first, workspace, third)).rejects.toThrow('did not move from here to the database of --to');
  await moveIn(second, workspace, third);
  await expect(moveIn(first, workspace, second)).rejects.toThrow('has gone on from there');
  expect(await placesOf(workspace)).toEqual([3]);
});

it('takes back what went to a cell that is lost, and takes it out of use there when that comes back', {
  timeout: 120_000,
}, async () => {
  const workspace = await workspaceIn(third);
  await cutAtSwitch(workspace, { from: third, to: second, decided: true });
  await second.postgres.stop();
  try {
    const asked = await runMove(third, [name, '--call-off']);
    expect(asked.said).toContain('Go on only where the other cell is lost for good');
    expect(asked.said).toContain('--yes');
    expect(asked.code).toBe(2);
    expect(await isWritable(third, workspace)).toBe(false);
    const calledOff = await runMove(third, [name, '--call-off', '--yes']);
    expect(calledOff.said).toContain('is here, and can be written again.');
    expect(calledOff.code).toBe(0);
    expect(await isWritable(third, workspace)).toBe(true);
    await withdrawCalledOff(third.runtime);
  } finally {
    await second.postgres.start();
  }
  expect(await placesOf(workspace)).toEqual([2, 3]);
  await withdrawCalledOff(third.runtime);
  expect(await placesOf(workspace)).toEqual([3]);
  await moveIn(third, workspace, second);
  expect(await placesOf(workspace)).toEqual([2]);
});

it('calls nothing off that the other cell can tell of', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(third);
  expect((await runMove(third, [name, '--call-off', '--yes'])).said).toContain('There is nothing to call off');
  await cutAtSwitch(workspace, { from: third, to: second, decided: true });
  expect((await runMove(third, [name, '--call-off', '--yes'])).said).toContain('The other cell answers, and has the');
  expect(await placesOf(workspace)).toEqual([2]);
});

it('decides by the attempt, however the workspace has moved on', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(third);
  await cutAtSwitch(workspace, { from: third, to: second, decided: true });
  await moveIn(second, workspace, first);
  // As when it is about to come back to the second one.
  const client = new pg.Client({ connectionString: second.postgres.url });
  await client.connect();
  await clearAway(client, await readTenantTables(client), workspace.tenantId);
  await client.end();
  await settleMoves(third.runtime);
  expect(await stateIn(third, workspace)).toBe('MOVED');
  expect(await placesOf(workspace)).toEqual([1]);
});

it('decides nothing at a database that knows nothing of the move', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(third);
  await cutAtSwitch(workspace, { from: third, to: second, decided: true, address: first.postgres.url });
  await expect(settleMoves(third.runtime)).rejects.toThrow('That database knows nothing of the move.');
  expect(await stateIn(third, workspace)).toBe('LEAVING');
  expect(await placesOf(workspace)).toEqual([2]);
  expect(await moveIn(third, workspace, second)).toEqual({ rows: 0 });
});

it('deletes nothing while the other cell does not say that it has it', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(third);
  await moveIn(third, workspace, second);
  // As after a restore to a moment before the decision.
  const where = { ofTenant: workspace.tenantId };
  await second.runtime.prisma.tenantMoveOutcome.updateMany({ where, data: { token: randomUUID() } });
  await expect(sweepMoved(third.runtime, { afterSeconds: 0 })).rejects.toThrow(
    `Tenant ${workspace.tenantId}: The other cell does not have the tenant any more`,
  );
  expect(await third.runtime.prisma.ticket.count({ where: { tenantId: workspace.tenantId } })).toBe(tickets);
  const { code, said } = await runMove(third, [name, '--call-off', '--yes']);
  expect(said).toContain('It does not have the tenant any more.');
  expect(code).toBe(0);
  expect(await isWritable(third, workspace)).toBe(true);
});

it('keeps nobody from writing where the other cell is not there', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(third);
  const writer = new pg.Client({ connectionString: third.postgres.url });
  await writer.connect();
  // A mover that wanted the lock would wait for this one.
  await writer.query(`SELECT pg_advisory_lock_shared(move_lock(${workspace.tenantId}))`);
  const { runtime } = third;
  const moving = moveTenant(runtime, { id: Number(workspace.tenantId), to: nowhere });
  await expect(moving).rejects.toThrow("The database can't be reached: connect ECONNREFUSED");
  await writer.end();
});

it('refuses a workspace of which not every row can be copied', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(third);
  const { tenantId } = workspace;
  const { pool } = third.runtime.databases.system;
  const { rows } = await pool.query('SELECT id FROM tickets WHERE tenant_id = $1 AND parent_id IS NULL LIMIT 1', [
    tenantId,
  ]);
  await pool.query('UPDATE tickets SET parent_id = id WHERE tenant_id = $1 AND id = $2', [tenantId, rows[0].id]);
  await expect(moveIn(third, workspace, second)).rejects.toThrow(
    /rows of tickets could be copied: the others stand above themselves by parent_id\. Nothing was moved\./,
  );
  expect(await placesOf(workspace)).toEqual([3]);
});

it('refuses a cell that could not read the secrets of the webhooks', { timeout: 120_000 }, async () => {
  const workspace = await workspaceIn(third);
  await subscribe(workspace, { name: 'all', url: 'http://127.0.0.1:9/all', events: ['ticket.created'] });
  const { pool } = second.runtime.databases.system;
  await pool.query('DELETE FROM webhook_secret_keys');
  await expect(moveIn(third, workspace, second)).rejects.toThrow('Nobody knows which WEBHOOK_SECRET_KEY');
  const another = randomBytes(32).toString('base64');
  await noteSecretKeys(pool, createSecretCipher([another]));
  await expect(moveIn(third, workspace, second)).rejects.toThrow('The other cell has another WEBHOOK_SECRET_KEY');
  expect(await placesOf(workspace)).toEqual([3]);
  await noteSecretKeys(pool, createSecretCipher([another, key]));
  await moveIn(third, workspace, second);
  expect(await placesOf(workspace)).toEqual([2]);
});

it('refuses an id that another tenant has there, be it on its way', { timeout: 120_000 }, async () => {
  const { tenantId } = await workspaceIn(third);
  const { pool } = second.runtime.databases.system;
  const clash = 'INSERT INTO tenants (id, name, name_key, updated_at) VALUES ($1, $2, $2, now())';
  await pool.query(clash, [tenantId, 'another']);
  await pool.query('INSERT INTO users (tenant_id, name, email, role, updated_at) VALUES ($1, $2, $2, $3, now())', [
    tenantId,
    'someone@example.com',
    'AGENT',
  ]);
  const workspace = { tenantId } as Workspace;
  const refusal = `Another tenant has the id ${tenantId} there: the cells must have had a CELL each`;
  await expect(moveIn(third, workspace, second)).rejects.toThrow(refusal);
  await pool.query(
    "INSERT INTO tenant_moves (tenant_id, state, token, was_active) VALUES ($1, 'ARRIVING', gen_random_uuid(), true)",
    [tenantId],
  );
  await expect(moveIn(third, workspace, second)).rejects.toThrow(refusal);
  const { rows } = await pool.query('SELECT email FROM users WHERE tenant_id = $1', [tenantId]);
  expect(rows).toEqual([{ email: 'someone@example.com' }]);
  expect(await isWritable(third, workspace)).toBe(true);
});
