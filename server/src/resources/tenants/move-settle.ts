import type pg from 'pg';
import type { Connection } from '../../database/connection.ts';
import { isConnectionError } from '../../database/reachability.ts';
import { deleteRows } from './move-copy.ts';
import {
  lock,
  lockMs,
  MoveError,
  type MoveSources,
  openAddress,
  sealAddress,
  statementMs,
  withSide,
} from './move-sides.ts';
import {
  letWritersIn,
  type MoveState,
  type Outcome,
  readOutcome,
  readState,
  reclaim,
  settle,
  tryToKeepWritersOut,
  withdraw,
} from './move-state.ts';
import { readTenantTables } from './move-tables.ts';

/*
 * What comes after a mover, whether it came to its end or not: it is decided on which side the tenant is, and what it left
 * here is deleted.
 */

/** The pool that is asked first: a connection of its own is opened only where there is something to do. */
interface Asked {
  databases: { system: { pool: Pick<pg.Pool, 'query'> } };
}

interface Interrupted {
  tenantId: bigint;
  /** Where the other side may be, too: it may have another address now. */
  to?: string;
}

/**
 * Ends what another call has begun. Resolves to what is so of a tenant that has moved; undefined where it is here.
 * @throws MoveError where that can't be decided
 */
export async function endInterrupted(
  sources: MoveSources,
  source: Connection,
  { tenantId, to }: Interrupted,
): Promise<MoveState | undefined> {
  const found = await readState(source, tenantId);
  if (found?.state === 'LEAVING') {
    const outcome = await settleWhereKnown(sources, source, { tenantId, found, to });
    return outcome === 'MOVED' ? await readState(source, tenantId) : undefined;
  }
  if (found !== undefined && found.state !== 'MOVED') {
    throw new MoveError(
      'The tenant is not here: what is here was left by a move that was interrupted. Run that one again.',
    );
  }
  return found;
}

const undecided =
  'It is not decided where the tenant is, which can be read here and not be written: the other cell could not tell. ';

/** Settles an attempt at the address that it went to, or else at another one. @throws MoveError with what the first one said */
async function settleWhereKnown(
  sources: MoveSources,
  source: Connection,
  { tenantId, found, to }: { tenantId: bigint; found: MoveState; to: string | undefined },
) {
  const addresses = [() => addressIn(sources, tenantId, found), ...(to === undefined ? [] : [() => to])];
  const failures: Error[] = [];
  for (const addressOf of addresses) {
    try {
      const url = addressOf();
      const attempt = { tenantId, token: found.token, target: sealAddress(sources, tenantId, url) };
      const outcome = await withSide(sources, { url, statementMs: lockMs }, (target) =>
        settle(source, target, attempt),
      );
      if (outcome !== undefined) return outcome;
      failures.push(new MoveError('That database knows nothing of the move.'));
    } catch (error) {
      failures.push(error as Error);
    }
  }
  const [cause] = failures;
  throw new MoveError(`${undecided}${cause?.message}`, { cause });
}

function addressIn(sources: MoveSources, tenantId: bigint, { target }: Pick<MoveState, 'target'>): string {
  if (target === null) throw new MoveError('Nobody knows the address of the other cell.');
  return openAddress(sources, tenantId, target);
}

/**
 * Decides what a mover that is gone has left undecided, so that the tenant can be written again on one side.
 * @throws MoveError where another side can't be asked
 */
export async function settleMoves(sources: MoveSources & Asked): Promise<void> {
  const { system, options } = sources.databases;
  const { rows } = await system.pool.query("SELECT tenant_id FROM tenant_moves WHERE state = 'LEAVING'");
  if (rows.length === 0) return;
  await withSide(sources, { url: options.url, statementMs: lockMs }, (source) =>
    forEachTenant(source, rows, async (tenantId) => void (await endInterrupted(sources, source, { tenantId }))),
  );
}

/** What tells whose a key is, so that it can be answered: it stays where the tenant was. */
const kept = ['users', 'api_keys'];
/** So much later no request is still being answered that came before its workspace had moved. */
const sweepAfterSeconds = 60;

/**
 * Deletes the rows of tenants that have gone, when nobody reads them here any more.
 * @throws MoveError where another side doesn't say that it has the tenant: then they stay
 */
export async function sweepMoved(
  sources: MoveSources & Asked,
  { afterSeconds = sweepAfterSeconds } = {},
): Promise<void> {
  const { system, options } = sources.databases;
  const { rows } = await system.pool.query(
    `SELECT tenant_id FROM tenant_moves
     WHERE state = 'MOVED' AND swept_at IS NULL AND changed_at <= now() - $1 * interval '1 second'`,
    [afterSeconds],
  );
  if (rows.length === 0) return;
  await withSide(sources, { url: options.url, statementMs }, (source) =>
    forEachTenant(source, rows, (tenantId) => sweep(sources, source, tenantId)),
  );
}

async function sweep(sources: MoveSources, source: Connection, tenantId: bigint): Promise<void> {
  const found = await readState(source, tenantId);
  // It is coming back.
  if (found?.state !== 'MOVED') return;
  const isStill = "tenant_id = $1 AND state = 'MOVED'";
  if (found.target !== null) {
    const url = openAddress(sources, tenantId, found.target);
    const outcome = await withSide(sources, { url, statementMs: lockMs }, (target) => readOutcome(target, found.token));
    if (outcome !== 'MOVED') {
      throw new MoveError('The other cell does not have the tenant any more that moved there: what is here stays.');
    }
    // From here on it can't be taken back.
    await source.query(`UPDATE tenant_moves SET target = NULL WHERE ${isStill}`, [tenantId]);
  }
  const { copied, made } = await readTenantTables(source);
  await deleteRows(source, [...made, ...copied.filter(({ name }) => !kept.includes(name))], tenantId);
  await source.query(`UPDATE tenant_moves SET swept_at = now() WHERE ${isStill}`, [tenantId]);
}

interface CallOffOptions {
  /** Of the tenant, here. */
  id: number;
  /** Asked whether to go on where the other side doesn't tell. @param reason why it doesn't */
  confirm(reason: string): Promise<boolean>;
}

/**
 * Has this side be the tenant's again where the other one is lost for good. Where that can be asked after all, it goes by
 * what it says.
 * @throws MoveError where there is nothing to call off, or nobody confirms it
 */
export function callOffMove(sources: MoveSources, { id, confirm }: CallOffOptions): Promise<void> {
  const tenantId = BigInt(id);
  const { url } = sources.databases.options;
  // It is the lock that is not to be had where somebody else has it, and says so.
  return withSide(sources, { url, statementMs: lockMs + 5000 }, async (source) => {
    await lock(source, tenantId, 'this');
    const found = await readState(source, tenantId);
    if (found === undefined) throw new MoveError('There is nothing to call off: the tenant is here.');
    if (found.target === null) {
      throw new MoveError('The tenant is not here, or no more: what is left of it here is not all that it had.');
    }
    const outcome = await askThere(sources, source, { tenantId, found }).catch((error: Error) => error);
    if (outcome === 'MOVED') {
      throw new MoveError(
        'The other cell answers, and has the tenant: nothing is to be called off. Move it from there.',
      );
    }
    if (outcome === 'ABORTED' && found.state === 'LEAVING') return;
    const reason = outcome instanceof Error ? outcome.message : 'It does not have the tenant any more.';
    if (!(await confirm(reason))) throw new MoveError('Nothing was called off.');
    await reclaim(source, tenantId, found.token);
  });
}

/** What the other side says of a move; one that isn't decided it decides. @throws MoveError where it doesn't say */
function askThere(
  sources: MoveSources,
  source: Connection,
  { tenantId, found }: { tenantId: bigint; found: MoveState },
): Promise<Outcome | undefined> {
  if (found.state === 'LEAVING') return settleWhereKnown(sources, source, { tenantId, found, to: undefined });
  const side = { url: addressIn(sources, tenantId, found), statementMs: lockMs };
  return withSide(sources, side, (target) => readOutcome(target, found.token));
}

/** For so long other sides from which tenants were taken back are waited for. Days. */
const withdrawnWithin = 30;

/**
 * Has other sides that were lost, and are there again, not use the tenants that were taken back from them meanwhile.
 * @throws MoveError where a tenant can't be taken out of use there
 */
export async function withdrawCalledOff(sources: MoveSources & Asked): Promise<void> {
  const { pool } = sources.databases.system;
  const { rows } = await pool.query(
    `SELECT token, of_tenant AS tenant_id, target FROM tenant_move_outcomes
     WHERE outcome = 'CALLED_OFF' AND target IS NOT NULL AND decided_at > now() - $1 * interval '1 day'`,
    [withdrawnWithin],
  );
  await eachAlone(rows, async ({ token, tenant_id, target }) => {
    const tenantId = BigInt(tenant_id);
    const side = { url: openAddress(sources, tenantId, target), statementMs: lockMs };
    const found = await withSide(sources, side, (client) => withdraw(client, tenantId, token)).catch(ignoreAway);
    if (found === 'gone on') throw new MoveError('It has gone on from a cell that counted as lost, and is here, too.');
    if (found !== 'withdrawn') return;
    await pool.query('UPDATE tenant_move_outcomes SET target = NULL WHERE token = $1', [token]);
  });
}

/** One that is there and refuses is told of: it may have another password. */
function ignoreAway(error: unknown): undefined {
  if (!isConnectionError(error)) throw error;
}

/** Works on each of these tenants that nobody else moves. */
function forEachTenant(
  source: Connection,
  rows: { tenant_id: string }[],
  work: (tenantId: bigint) => Promise<void>,
): Promise<void> {
  return eachAlone(rows, async ({ tenant_id }) => {
    const tenantId = BigInt(tenant_id);
    if (!(await tryToKeepWritersOut(source, tenantId))) return;
    await work(tenantId).finally(() => letWritersIn(source, tenantId));
  });
}

/** Works on one after the other; what fails of one keeps no other from it. @throws MoveError of all that failed */
async function eachAlone<Row extends { tenant_id: string }>(
  rows: Row[],
  work: (row: Row) => Promise<void>,
): Promise<void> {
  const failures: string[] = [];
  for (const row of rows) {
    await work(row).catch((error: Error) => void failures.push(`Tenant ${row.tenant_id}: ${error.message}`));
  }
  // Without what caused them: that another cell is away is no outage of this one.
  if (failures.length > 0) throw new MoveError(failures.join(' '));
}
