import type pg from 'pg';

/*
 * Where a tenant is, as both sides have it written down (docs/decisions/cells.md). The other side decides, by one
 * statement: from then on the tenant is there, and whoever finds this side undecided asks there. What it decided it keeps,
 * by the token of the attempt, however often the tenant moves on.
 */

/** What a side says of a tenant; undefined where it says nothing, as of most. */
export interface MoveState {
  state: 'ARRIVING' | 'ABORTED' | 'LEAVING' | 'MOVED';
  token: string;
  wasActive: boolean;
  target: Buffer | null;
}

/** What became of an attempt, as one side has it written down for good. */
export type Outcome = 'MOVED' | 'ABORTED' | 'CALLED_OFF';

/** One attempt, and where it went to, encrypted. */
interface Attempt {
  tenantId: bigint;
  token: string;
  target: Buffer;
}

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
       DELETE FROM tenant_moves WHERE tenant_id = $1 AND token = $2 AND state = 'ARRIVING' RETURNING was_active),
     noted AS (
       INSERT INTO tenant_move_outcomes (token, of_tenant, outcome) SELECT $2, $1, 'MOVED' FROM arrived)
     UPDATE tenants SET active = was_active FROM arrived WHERE id = $1`,
    [tenantId, token],
  );
  return rowCount === 1;
}

/** Has an attempt that isn't decided come to nothing. Resolves to what became of it; undefined where it isn't known here. */
export async function close(target: pg.ClientBase, tenantId: bigint, token: string): Promise<Outcome | undefined> {
  await target.query(
    `WITH ended AS (
       UPDATE tenant_moves SET state = 'ABORTED', changed_at = now()
       WHERE tenant_id = $1 AND token = $2 AND state = 'ARRIVING' RETURNING token)
     INSERT INTO tenant_move_outcomes (token, of_tenant, outcome) SELECT token, $1, 'ABORTED' FROM ended`,
    [tenantId, token],
  );
  return await readOutcome(target, token);
}

export async function readOutcome(client: pg.ClientBase, token: string): Promise<Outcome | undefined> {
  const { rows } = await client.query('SELECT outcome FROM tenant_move_outcomes WHERE token = $1', [token]);
  return rows[0]?.outcome;
}

/**
 * Decides an attempt whose mover is gone, unless it was decided, and has this side go by it. Resolves to what became of it;
 * undefined where the other side doesn't know it: it can't be the one that would have decided, or not as that was.
 */
export async function settle(
  source: pg.ClientBase,
  target: pg.ClientBase,
  attempt: Attempt,
): Promise<Outcome | undefined> {
  const { tenantId, token } = attempt;
  const outcome = await close(target, tenantId, token);
  if (outcome === 'MOVED') await depart(source, attempt);
  if (outcome === 'ABORTED') await stay(source, attempt);
  return outcome;
}

/** Has this side answer from now on that the tenant is elsewhere. */
export async function depart(source: pg.ClientBase, { tenantId, token, target }: Attempt): Promise<void> {
  await writing(source, tenantId, async () => {
    const { rowCount } = await source.query(
      `UPDATE tenant_moves SET state = 'MOVED', target = $3, changed_at = now()
       WHERE tenant_id = $1 AND token = $2 AND state = 'LEAVING'`,
      [tenantId, token, target],
    );
    refuseUnlessOne(rowCount);
    await source.query('UPDATE tenants SET active = false WHERE id = $1', [tenantId]);
  });
}

/** Keeps where the other side is now, for as long as that matters. */
export async function keepAddress(source: pg.ClientBase, { tenantId, token, target }: Attempt): Promise<void> {
  await source.query(
    "UPDATE tenant_moves SET target = $3 WHERE tenant_id = $1 AND token = $2 AND state = 'MOVED' AND target IS NOT NULL",
    [tenantId, token, target],
  );
}

/** Has this side write the tenant again that didn't go. */
async function stay(source: pg.ClientBase, { tenantId, token }: Attempt): Promise<void> {
  const { rowCount } = await source.query(
    "DELETE FROM tenant_moves WHERE tenant_id = $1 AND token = $2 AND state = 'LEAVING'",
    [tenantId, token],
  );
  refuseUnlessOne(rowCount);
}

/** Has this side be the tenant's again, as it was, whatever the other one says. That is kept, to tell the other one. */
export async function reclaim(source: pg.ClientBase, tenantId: bigint, token: string): Promise<void> {
  await writing(source, tenantId, async () => {
    const { rowCount } = await source.query(
      `WITH gone AS (
         DELETE FROM tenant_moves WHERE tenant_id = $1 AND token = $2 AND target IS NOT NULL
         RETURNING token, was_active, target),
       noted AS (
         INSERT INTO tenant_move_outcomes (token, of_tenant, outcome, target)
         SELECT token, $1, 'CALLED_OFF', target FROM gone)
       UPDATE tenants SET active = was_active FROM gone WHERE id = $1`,
      [tenantId, token],
    );
    refuseUnlessOne(rowCount);
  });
}

/**
 * Takes a tenant out of use on the side where it was lost, and from which it was taken back meanwhile. It is not where the
 * attempt came to nothing or what came by it is gone again; it can't be where the tenant has gone on from there.
 */
export async function withdraw(
  target: pg.ClientBase,
  tenantId: bigint,
  token: string,
): Promise<'withdrawn' | 'unknown' | 'gone on'> {
  const outcome = await close(target, tenantId, token);
  if (outcome !== 'MOVED') return outcome === 'ABORTED' ? 'withdrawn' : 'unknown';
  return await writing(target, tenantId, async () => {
    const { rows } = await target.query(
      `SELECT FROM tenant_move_outcomes AS by_this JOIN tenant_move_outcomes AS later USING (of_tenant)
       WHERE by_this.token = $1 AND later.outcome = 'MOVED' AND later.decided_at > by_this.decided_at`,
      [token],
    );
    if (rows.length > 0) return 'withdrawn';
    const { rowCount } = await target.query(
      `INSERT INTO tenant_moves (tenant_id, state, token, was_active)
       SELECT id, 'ABORTED', $2, active FROM tenants WHERE id = $1 ON CONFLICT DO NOTHING`,
      [tenantId, token],
    );
    if (rowCount !== 1) return 'gone on';
    await target.query('UPDATE tenants SET active = false WHERE id = $1', [tenantId]);
    await target.query("UPDATE tenant_move_outcomes SET outcome = 'ABORTED' WHERE token = $1", [token]);
    return 'withdrawn';
  });
}

/** A transaction that may write the tenant's own row, which nobody else may while it is on its way. */
async function writing<Result>(client: pg.ClientBase, tenantId: bigint, work: () => Promise<Result>): Promise<Result> {
  await client.query('BEGIN');
  try {
    await client.query("SELECT set_config('itsm.writing', $1, true)", [String(tenantId)]);
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

function refuseUnlessOne(rowCount: number | null): void {
  if (rowCount !== 1) throw new Error('Somebody else has ended this move meanwhile.');
}

/** Calls off whatever of the tenant has arrived here: it is not to be used, and to be deleted. */
export async function callOff(target: pg.ClientBase, tenantId: bigint): Promise<void> {
  await target.query(
    `WITH found AS (
       SELECT token, state FROM tenant_moves
       WHERE tenant_id = $1 AND state IN ('ARRIVING', 'ABORTED', 'MOVED') FOR UPDATE),
     noted AS (
       INSERT INTO tenant_move_outcomes (token, of_tenant, outcome)
       SELECT token, $1, 'ABORTED' FROM found WHERE state = 'ARRIVING')
     UPDATE tenant_moves SET state = 'ABORTED', target = NULL, changed_at = now()
     FROM found WHERE tenant_id = $1 AND tenant_moves.token = found.token`,
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
