import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { clearAway, copyAndCompare } from '@itsm-api/server/resources/tenants/move.ts';
import { textSettings } from '@itsm-api/server/resources/tenants/move-copy.ts';
import { sealAddress } from '@itsm-api/server/resources/tenants/move-sides.ts';
import { activate, arrive, keepWritersOut, leave } from '@itsm-api/server/resources/tenants/move-state.ts';
import { readTenantTables } from '@itsm-api/server/resources/tenants/move-tables.ts';
import pg from 'pg';
import type { Ground } from './ground.ts';
import type { Workspace } from './workspaces.ts';

/*
 * Commands that move a workspace, let be or killed, and a move that is cut off where no command could be killed.
 */

/** What is moved from, and what is moved to. */
type Side = Pick<Ground, 'env' | 'postgres' | 'runtime'>;
interface Place {
  postgres: { url: string };
}

const program = join(import.meta.dirname, '../../server/src/cli/index.ts');

/** A command that moves, and what it has said. */
export interface Mover {
  child: ReturnType<typeof spawn>;
  said(): string;
}

export function startMover({ env }: Side, { postgres }: Place, name = 'Moving'): Mover {
  return startMove(env, [name, '--to', postgres.url]);
}

function startMove(env: Side['env'], options: string[]): Mover {
  const child = spawn(process.execPath, [program, 'tenants', 'move', ...options], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return { child, said: () => output };
}

/** Runs the command to its end. */
export async function runMove({ env }: Side, options: string[]): Promise<{ code: number; said: string }> {
  const { child, said } = startMove(env, options);
  const [code] = await once(child, 'close');
  return { code, said: said() };
}

/** What the command says when a workspace is to be moved; it is to fail. */
export async function refusalOf(from: Side, to: Place, name: string): Promise<string> {
  for (;;) {
    const { child, said } = startMover(from, to, name);
    const [code] = await once(child, 'close');
    if (!isTooBusy(said())) return code === 1 ? said() : `exit code ${code}: ${said()}`;
  }
}

/** Whether the machine was too busy to make a connection within five seconds. */
function isTooBusy(said: string): boolean {
  return said.includes('timeout expired');
}

/** Moves without being killed; resolves to how long it took, in seconds. */
export async function moveWhole(from: Side, to: Place, name?: string): Promise<number> {
  const began = performance.now();
  const { child, said } = startMover(from, to, name);
  const [code] = await once(child, 'close');
  if (isTooBusy(said())) return await moveWhole(from, to, name);
  if (code !== 0) throw new Error(`The move failed: ${said()}`);
  return (performance.now() - began) / 1000;
}

/** Resolves to whether it was killed before it ended by itself. */
export async function moveAndKill(from: Side, to: Place, afterMs: number): Promise<boolean> {
  const { child, said } = startMover(from, to);
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  const [code, signal] = await once(child, 'close');
  clearTimeout(timer);
  if (signal === null && code !== 0 && !isTooBusy(said())) throw new Error(`The move failed: ${said()}`);
  return signal !== null;
}

/**
 * Moves by its steps, as far as the switch, and is gone with both connections: before the other side has decided, or behind
 * that and before this one has taken note.
 * @param address where this side will look for the other one
 */
export async function cutAtSwitch(
  { tenantId }: Workspace,
  { from, to, decided, address = to.postgres.url }: { from: Side; to: Place; decided: boolean; address?: string },
): Promise<void> {
  const [source, target] = [from, to].map(({ postgres }) => new pg.Client({ connectionString: postgres.url }));
  if (source === undefined || target === undefined) throw new Error('There are two sides.');
  await Promise.all([source.connect(), target.connect()]);
  try {
    for (const side of [source, target]) await side.query(`SET ROLE itsm_system; ${textSettings}`);
    await keepWritersOut(source, tenantId);
    const tables = await readTenantTables(source);
    await clearAway(target, tables, tenantId);
    const { rows } = await source.query('SELECT t::text AS row FROM tenants t WHERE id = $1', [tenantId]);
    const token = randomUUID();
    await arrive(target, { tenantId, row: rows[0].row, token, wasActive: true });
    await copyAndCompare({ source, target, tenantId }, tables, undefined);
    await target.query('SELECT pass_ids_of($1)', [tenantId]);
    await leave(source, { tenantId, token, wasActive: true, target: sealAddress(from.runtime, tenantId, address) });
    if (decided) await activate(target, tenantId, token);
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}
