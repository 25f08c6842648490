import type pg from 'pg';
import type { Workspace } from './workspace.ts';

type Moving = Pick<Workspace, 'tenantId'>;

/** Moves nothing, and keeps writers out as a mover does. @param client of its own */
export async function keepingWritersOut<Result>(
  client: pg.Client,
  { tenantId }: Moving,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query('SELECT pg_advisory_lock(move_lock($1))', [tenantId]);
  try {
    return await work();
  } finally {
    await client.query('SELECT pg_advisory_unlock(move_lock($1))', [tenantId]);
  }
}

/** Has the database say where the workspace is, as a move of an active one does. */
export async function movedTo(
  client: pg.Client,
  { tenantId }: Moving,
  state: 'ARRIVING' | 'ABORTED' | 'LEAVING' | 'MOVED',
): Promise<void> {
  await client.query(
    `WITH moved AS (
       INSERT INTO tenant_moves (tenant_id, state, token, was_active) VALUES ($1, $2, gen_random_uuid(), true))
     UPDATE tenants SET active = $2 = 'LEAVING' WHERE id = $1`,
    [tenantId, state],
  );
}

/** Has it be here again. */
export async function movedBack(client: pg.Client, { tenantId }: Moving): Promise<void> {
  await client.query(
    `WITH moved AS (DELETE FROM tenant_moves WHERE tenant_id = $1) UPDATE tenants SET active = true WHERE id = $1`,
    [tenantId],
  );
}
