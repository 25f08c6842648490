import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { errorCode, LOCK_NOT_AVAILABLE } from '../shared/error-codes.ts';

/**
 * The roles that connections set with SET ROLE, so that row-level security doesn't depend on the role of `DATABASE_URL`
 * (docs/decisions/tenant-isolation.md). `itsm_request` sees the rows of one tenant, and `itsm_system` the rows of all.
 */
export const requestRole = 'itsm_request';
export const systemRole = 'itsm_system';

/**
 * Thrown if the role of `DATABASE_URL` can't create the roles, or can't set them with SET ROLE. The message contains
 * the SQL for an administrator.
 */
export class RolesError extends Error {
  override name = 'RolesError';

  constructor(statements: string[], options?: ErrorOptions) {
    super(
      'The role of DATABASE_URL may not create the roles that keep tenants apart. ' +
        `Have an administrator of PostgreSQL run:\n${statements.map((statement) => `${statement};`).join('\n')}`,
      options,
    );
  }
}

/** Error codes of PostgreSQL. */
const INSUFFICIENT_PRIVILEGE = '42501';
/**
 * The error codes if another process creates the roles concurrently: duplicate_object, unique_violation, internal_error
 * ("tuple concurrently updated").
 */
const RACES = ['42710', '23505', 'XX000'];
const maxAttempts = 50;

/**
 * Creates the missing roles and grants them to the role of `DATABASE_URL`. Retries if another process creates them
 * concurrently, because roles belong to all databases of the PostgreSQL server. If no role is missing, the role of
 * `DATABASE_URL` needs no permission.
 * @throws RolesError if the role of `DATABASE_URL` lacks the permission
 */
export async function ensureRoles(client: pg.ClientBase): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const statements = await missingRoles(client);
    if (statements.length === 0) return;
    try {
      for (const statement of statements) await client.query(statement);
    } catch (error) {
      if (errorCode(error) === INSUFFICIENT_PRIVILEGE) throw new RolesError(statements, { cause: error });
      if (!RACES.includes(errorCode(error) ?? '') || attempt === maxAttempts) throw error;
      await sleep(20 * Math.random());
    }
  }
}

/**
 * Returns the statements that create and grant the missing roles. SET ROLE requires that the session user is a member
 * of the role or a superuser. Since PostgreSQL 16, the membership needs the SET option, but not INHERIT.
 */
export async function missingRoles(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{
    role: string;
    exists: boolean;
    member: boolean;
    user: string;
    version: number;
  }>(
    `SELECT required.role, found.oid IS NOT NULL AS exists, session_user AS user, server.version,
       COALESCE(pg_has_role(session_user, found.oid, CASE WHEN server.version >= 160000 THEN 'SET' ELSE 'MEMBER' END),
         (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)) AS member
     FROM unnest($1::text[]) AS required (role) LEFT JOIN pg_roles AS found ON found.rolname = required.role,
       (SELECT current_setting('server_version_num')::int AS version) AS server
     ORDER BY required.role`,
    [[requestRole, systemRole]],
  );
  return rows.flatMap(({ role, exists, member, user, version }) => [
    ...(exists ? [] : [`CREATE ROLE ${role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT`]),
    ...(member
      ? []
      : [`GRANT ${role} TO ${pg.escapeIdentifier(user)}${version >= 160000 ? ' WITH SET TRUE, INHERIT FALSE' : ''}`]),
  ]);
}

/** Thrown if row-level security doesn't isolate tenants. */
export class TenantIsolationError extends Error {
  override name = 'TenantIsolationError';
}

/**
 * Checks that requests can't see rows of other tenants. Fails if row-level security is off, a policy allows all rows,
 * or `itsm_request` may bypass row-level security.
 * @param client a connection without an open transaction; its role doesn't change
 * @throws TenantIsolationError with the names of the tables
 */
export async function assertTenantIsolation(client: pg.ClientBase): Promise<void> {
  await client.query('BEGIN READ ONLY');
  try {
    await client.query(`SET LOCAL ROLE ${requestRole}`);
    await client.query("SELECT set_config('itsm.tenant_id', '', true)");
    const { rows } = await client.query<{ table: string; active: boolean; readable: boolean }>(
      `SELECT c.oid::regclass::text AS table, row_security_active(c.oid) AS active,
         has_any_column_privilege(c.oid, 'SELECT') AS readable
       FROM pg_class c
       WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND (c.relname = 'tenants' OR EXISTS (
         SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped))
       ORDER BY c.relname`,
    );
    const open = rows.filter(({ active }) => !active).map(({ table }) => table);
    for (const { table, readable } of rows) {
      if (open.includes(table) || !readable) continue;
      if (await seesRow(client, table)) open.push(table);
    }
    if (open.length === 0) return;
    throw new TenantIsolationError(
      `Tenants are not kept apart: without a tenant, the role ${requestRole} can see rows of ${open.join(', ')}. ` +
        'Restore row-level security and its policies there, and make sure that the role is neither a superuser nor BYPASSRLS.',
    );
  } finally {
    await client.query('ROLLBACK');
  }
}

/**
 * Returns true if the role can see a row. Skips a locked table, so that the start of the server doesn't wait for the
 * lock.
 */
async function seesRow(client: pg.ClientBase, table: string): Promise<boolean> {
  await client.query('SAVEPOINT visibility_check; SET LOCAL lock_timeout = 500');
  try {
    return (await client.query(`SELECT FROM ${table} LIMIT 1`)).rows.length > 0;
  } catch (error) {
    if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
    await client.query('ROLLBACK TO visibility_check');
    return false;
  }
}
