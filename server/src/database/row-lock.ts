import { queryRows, type Statement } from './client/raw-sql.ts';
import type { TenantClient } from './client/tenant-client.ts';

/** The tables whose rows an update locks first. */
type Lockable = 'tickets' | 'assets' | 'projects' | 'tasks' | 'users' | 'webhook_subscriptions' | 'api_keys';

/**
 * Locks one row until the end of the transaction: what is read after it, in a statement of its own, is what will be
 * changed. Rows that refer to it may still be written meanwhile. Resolves to whether the tenant has such a row.
 */
export async function lockRow(db: TenantClient, table: Lockable, id: number): Promise<boolean> {
  return (await queryRows(db, lockOf(db, table, [id]))).length > 0;
}

/**
 * The statement that locks several rows, for where others are sent with it. It takes them in the order of their ids, so that
 * two who want the same don't wait for each other.
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

/** Locks named by what they guard; each is taken per tenant, for the length of the transaction. */
const guards = { ticketParents: 1, webhookCount: 2, ticketSequence: 3, administrators: 4 } as const;

/** Lets one transaction of the tenant at a time past this point, in the order in which they came. */
export async function lockTenant(db: TenantClient, guard: keyof typeof guards): Promise<void> {
  await queryRows(db, guardOf(db, guard));
}

/** The statement of `lockTenant`, for where others are sent with it. */
export function guardOf(db: TenantClient, guard: keyof typeof guards): Statement {
  const text = 'SELECT pg_advisory_xact_lock(hashtextextended($1, $2))';
  return { text, values: [`${guard}:${db.$tenantId}`, guards[guard]] };
}
