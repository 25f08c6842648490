import type { UserRole } from '@itsm-api/contract';
import type { Databases } from '../../database/client/databases.ts';
import { queryRows } from '../../database/client/raw-sql.ts';
import { type TenantClient, tenantClient } from '../../database/client/tenant-client.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';

/** A user who may be in the developer area: one row of one workspace, whoever else has the same e-mail address. */
export interface Account {
  tenantId: TenantId;
  userId: bigint;
  name: string;
  email: string;
  role: UserRole;
  /** IANA's name of where they are; null where they didn't say. */
  timeZone: string | null;
  /** The name of the workspace. */
  workspace: string;
}

/** As pg reads it: 64 bits as text. */
export interface AccountRow {
  tenant_id: string;
  user_id: string;
  name: string;
  email: string;
  role: UserRole;
  time_zone: string | null;
  workspace: string;
}

/** Where the accounts of all workspaces are. Whoever passes it on can't look into it (tools/check-imports.ts). */
export type AccountStore = Pick<Databases, 'accounts' | 'system'>;

/** What an account's workspace has, with the rights of the system: how somebody signs in is no request's to see. */
export function workspaceOf(
  { system }: Pick<AccountStore, 'system'>,
  { tenantId }: Pick<Account, 'tenantId'>,
): TenantClient {
  return tenantClient(system, tenantId);
}

/** The columns of an account, of `users u` and `tenants t`. */
export const accountColumns = `u.tenant_id, u.id AS user_id, u.name, u.email, u.role, u.time_zone, t.name AS workspace`;

/** Joins that leave active users of active workspaces who may be in the area. */
export const accountsOf = (table: string) => `
  JOIN users u ON u.tenant_id = ${table}.tenant_id AND u.id = ${table}.user_id AND u.active AND u.role <> 'REQUESTER'
  JOIN tenants t ON t.id = ${table}.tenant_id AND t.active`;

/** Whether an account of `users u` has something to sign in with, in SQL. */
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

/** The account of a user; undefined where they may not be in the area any more. */
export async function findAccount(
  { accounts }: Pick<AccountStore, 'accounts'>,
  { tenantId, userId }: Pick<Account, 'tenantId' | 'userId'>,
): Promise<Account | undefined> {
  const { rows }: { rows: AccountRow[] } = await accounts.query(
    `SELECT ${accountColumns} FROM (SELECT $1::bigint AS tenant_id, $2::bigint AS user_id) AS wanted ${accountsOf('wanted')}`,
    [tenantId, userId],
  );
  return rows[0] && toAccount(rows[0]);
}

/**
 * Whether the account may be in the area; if so, it may until the end of the transaction, and nobody else changes meanwhile
 * how or where it is signed in: who does holds it, too.
 */
export async function lockAccount(db: TenantClient, { userId }: Pick<Account, 'userId'>): Promise<boolean> {
  const text = `SELECT 1 AS held FROM (SELECT $1::bigint AS tenant_id, $2::bigint AS user_id) AS wanted
    ${accountsOf('wanted')} FOR NO KEY UPDATE OF u FOR SHARE OF t`;
  return (await queryRows(db, { text, values: [db.$tenantId, userId] })).length > 0;
}
