import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Connection } from '../../database/connection.ts';
import { readApplied } from '../../database/history.ts';
import { codeOf } from '../../error-code.ts';
import { readKeyUse, readNotedKeys } from '../../webhooks/secret-keys.ts';
import { compareTable, copyTable, countRows, DifferenceError, deleteRows, type Sides } from './move-copy.ts';
import { endInterrupted } from './move-settle.ts';
import { lock, lockMs, MoveError, type MoveSources, sealAddress, statementMs, withSide } from './move-sides.ts';
import {
  activate,
  arrive,
  callOff,
  depart,
  forget,
  keepAddress,
  leave,
  letWritersIn,
  type MoveState,
  readOutcome,
  readState,
  settle,
} from './move-state.ts';
import { readTenantTables, type TenantTable, type TenantTables } from './move-tables.ts';

interface MoveOptions {
  /** Of the tenant, here. */
  id: number;
  /** The database of the other cell. */
  to: string;
  /** Told how many rows have been copied and compared, of how many. */
  onProgress?(done: number, total: number): void;
}

interface Moved {
  /** Rows that were copied by this call; none where it only ended what another one had begun. */
  rows: number;
}

/**
 * Moves a tenant to another database, and everything of it (docs/decisions/cells.md). From its beginning nobody writes the
 * tenant, here or there, until it is decided on which side it is; reads go on here. What was interrupted is ended first.
 * @throws MoveError
 */
export function moveTenant(sources: MoveSources, options: MoveOptions): Promise<Moved> {
  const { id, to } = options;
  const tenantId = BigInt(id);
  const { url } = sources.databases.options;
  // Before anybody is kept from writing: it may not be there.
  return withSide(sources, { url: to, statementMs }, (target) =>
    withSide(sources, { url, statementMs }, async (source) => {
      await lock(source, tenantId, 'this');
      const gone = await endInterrupted(sources, source, { tenantId, to });
      if (gone === undefined) return await moveBetween({ ...sources, ...options, source, target, tenantId });
      await refuseOtherPlace(target, tenantId, gone);
      if (gone.target !== null)
        await keepAddress(source, { ...gone, tenantId, target: sealAddress(sources, tenantId, to) });
      return { rows: 0 };
    }),
  );
}

/** @throws MoveError where a tenant that has moved is not in that database */
async function refuseOtherPlace(target: Connection, tenantId: bigint, { token }: MoveState): Promise<void> {
  if ((await readOutcome(target, token)) !== 'MOVED') {
    throw new MoveError(
      'The tenant is not here any more, and did not move from here to the database of --to. Run this in the cell where it is.',
    );
  }
  if ((await readState(target, tenantId)) !== undefined) {
    throw new MoveError(
      'The tenant moved there, and has gone on from there, or is about to. Run this in the cell where it is.',
    );
  }
}

interface Moving extends MoveSources, MoveOptions {
  source: Connection;
  target: Connection;
  tenantId: bigint;
}

async function moveBetween(moving: Moving): Promise<Moved> {
  const { source, target, tenantId, onProgress } = moving;
  const tables = await readTenantTables(source);
  const tenant = await readTenant(source, tenantId);
  const { row, wasActive } = tenant;
  await refuseUnfit(moving, tenant);
  await lock(target, tenantId, 'the other');
  await clearAway(target, tables, tenantId);

  const token = randomUUID();
  await arrive(target, { tenantId, row, token, wasActive }).catch(refuseTaken);
  let rows: number;
  try {
    rows = await copyAndCompare({ source, target, tenantId }, tables, onProgress);
    await target.query('SELECT pass_ids_of($1)', [tenantId]);
  } catch (error) {
    // Whatever can't be cleared away now is by the next call.
    for (const side of [source, target]) await side.query('ROLLBACK').catch(() => undefined);
    await clearAway(target, tables, tenantId).catch(() => undefined);
    if (error instanceof DifferenceError) throw new MoveError(`${error.message} Nothing was moved.`);
    throw error;
  }
  await letWritersIn(target, tenantId);
  await switchOver(moving, { token, wasActive });
  return { rows };
}

/** Has the other side decide that the tenant is there, and this one take note of it. */
async function switchOver(moving: Moving, { token, wasActive }: { token: string; wasActive: boolean }): Promise<void> {
  const { source, target, tenantId, to } = moving;
  const attempt = { tenantId, token, target: sealAddress(moving, tenantId, to) };
  // From here on nobody decides but who has an answer: a side that has fallen silent is to be found out before.
  for (const side of [target, source]) await side.limitStatements(lockMs);
  await leave(source, { ...attempt, wasActive });
  let isThere: boolean;
  try {
    isThere = await activate(target, tenantId, token);
    if (isThere) await depart(source, attempt);
    else await settle(source, target, attempt);
  } catch (cause) {
    const message =
      'A connection was lost while the cells were switched. A worker of this cell finds out on which side the';
    throw new MoveError(`${message} tenant is, within seconds of both being there. Then run this again.`, { cause });
  }
  if (!isThere) throw new MoveError('Somebody called this move off meanwhile. Nothing was moved: run it again.');
}

/** Copies all of a tenant in one snapshot of the source, and compares it; resolves to how many rows. @throws DifferenceError */
export async function copyAndCompare(
  sides: Sides,
  { copied, made }: TenantTables,
  onProgress: MoveOptions['onProgress'],
): Promise<number> {
  const { source, target, tenantId } = sides;
  await source.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const counts = await countRows(source, copied, tenantId);
  const count = counts.reduce((sum, each) => sum + each, 0);
  let done = 0;
  const told = (rows: number) => {
    done += rows;
    onProgress?.(done, count * 2);
  };
  for (const [index, table] of copied.entries()) await copyTable(sides, { table, count: counts[index] ?? 0 }, told);
  await target.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  for (const table of copied) await compareTable(sides, table, told);
  for (const table of made.filter(isCompared)) await compareTable(sides, table, () => undefined);
  await target.query('COMMIT');
  await source.query('COMMIT');
  return count;
}

/** Totals are to be as they were. Places in the order of changes are new, and texts are made of what was compared. */
function isCompared({ name }: TenantTable): boolean {
  return name === 'ticket_counts';
}

/** Takes away what an earlier attempt has left on the other side, or what was left when the tenant went from there. */
export async function clearAway(
  target: pg.ClientBase,
  { copied, made }: TenantTables,
  tenantId: bigint,
): Promise<void> {
  const found = await readState(target, tenantId);
  if (found === undefined || found.state === 'LEAVING') return;
  await callOff(target, tenantId);
  await deleteRows(target, [...made, ...copied], tenantId);
  await forget(target, tenantId);
}

interface TenantRow {
  /** As text. */
  row: string;
  nameKey: string;
  /** As text, which stays the same wherever the tenant goes. */
  createdAt: string;
  wasActive: boolean;
}

async function readTenant(source: Connection, tenantId: bigint): Promise<TenantRow> {
  const { rows } = await source.query(
    `SELECT moved::text AS row, name_key AS "nameKey", created_at::text AS "createdAt", active AS "wasActive"
     FROM tenants AS moved WHERE id = $1`,
    [tenantId],
  );
  return rows[0];
}

/** @throws MoveError where the tenant can't be moved to that database, before anything is written there */
async function refuseUnfit(
  { source, target, tenantId, services }: Moving,
  { nameKey, createdAt }: TenantRow,
): Promise<void> {
  const [here, there] = [await readSide(source), await readSide(target)];
  if (here.system === there.system) {
    throw new MoveError(
      '--to is a database of this same server, or of a copy of it: a cell has a PostgreSQL of its own.',
    );
  }
  const lacking = here.migrations.filter((each) => !there.migrations.includes(each));
  const ahead = there.migrations.filter((each) => !here.migrations.includes(each));
  if (lacking.length > 0 || ahead.length > 0) {
    const differences = [
      ...(lacking.length > 0 ? [`the other one lacks ${lacking.join(', ')}`] : []),
      ...(ahead.length > 0 ? [`this one lacks ${ahead.join(', ')}`] : []),
    ];
    throw new MoveError(`The databases have different schemas: ${differences.join('; ')}. Bring both to one release.`);
  }
  await refuseOtherKeys({ source, target, tenantId, services });
  const { rows } = await target.query(
    'SELECT id, created_at = $3::timestamptz AS same FROM tenants WHERE id = $1 OR name_key = $2',
    [tenantId, nameKey, createdAt],
  );
  for (const { id, same } of rows) {
    if (BigInt(id) !== tenantId) throw new MoveError('Another tenant has this name there. Rename one of them.');
    if (!same) {
      throw new MoveError(
        `Another tenant has the id ${tenantId} there: the cells must have had a CELL each from the beginning.`,
      );
    }
    const state = (await readState(target, tenantId))?.state;
    if (state === undefined || state === 'LEAVING') throw new MoveError('The tenant is there already.');
  }
}

/** @throws MoveError where processes there could not read what those here can of the secrets of the tenant's webhooks */
async function refuseOtherKeys({
  source,
  target,
  tenantId,
  services,
}: Pick<Moving, 'source' | 'target' | 'tenantId' | 'services'>): Promise<void> {
  const use = await readKeyUse(source, services.secretCipher, tenantId);
  const needed = use.filter(({ position, secrets }) => position !== null && secrets > 0).map(({ keyId }) => keyId);
  const there = await readNotedKeys(target);
  if (needed.every((keyId) => there.includes(keyId))) return;
  throw new MoveError(
    there.length === 0
      ? 'Nobody knows which WEBHOOK_SECRET_KEY the other cell has: start a process of it, which says so, and run this again.'
      : 'The other cell has another WEBHOOK_SECRET_KEY: it could not read the secrets of the webhooks. Add this one there.',
  );
}

async function readSide(client: Connection): Promise<{ system: string; migrations: string[] }> {
  const { rows } = await client.query('SELECT system_identifier::text AS system FROM pg_control_system()');
  const applied = (await readApplied(client)) ?? [];
  const migrations = applied.filter(({ finished }) => finished).map(({ name }) => name);
  return { system: rows[0].system, migrations };
}

const UNIQUE_VIOLATION = '23505';

function refuseTaken(error: unknown): never {
  if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
  throw new MoveError('A tenant of this name or id came into being there just now.');
}
