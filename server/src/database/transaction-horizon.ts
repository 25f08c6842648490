import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemClient } from './client/prisma.ts';
import { sql } from './client/sql.ts';
import { allTenants, type None } from './client/statements.ts';

/**
 * A snapshot of transaction ids. PostgreSQL assigns the ids in ascending order, each at the first write of a
 * transaction.
 */
export interface TransactionHorizon {
  /** The id of the oldest running transaction. If no transaction is running, the value of `ended`. */
  oldest: bigint;
  /** One more than the highest id of an ended transaction. */
  ended: bigint;
}

const selectHorizon = allTenants.rows<None, { oldest: string; ended: string }>(
  () => sql`SELECT pg_snapshot_xmin(s)::text AS oldest, pg_snapshot_xmax(s)::text AS ended
    FROM pg_current_snapshot() AS s`,
);

/** Reads the horizon of the whole PostgreSQL server. The horizon includes transactions in other databases. */
export async function readHorizon(system: SystemClient): Promise<TransactionHorizon> {
  const [horizon] = await system.$sql(selectHorizon);
  if (horizon === undefined) throw new Error('The query for the transaction horizon returned no row.');
  return { oldest: BigInt(horizon.oldest), ended: BigInt(horizon.ended) };
}

/** Waits until all transactions that are now running and have written something have ended. */
export async function waitForTransactions(system: SystemClient): Promise<void> {
  const { ended } = await readHorizon(system);
  while ((await readHorizon(system)).oldest < ended) await sleep(100);
}
