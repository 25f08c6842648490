import type pg from 'pg';

/*
 * Where a tenant is, as both sides have it written down (docs/decisions/cells.md). The other side decides, by one
 * statement: from then on the tenant is there, and whoever finds this side undecided asks there.
 */

/** What a side says of a tenant; undefined where it says nothing, as of most. */
export interface MoveState {
  state: 'ARRIVING' | 'ABORTED' | 'LEAVING' | 'MOVED';
  token: string;
  wasActive: boolean;
  target: Buffer | null;
}

/** What became of an attempt. */
type Decision = 'moved' | 'aborted';

export async function readState(client: pg.ClientBase, tenantId: bigint): Promise<MoveState | undefined> {
  const { rows } = await client.query<MoveState>(
    'SELECT state, token, was_active AS "wasActive", target FROM tenant_moves WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0];
}

/** Waits until nobody writes the tenant, and keeps everybody from it for as long as the connection is there. */
export async function keepWritersOut(client: pg.ClientBase, tenantId: bigint): Promise<void> {
  await client.query('SELECT pg_advisory_lock(move_lock($1))', [tenantId]);
}

/** The same, where nobody else does it: resolves to whether that is so. */
export async function tryToKeepWritersOut(client: pg.ClientBase, tenantId: bigint): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock(move_lock($1)) AS taken', [tenantId]);
  return rows[0].taken;
}

export async function letWritersIn(client: pg.ClientBase, tenantId: bigint): Promise<void> {
  await client.query('SELECT pg_advisory_unlock(move_lock($1))', [tenantId]);
}

/**
 * Begins to arrive: a tenant that no key can use, and that this session alone writes.
 * @param row as text
 */
export async function arrive(
  target: pg.ClientBase,
  { tenantId, row, token, wasActive }: { tenantId: bigint; row: string; token: string; wasActive: boolean },
): Promise<void> {
  await target.query("SELECT set_config('itsm.writing', $1, false)", [String(tenantId)]);
  await target.query(
    `WITH moving AS (
       INSERT INTO tenant_moves (tenant_id, state, token, was_active) VALUES ($1, 'ARRIVING', $2, $3))
     INSERT INTO tenants SELECT (jsonb_populate_record(given, '{"active": false}')).* FROM unnest($4::tenants[]) AS given`,
    [tenantId, token, wasActive, [row]],
  );
}

/** From now on this side refuses writes, whoever is there, until it is decided. */
export async function leave(
  source: pg.ClientBase,
  { tenantId, token, wasActive, target }: { tenantId: bigint } & Omit<MoveState, 'state'>,
): Promise<void> {
  await source.query(
    `INSERT INTO tenant_moves (tenant_id, state, token, was_active, target) VALUES ($1, 'LEAVING', $2, $3, $4)`,
    [tenantId, token, wasActive, target],
  );
}

/** Decides that the tenant is here now. Resolves to whether it is: somebody may have called the attempt off. */
export async function activate(target: pg.ClientBase, tenantId: bigint, token: string): Promise<boolean> {
  const { rowCount } = await target.query(
    `WITH arrived AS (
       DELETE FROM tenant_moves WHERE tenant_id = $1 AND token = $2 AND state = 'ARRIVING' RETURNING was_active)
     UPDATE tenants SET active = was_active FROM arrived WHERE id = $1`,
    [tenantId, token],
  );
  return rowCount === 1;
}

/** Decides an attempt whose mover is gone, unless it was decided, and has this side go by it. */
export async function settle(
  source: pg.ClientBase,
  target: pg.ClientBase,
  { tenantId, token }: { tenantId: bigint; token: string },
): Promise<Decision> {
  const { rowCount } = await target.query(
    `UPDATE tenant_moves SET state = 'ABORTED', changed_at = now()
     WHERE tenant_id = $1 AND token = $2 AND state IN ('ARRIVING', 'ABORTED')`,
    [tenantId, token],
  );
  const { rows } = await target.query('SELECT FROM tenants WHERE id = $1', [tenantId]);
  const decision = rowCount === 1 || rows.length === 0 ? 'aborted' : 'moved';
  if (decision === 'moved') await depart(source, tenantId, token);
  else await source.query('DELETE FROM tenant_moves WHERE tenant_id = $1 AND token = $2', [tenantId, token]);
  return decision;
}

/** Has this side answer from now on that the tenant is elsewhere. */
export async function depart(source: pg.ClientBase, tenantId: bigint, token: string): Promise<void> {
  await source.query('BEGIN');
  try {
    // The tenant's own row may be written by nobody any more, but for this once.
    await source.query("SELECT set_config('itsm.writing', $1, true)", [String(tenantId)]);
    await source.query('UPDATE tenants SET active = false WHERE id = $1', [tenantId]);
    await source.query(
      `UPDATE tenant_moves SET state = 'MOVED', target = NULL, changed_at = now()
       WHERE tenant_id = $1 AND token = $2 AND state = 'LEAVING'`,
      [tenantId, token],
    );
    await source.query('COMMIT');
  } catch (error) {
    await source.query('ROLLBACK');
    throw error;
  }
}

/** Calls off whatever of the tenant has arrived here: it is not to be used, and to be deleted. */
export async function callOff(target: pg.ClientBase, tenantId: bigint): Promise<void> {
  await target.query(
    `UPDATE tenant_moves SET state = 'ABORTED', token = gen_random_uuid(), changed_at = now()
     WHERE tenant_id = $1 AND state IN ('ARRIVING', 'ABORTED', 'MOVED')`,
    [tenantId],
  );
}

/** Forgets a tenant of which no rows are left. */
export async function forget(target: pg.ClientBase, tenantId: bigint): Promise<void> {
  await target.query('BEGIN');
  try {
    await target.query('DELETE FROM tenants WHERE id = $1', [tenantId]);
    await target.query("DELETE FROM tenant_moves WHERE tenant_id = $1 AND state = 'ABORTED'", [tenantId]);
    await target.query('COMMIT');
  } catch (error) {
    await target.query('ROLLBACK');
    throw error;
  }
}
