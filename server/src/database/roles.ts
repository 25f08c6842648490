import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { errorCode, LOCK_NOT_AVAILABLE } from '../shared/error-codes.ts';

/**
 * Connections set these roles with SET ROLE, so row-level security doesn't depend on the role of `DATABASE_URL`
 * (docs/decisions/tenant-isolation.md). `itsm_request` sees the rows of one tenant. `itsm_system` sees the rows of all
 * tenants.
 */
export const requestRole = 'itsm_request';
export const systemRole = 'itsm_system';

/**
 * The error if the role of `DATABASE_URL` may not create or grant the roles. The message contains the SQL that an
 * administrator must run.
 */
export class RolesError extends Error {
  override name = 'RolesError';

  constructor(statements: string[], options?: ErrorOptions) {
    super(
      'The role of DATABASE_URL lacks the permission to create or grant the roles that isolate tenants. ' +
        `Ask a PostgreSQL administrator to run:\n${statements.map((statement) => `${statement};`).join('\n')}`,
      options,
    );
  }
}

/** PostgreSQL's error code for a missing permission. */
const INSUFFICIENT_PRIVILEGE = '42501';
/**
 * PostgreSQL's error codes when another process creates the roles concurrently: duplicate_object, unique_violation,
 * internal_error ("tuple concurrently updated").
 */
const RACES = ['42710', '23505', 'XX000'];
const maxAttempts = 50;

/**
 * Creates the missing roles and grants them to the role of `DATABASE_URL`. All databases of a PostgreSQL server share
 * its roles. Therefore, the function retries if another process creates the roles concurrently. If the roles already
 * exist and are granted, the role of `DATABASE_URL` needs no special permission.
 * @throws RolesError if the role of `DATABASE_URL` lacks a permission
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
 * Returns the statements that create and grant the missing roles. SET ROLE requires that the session user is a
 * superuser or a member of the role. Since PostgreSQL 16, the membership needs the SET option, but not INHERIT.
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

/** The error if row-level security doesn't isolate the tenants in a database. */
export class TenantIsolationError extends Error {
  override name = 'TenantIsolationError';
}

/**
 * Checks that requests can't see rows of other tenants. The check fails if row-level security is off, if a policy
 * allows all rows, or if `itsm_request` can bypass row-level security.
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
      `Tenants are not isolated: without a tenant, the role ${requestRole} can see rows of ${open.join(', ')}. ` +
        'Restore row-level security and the policies of these tables. Make sure that the role is not a superuser and ' +
        "doesn't have BYPASSRLS.",
    );
  } finally {
    await client.query('ROLLBACK');
  }
}

/**
 * Returns true if the current role can see a row of the table. Returns false for a locked table, because the server
 * must not wait for the lock at startup.
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
