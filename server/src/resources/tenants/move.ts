import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Connection } from '../../database/connection.ts';
import { readApplied } from '../../database/history.ts';
import { withOwnConnection } from '../../database/own-connection.ts';
import { Reachability } from '../../database/reachability.ts';
import { missingRoles, systemRole } from '../../database/roles.ts';
import { codeOf, LOCK_NOT_AVAILABLE } from '../../error-code.ts';
import type { SecretCipher } from '../../webhooks/secret-cipher.ts';
import { checkSecretKeys } from '../../webhooks/secret-keys.ts';
import {
  compareTable,
  copyTable,
  countRows,
  DifferenceError,
  deleteRows,
  type Sides,
  textSettings,
} from './move-copy.ts';
import {
  activate,
  arrive,
  callOff,
  depart,
  forget,
  keepWritersOut,
  leave,
  letWritersIn,
  type MoveState,
  readState,
  settle,
  tryToKeepWritersOut,
} from './move-state.ts';
import { readTenantTables, type TenantTable, type TenantTables } from './move-tables.ts';

/** What moving is done with. */
interface MoveSources {
  databases: { options: Parameters<typeof withOwnConnection>[0] };
  services: { secretCipher: SecretCipher };
}

/** The pool that is asked first: a connection of its own is opened only where there is something to do. */
interface Asked {
  databases: { system: { pool: Pick<pg.Pool, 'query'> } };
}

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

/** A tenant can't be moved, or wasn't. The message says why, and what is so now. */
export class MoveError extends Error {
  override name = 'MoveError';
}

/** How long one statement may take, and how long a transaction of either side may rest while the other one works. */
const statementMs = 600_000;
/** How long writers that are under way are waited for, and whoever else moves the tenant. */
const lockMs = 30_000;
/** So much later no request is still being answered that came before its workspace had moved. */
const sweepAfterSeconds = 60;

/**
 * Moves a tenant to another database, and everything of it (docs/decisions/cells.md). From its beginning nobody writes the
 * tenant, here or there, until it is decided on which side it is; reads go on here. What was interrupted is ended first.
 * @throws MoveError
 */
export function moveTenant(sources: MoveSources, options: MoveOptions): Promise<Moved> {
  const tenantId = BigInt(options.id);
  const { url } = sources.databases.options;
  return withSide(sources, url, async (source) => {
    await lock(source, tenantId, 'this');
    if ((await endInterrupted(sources, source, tenantId)) === 'moved') return { rows: 0 };
    const tables = await readTenantTables(source);
    return withSide(sources, options.to, (target) =>
      moveBetween({ ...sources, ...options, source, target, tenantId }, tables),
    );
  });
}

/**
 * Decides what a mover that is gone has left undecided, so that the tenant can be written again on one side.
 * @throws MoveError where the other side can't be asked
 */
export async function settleMoves(sources: MoveSources & Asked): Promise<void> {
  const { system, options } = sources.databases;
  const { rows } = await system.pool.query("SELECT tenant_id FROM tenant_moves WHERE state = 'LEAVING'");
  if (rows.length === 0) return;
  await withOwnConnection(options, { name: 'moves', statementMs: lockMs }, async (source) => {
    for (const { tenant_id } of rows) {
      const tenantId = BigInt(tenant_id);
      // Whoever moves it is still there.
      if (!(await tryToKeepWritersOut(source, tenantId))) continue;
      await endInterrupted(sources, source, tenantId).finally(() => letWritersIn(source, tenantId));
    }
  });
}

/** What tells whose a key is, so that it can be answered: it stays where the tenant was. */
const kept = ['users', 'api_keys'];

/** Deletes the rows of tenants that have gone, when nobody reads them here any more. */
export async function sweepMoved(
  { databases: { system, options } }: Pick<MoveSources, 'databases'> & Asked,
  { afterSeconds = sweepAfterSeconds } = {},
): Promise<void> {
  const { rows } = await system.pool.query(
    `SELECT tenant_id FROM tenant_moves
     WHERE state = 'MOVED' AND swept_at IS NULL AND changed_at <= now() - $1 * interval '1 second'`,
    [afterSeconds],
  );
  if (rows.length === 0) return;
  await withOwnConnection(options, { name: 'moves', statementMs }, async (source) => {
    for (const { tenant_id } of rows) {
      const tenantId = BigInt(tenant_id);
      // Another worker is at it, or it is coming back.
      if (!(await tryToKeepWritersOut(source, tenantId))) continue;
      if ((await readState(source, tenantId))?.state === 'MOVED') {
        const { copied, made } = await readTenantTables(source);
        await deleteRows(source, [...made, ...copied.filter(({ name }) => !kept.includes(name))], tenantId);
        await source.query("UPDATE tenant_moves SET swept_at = now() WHERE tenant_id = $1 AND state = 'MOVED'", [
          tenantId,
        ]);
      }
      await letWritersIn(source, tenantId);
    }
  });
}

interface Moving extends MoveSources, MoveOptions {
  source: Connection;
  target: Connection;
  tenantId: bigint;
}

async function moveBetween(moving: Moving, tables: TenantTables): Promise<Moved> {
  const { source, target, tenantId, onProgress } = moving;
  const { row, nameKey, wasActive } = await readTenant(source, tenantId);
  await refuseUnfit(moving, nameKey);
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
async function switchOver(
  { source, target, tenantId, to, services }: Moving,
  { token, wasActive }: { token: string; wasActive: boolean },
): Promise<void> {
  const sealed = Buffer.from(services.secretCipher.encrypt(to, addressOf(tenantId)));
  await leave(source, { tenantId, token, wasActive, target: sealed });
  let isThere: boolean;
  try {
    isThere = await activate(target, tenantId, token);
    if (isThere) await depart(source, tenantId, token);
    else await settle(source, target, { tenantId, token });
  } catch (cause) {
    const message =
      'A connection was lost while the cells were switched. A worker of this cell finds out on which side the';
    throw new MoveError(`${message} tenant is, within seconds of both being there. Then run this again.`, { cause });
  }
  if (!isThere) throw new MoveError('Somebody called this move off meanwhile. Nothing was moved: run it again.');
}

/** Ends what another call has begun. Resolves to whether the tenant has moved by it; undefined where nothing was begun. */
async function endInterrupted(
  sources: MoveSources,
  source: Connection,
  tenantId: bigint,
): Promise<'moved' | undefined> {
  const found = await readState(source, tenantId);
  if (found === undefined) return undefined;
  if (found.state === 'MOVED') return 'moved';
  if (found.state !== 'LEAVING') {
    throw new MoveError(
      'The tenant is not here: what is here was left by a move that was interrupted. Run that one again.',
    );
  }
  const to = addressIn(found, sources.services.secretCipher, tenantId);
  const decision = await withSide(sources, to, (target) => settle(source, target, { tenantId, token: found.token }));
  return decision === 'moved' ? 'moved' : undefined;
}

/** A subscription of no one: the address is encrypted as a secret of it. */
function addressOf(tenantId: bigint) {
  return { tenantId, subscriptionId: 0n };
}

function addressIn({ target }: MoveState, cipher: SecretCipher, tenantId: bigint): string {
  if (target === null) throw new Error('A tenant leaves without an address.');
  return cipher.decrypt(target, addressOf(tenantId));
}

/** Copies all of a tenant in one snapshot of the source, and compares it; resolves to how many rows. @throws DifferenceError */
export async function copyAndCompare(
  sides: Sides,
  { copied, made }: TenantTables,
  onProgress: MoveOptions['onProgress'],
): Promise<number> {
  const { source, target, tenantId } = sides;
  await source.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const count = await countRows(source, copied, tenantId);
  let done = 0;
  const told = (rows: number) => {
    done += rows;
    onProgress?.(done, count * 2);
  };
  for (const table of copied) await copyTable(sides, table, told);
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
  wasActive: boolean;
}

async function readTenant(source: Connection, tenantId: bigint): Promise<TenantRow> {
  const { rows } = await source.query(
    'SELECT moved::text AS row, name_key AS "nameKey", active AS "wasActive" FROM tenants AS moved WHERE id = $1',
    [tenantId],
  );
  return rows[0];
}

/** @throws MoveError where the tenant can't be moved to that database, before anything is written there */
async function refuseUnfit({ source, target, tenantId, services }: Moving, nameKey: string): Promise<void> {
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
  await checkSecretKeys(target, services.secretCipher).catch(() => {
    throw new MoveError(
      'The other cell has another WEBHOOK_SECRET_KEY: it could not read the secrets of the webhooks.',
    );
  });
  const { rows } = await target.query('SELECT id, name_key = $2 AS named FROM tenants WHERE id = $1 OR name_key = $2', [
    tenantId,
    nameKey,
  ]);
  for (const { id, named } of rows) {
    if (BigInt(id) !== tenantId) throw new MoveError('Another tenant has this name there. Rename one of them.');
    const state = (await readState(target, tenantId))?.state;
    if (state === undefined || state === 'LEAVING') {
      throw new MoveError(
        named
          ? 'The tenant is there already.'
          : `Another tenant has the id ${tenantId} there: the cells must have had a CELL each from the beginning.`,
      );
    }
  }
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

async function lock(client: Connection, tenantId: bigint, side: string): Promise<void> {
  await keepWritersOut(client, tenantId).catch((error: unknown) => {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    throw new MoveError(
      `Somebody else is moving the tenant, or has been writing in it on ${side} side for ${lockMs / 1000} seconds. Nothing was moved.`,
    );
  });
}

/** Works on a connection to one side that sees all tenants. @throws MoveError where that can't be had */
function withSide<Result>(
  { databases }: MoveSources,
  url: string,
  work: (client: Connection) => Promise<Result>,
): Promise<Result> {
  const timeouts = { statementMs, lockMs };
  // That it can't be reached is no outage of this one.
  const options = { ...databases.options, url, timeouts, reachability: new Reachability() };
  let opened = false;
  const open = async (client: Connection) => {
    opened = true;
    if ((await missingRoles(client)).length > 0) {
      throw new MoveError(
        'The roles of this service are not in that server, or the URL may not take them: run `itsm migrate` there.',
      );
    }
    await client.query(`SET ROLE ${systemRole}; ${textSettings}`);
    return await work(client);
  };
  return withOwnConnection(options, { name: 'moves', statementMs, asRoleOfUrl: true }, open).catch((error: unknown) => {
    if (opened || !(error instanceof Error)) throw error;
    throw new MoveError(`The database can't be reached: ${error.message}`, { cause: error });
  });
}
