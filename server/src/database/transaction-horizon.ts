import type { Pool } from './client/pool.ts';

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

/** Reads the horizon of the whole PostgreSQL server. The horizon includes transactions in other databases. */
export async function readHorizon(pool: Pool): Promise<TransactionHorizon> {
  const { rows } = await pool.query(
    'SELECT pg_snapshot_xmin(s)::text AS oldest, pg_snapshot_xmax(s)::text AS ended FROM pg_current_snapshot() AS s',
  );
  const [{ oldest, ended }] = rows;
  return { oldest: BigInt(oldest), ended: BigInt(ended) };
}
