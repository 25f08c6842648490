import type { UserRole } from '@itsm-api/contract';
import type { Databases } from '../../database/client/databases.ts';
import { type Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { allTenants, rows } from '../../database/client/statements.ts';
import { type TenantClient, tenantClient } from '../../database/client/tenant-client.ts';
import { notInMaintenance } from '../../database/tenant-maintenance.ts';
import { maintenanceError } from '../../shared/errors.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';

/**
 * A user with access to the developer area. A person who uses several workspaces has a separate account in each one.
 */
export interface Account {
  tenantId: TenantId;
  userId: bigint;
  name: string;
  email: string;
  role: UserRole;
  /** The user's IANA time zone, or null if none is set. */
  timeZone: string | null;
  /** The name of the workspace. */
  workspace: string;
}

/** The database row of an account. */
export interface AccountRow {
  tenant_id: bigint;
  user_id: bigint;
  name: string;
  email: string;
  role: UserRole;
  time_zone: string | null;
  workspace: string;
  is_in_maintenance: boolean;
}

/**
 * The database clients that read and write the accounts of all workspaces. The modules for the developer area, HTTP and
 * MCP may pass this store to `auth/`, but must not call its clients (tools/check-imports.ts).
 */
export type AccountStore = Pick<Databases, 'accounts' | 'system'>;

/**
 * Returns a database client for the account's workspace. The client uses the system role, because the role for requests
 * can't read credentials.
 */
export function workspaceOf(
  { system }: Pick<AccountStore, 'system'>,
  { tenantId }: Pick<Account, 'tenantId'>,
): TenantClient {
  return tenantClient(system, tenantId);
}

/** The SQL columns of an account. They require `users u` and `tenants t` in the FROM clause. */
export const accountColumns = sql`u.tenant_id, u.id AS user_id, u.name, u.email, u.role, u.time_zone, t.name AS workspace,
  NOT (${notInMaintenance}) AS is_in_maintenance`;

/**
 * Returns SQL joins that select only users with access to the developer area. The joins exclude requesters, service
 * accounts, inactive users and users of inactive workspaces.
 * @param table a table with the columns `tenant_id` and `user_id`
 */
export const accountsOf = (table: Sql) => sql`
  JOIN users u ON u.tenant_id = ${table}.tenant_id AND u.id = ${table}.user_id AND u.active AND u.role <> 'REQUESTER'
    AND u.kind = 'PERSON'
  JOIN tenants t ON t.id = ${table}.tenant_id AND t.active`;

/** The SQL condition that is true if the user in `users u` has a password or a passkey. */
export const isSecured = sql`(EXISTS (SELECT FROM passwords p WHERE p.tenant_id = u.tenant_id AND p.user_id = u.id)
  OR EXISTS (SELECT FROM passkeys p WHERE p.tenant_id = u.tenant_id AND p.user_id = u.id))`;

/**
 * Returns the account in a database row.
 * @throws ApiError SERVICE_UNAVAILABLE if the workspace is in maintenance
 */
export function toAccount(row: AccountRow): Account {
  if (row.is_in_maintenance) throw maintenanceError();
  return presentAccount(row);
}

/** Returns the account in a database row, even if the workspace is in maintenance. */
export function presentAccount(row: AccountRow): Account {
  return {
    tenantId: toTenantId(row.tenant_id),
    userId: row.user_id,
    name: row.name,
    email: row.email,
    role: row.role,
    timeZone: row.time_zone,
    workspace: row.workspace,
  };
}

/**
 * Returns the account of a user, or undefined if the user has no access to the developer area.
 * @throws ApiError SERVICE_UNAVAILABLE if the workspace is in maintenance
 */
export async function findAccount(
  { accounts }: Pick<AccountStore, 'accounts'>,
  { tenantId, userId }: Pick<Account, 'tenantId' | 'userId'>,
): Promise<Account | undefined> {
  const [row] = await accounts.$sql(selectAccount, { tenantId, userId });
  return row && toAccount(row);
}

/** Builds the FROM clause for one user. */
const requested = (tenantId: Parameter, userId: Parameter) =>
  sql`(SELECT ${tenantId}::bigint AS tenant_id, ${userId}::bigint AS user_id) AS requested ${accountsOf(sql`requested`)}`;

const selectAccount = allTenants.rows<Pick<Account, 'tenantId' | 'userId'>, AccountRow>(
  ({ tenantId, userId }) => sql`SELECT ${accountColumns} FROM ${requested(tenantId, userId)}`,
);

/**
 * Locks an account until the end of the transaction. Returns false, without a lock, if the account has no access to the
 * developer area. The lock prevents other transactions from removing the access and from changing the account's
 * credentials or sessions.
 */
export async function lockAccount(db: TenantClient, { userId }: Pick<Account, 'userId'>): Promise<boolean> {
  return (await db.$sql(lockRequested, { userId })).length > 0;
}

const lockRequested = rows<{ userId: bigint }, object>(
  ({ userId }) => sql`SELECT 1 AS held FROM ${requested(tenant, userId)} FOR NO KEY UPDATE OF u FOR SHARE OF t`,
);
