import { Prisma } from './generated/client.ts';
import { rawClient, type TenantClient } from './tenant.ts';

/** The tables whose rows an update locks first. */
type Lockable = 'tickets' | 'assets' | 'tasks' | 'webhook_subscriptions';

/**
 * Locks one row until the end of the transaction, so that what is read after it is what will be changed.
 * Resolves to false when the tenant has no such row. Rows that refer to it may still be written meanwhile.
 */
export async function lockRow(db: TenantClient, table: Lockable, id: number): Promise<boolean> {
  const rows = await rawClient(db).$queryRaw<unknown[]>`
    SELECT 1 FROM ${Prisma.raw(table)} WHERE tenant_id = ${db.$tenantId} AND id = ${id} FOR NO KEY UPDATE`;
  return rows.length > 0;
}

/** Locks named by what they guard; each is taken per tenant, for the length of the transaction. */
const guards = { ticketParents: 1, webhookCount: 2 } as const;

/** Lets one transaction of the tenant at a time past this point. */
export async function lockTenant(db: TenantClient, guard: keyof typeof guards): Promise<void> {
  await rawClient(db).$executeRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${`${guard}:${db.$tenantId}`}, ${guards[guard]}))`;
}
