import type { Pool } from './client/pool.ts';

/** How far transactions are, by their ids, which are given in the order in which they write first. */
export interface TransactionHorizon {
  /** The oldest that is running; where none is, the same as `ended`. */
  oldest: bigint;
  /** One past the newest that has ended. */
  ended: bigint;
}

/** Asks about all of the server, its other databases included. */
export async function readHorizon(pool: Pool): Promise<TransactionHorizon> {
  const { rows } = await pool.query(
    'SELECT pg_snapshot_xmin(s)::text AS oldest, pg_snapshot_xmax(s)::text AS ended FROM pg_current_snapshot() AS s',
  );
  const [{ oldest, ended }] = rows;
  return { oldest: BigInt(oldest), ended: BigInt(ended) };
}
