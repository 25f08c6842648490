import { queryRows, type Statement } from './client/raw-sql.ts';
import type { TenantClient } from './client/tenant-client.ts';

/** The tables that support row locks before an update. */
type Lockable =
  | 'tickets'
  | 'assets'
  | 'projects'
  | 'tasks'
  | 'articles'
  | 'users'
  | 'webhook_subscriptions'
  | 'api_keys';

/**
 * Locks a row until the end of the transaction. Later statements then read the latest version of the row. Other
 * transactions can still write rows that refer to the locked row.
 * @returns true if the row exists and belongs to the tenant
 */
export async function lockRow(db: TenantClient, table: Lockable, id: number): Promise<boolean> {
  return (await queryRows(db, lockOf(db, table, [id]))).length > 0;
}

/**
 * Returns the statement that locks one or more rows, for a pipeline. The statement locks rows in the order of their ids
 * to prevent deadlocks between concurrent transactions.
 */
export function lockOf(db: TenantClient, table: Lockable, ids: readonly number[]): Statement {
  const [id] = ids;
  if (ids.length === 1) {
    const text = `SELECT 1 AS locked FROM ${table} WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`;
    return { text, values: [db.$tenantId, id] };
  }
  const text = `SELECT 1 AS locked FROM ${table} WHERE tenant_id = $1 AND id = ANY ($2::bigint[])
    ORDER BY id FOR NO KEY UPDATE`;
  return { text, values: [db.$tenantId, ids] };
}

/**
 * The number of each advisory lock. The name of a lock is the data that it protects. A transaction holds the lock of
 * its tenant until the transaction ends.
 */
const advisoryLocks = {
  ticketParents: 1,
  webhookCount: 2,
  ticketSequence: 3,
  administrators: 4,
  ticketExternalIds: 5,
  commentExternalIds: 6,
  assetExternalIds: 7,
  articles: 8,
  keyPolicy: 9,
} as const;

/** Acquires an advisory lock for the tenant. Transactions acquire the lock one after another, in order of arrival. */
export async function lockTenant(db: TenantClient, lock: keyof typeof advisoryLocks): Promise<void> {
  await queryRows(db, tenantLockStatement(db, lock));
}

/** Returns the statement that `lockTenant` runs, for a pipeline. */
export function tenantLockStatement(db: TenantClient, lock: keyof typeof advisoryLocks): Statement {
  const text = 'SELECT pg_advisory_xact_lock(hashtextextended($1, $2))';
  return { text, values: [`${lock}:${db.$tenantId}`, advisoryLocks[lock]] };
}
