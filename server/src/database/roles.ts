import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { errorCode, LOCK_NOT_AVAILABLE } from '../shared/pg-errors.ts';

/**
 * The roles that connections take by SET ROLE, so that row-level security holds whatever role the URL names
 * (docs/decisions/tenant-isolation.md): `itsm_request` sees the rows of one tenant, `itsm_system` all.
 */
export const requestRole = 'itsm_request';
export const systemRole = 'itsm_system';

/** The role of the URL can neither make the roles nor take them. The message holds the SQL that an administrator runs. */
export class RolesError extends Error {
  override name = 'RolesError';

  constructor(statements: string[], options?: ErrorOptions) {
    super(
      'The role of DATABASE_URL may not make the roles that keep tenants apart. ' +
        `Have an administrator of PostgreSQL run:\n${statements.map((statement) => `${statement};`).join('\n')}`,
      options,
    );
  }
}

/** Codes of PostgreSQL. */
const INSUFFICIENT_PRIVILEGE = '42501';
/** Another process was quicker: duplicate_object, unique_violation, and internal_error ("tuple concurrently updated"). */
const RACES = ['42710', '23505', 'XX000'];
const patience = 50;

/**
 * Makes the roles that are missing and grants them to the role of the URL. They belong to all databases of the cluster,
 * so processes on others may be at it too: whoever is late looks again. Does nothing where there is nothing to do,
 * and then needs no rights.
 * @throws RolesError when the role of the URL has not the rights to do it
 */
export async function ensureRoles(client: pg.ClientBase): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const statements = await missingRoles(client);
    if (statements.length === 0) return;
    try {
      for (const statement of statements) await client.query(statement);
    } catch (error) {
      if (errorCode(error) === INSUFFICIENT_PRIVILEGE) throw new RolesError(statements, { cause: error });
      if (!RACES.includes(errorCode(error) ?? '') || attempt === patience) throw error;
      await sleep(20 * Math.random());
    }
  }
}

/**
 * The statements that the roles still need. SET ROLE asks what the role may that logged in, a superuser anything. Since
 * PostgreSQL 16 a member may be kept from it, and one that need not inherit the role's rights is enough.
 */
export async function missingRoles(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{
    role: string;
    exists: boolean;
    member: boolean;
    user: string;
    version: number;
  }>(
    `SELECT wanted.role, found.oid IS NOT NULL AS exists, session_user AS user, server.version,
       COALESCE(pg_has_role(session_user, found.oid, CASE WHEN server.version >= 160000 THEN 'SET' ELSE 'MEMBER' END),
         (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)) AS member
     FROM unnest($1::text[]) AS wanted (role) LEFT JOIN pg_roles AS found ON found.rolname = wanted.role,
       (SELECT current_setting('server_version_num')::int AS version) AS server
     ORDER BY wanted.role`,
    [[requestRole, systemRole]],
  );
  return rows.flatMap(({ role, exists, member, user, version }) => [
    ...(exists ? [] : [`CREATE ROLE ${role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT`]),
    ...(member
      ? []
      : [`GRANT ${role} TO ${pg.escapeIdentifier(user)}${version >= 160000 ? ' WITH SET TRUE, INHERIT FALSE' : ''}`]),
  ]);
}

/** Connections don't take the roles that keep tenants apart, or these don't. */
export class TenantIsolationError extends Error {
  override name = 'WallError';
}

/**
 * Refuses a database in which a request could see another tenant's rows: where row-level security is off, where a policy
 * lets everything through, or where `itsm_request` was given a right to pass by it.
 * @param client outside of a transaction; it keeps the role that it has
 * @throws WallError naming the tables
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
        'Restore row-level security and its policies there, and see that the role is neither a superuser nor BYPASSRLS.',
    );
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Whether a table shows a row. One that is locked shows none just now, and start doesn't wait for it. */
async function seesRow(client: pg.ClientBase, table: string): Promise<boolean> {
  await client.query('SAVEPOINT looking; SET LOCAL lock_timeout = 500');
  try {
    return (await client.query(`SELECT FROM ${table} LIMIT 1`)).rows.length > 0;
  } catch (error) {
    if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
    await client.query('ROLLBACK TO looking');
    return false;
  }
}
