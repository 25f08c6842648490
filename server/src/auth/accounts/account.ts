import type { UserRole } from '@itsm-api/contract';
import type { Databases } from '../../database/client/databases.ts';
import { queryRows } from '../../database/client/raw-sql.ts';
import { type TenantClient, tenantClient } from '../../database/client/tenant-client.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';

/**
 * A user with access to the developer area. A person who is a user of several workspaces has a separate account in each
 * workspace.
 */
export interface Account {
  tenantId: TenantId;
  userId: bigint;
  name: string;
  email: string;
  role: UserRole;
  /** The IANA time zone of the user, or null if the user has no time zone. */
  timeZone: string | null;
  /** The name of the workspace. */
  workspace: string;
}

/** The database row of an account. node-postgres returns 64-bit integers as text. */
export interface AccountRow {
  tenant_id: string;
  user_id: string;
  name: string;
  email: string;
  role: UserRole;
  time_zone: string | null;
  workspace: string;
}

/**
 * The database clients that read and write the accounts of all workspaces. The developer area and the HTTP and MCP
 * modules may pass this store to auth/, but must not call its clients (tools/check-imports.ts).
 */
export type AccountStore = Pick<Databases, 'accounts' | 'system'>;

/**
 * Returns a database client for the workspace of an account. The client uses the system role, because the role for
 * requests can't read credentials.
 */
export function workspaceOf(
  { system }: Pick<AccountStore, 'system'>,
  { tenantId }: Pick<Account, 'tenantId'>,
): TenantClient {
  return tenantClient(system, tenantId);
}

/** The SQL columns of an account, from `users u` and `tenants t`. */
export const accountColumns = `u.tenant_id, u.id AS user_id, u.name, u.email, u.role, u.time_zone, t.name AS workspace`;

/**
 * Returns SQL joins that limit a query to active users of active workspaces with access to the developer area.
 * @param table a table with the columns `tenant_id` and `user_id`
 */
export const accountsOf = (table: string) => `
  JOIN users u ON u.tenant_id = ${table}.tenant_id AND u.id = ${table}.user_id AND u.active AND u.role <> 'REQUESTER'
  JOIN tenants t ON t.id = ${table}.tenant_id AND t.active`;

/** The SQL condition for an account in `users u` that has a password or a passkey. */
export const isSecured = `(EXISTS (SELECT FROM passwords p WHERE p.tenant_id = u.tenant_id AND p.user_id = u.id)
  OR EXISTS (SELECT FROM passkeys p WHERE p.tenant_id = u.tenant_id AND p.user_id = u.id))`;

export function toAccount(row: AccountRow): Account {
  return {
    tenantId: toTenantId(row.tenant_id),
    userId: BigInt(row.user_id),
    name: row.name,
    email: row.email,
    role: row.role,
    timeZone: row.time_zone,
    workspace: row.workspace,
  };
}

/** Returns the account of a user, or undefined if the user has no access to the developer area. */
export async function findAccount(
  { accounts }: Pick<AccountStore, 'accounts'>,
  { tenantId, userId }: Pick<Account, 'tenantId' | 'userId'>,
): Promise<Account | undefined> {
  const { rows }: { rows: AccountRow[] } = await accounts.query(
    `SELECT ${accountColumns} FROM (SELECT $1::bigint AS tenant_id, $2::bigint AS user_id) AS requested ${accountsOf('requested')}`,
    [tenantId, userId],
  );
  return rows[0] && toAccount(rows[0]);
}

/**
 * Returns whether the account has access to the developer area. If it has access, locks the account until the end of
 * the transaction. The lock prevents other transactions from removing the access or changing the credentials or
 * sessions.
 */
export async function lockAccount(db: TenantClient, { userId }: Pick<Account, 'userId'>): Promise<boolean> {
  const text = `SELECT 1 AS held FROM (SELECT $1::bigint AS tenant_id, $2::bigint AS user_id) AS requested
    ${accountsOf('requested')} FOR NO KEY UPDATE OF u FOR SHARE OF t`;
  return (await queryRows(db, { text, values: [db.$tenantId, userId] })).length > 0;
}
