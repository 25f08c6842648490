import type { Pool } from './client/pool.ts';

/** A snapshot of transaction ids. PostgreSQL assigns ascending ids to transactions at their first write. */
export interface TransactionHorizon {
  /** The id of the oldest running transaction, or the value of `ended` if no transaction is running. */
  oldest: bigint;
  /** One more than the id of the newest transaction that has ended. */
  ended: bigint;
}

/** Reads the horizon of the whole PostgreSQL server, including its other databases. */
export async function readHorizon(pool: Pool): Promise<TransactionHorizon> {
  const { rows } = await pool.query(
    'SELECT pg_snapshot_xmin(s)::text AS oldest, pg_snapshot_xmax(s)::text AS ended FROM pg_current_snapshot() AS s',
  );
  const [{ oldest, ended }] = rows;
  return { oldest: BigInt(oldest), ended: BigInt(ended) };
}
