import type { Pool } from '../database/pool.ts';
import { ApiError } from '../errors.ts';

/*
 * What is answered where the proxy leads to a cell that a workspace has left, or hasn't reached yet (docs/decisions/cells.md).
 */

/** Joins what says of a tenant that it is in another cell, as `m`. Who is inactive is as inactive wherever they are. */
export const movesOf = (table: string) =>
  `tenant_moves m ON m.tenant_id = ${table}.tenant_id AND m.state <> 'LEAVING' AND m.was_active`;

/** What is said by state; a copy that was called off is of a workspace that is somewhere else. */
const messages: Record<string, string> = {
  ARRIVING: 'The workspace is on its way here.',
  ABORTED: 'The workspace is elsewhere.',
  MOVED: 'The workspace has moved, and this is where it was.',
};

/** @param state of the row that `movesOf` joins */
export function inAnotherCell(state: string): ApiError {
  const retryAfterSeconds = 5;
  const message = `${messages[state]} Try again in ${retryAfterSeconds} seconds.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });
}

/** @throws ApiError RATE_LIMIT_EXCEEDED for a tenant that is in another cell */
export async function assertHere(pool: Pool, tenantId: bigint | string): Promise<void> {
  const { rows } = await pool.query(
    `SELECT m.state FROM (SELECT $1::bigint AS tenant_id) AS asked JOIN ${movesOf('asked')}`,
    [tenantId],
  );
  if (rows.length > 0) throw inAnotherCell(rows[0].state);
}
