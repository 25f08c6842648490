import type { EventType } from '@itsm-api/contract';
import { Prisma } from './generated/client.ts';
import { noSubscriber } from './subscribers.ts';
import { rawClient, type TenantClient } from './tenant-client.ts';

/** The tables whose rows an update locks first. */
type Lockable = 'assets' | 'tasks';

/**
 * Locks one row until the end of the transaction, so that what is read after it is what will be changed. Rows that
 * refer to it may still be written meanwhile. Resolves to undefined when the tenant has no such row; else to whether
 * anybody subscribes to the event that the change is to emit.
 */
export async function lockRow(
  db: TenantClient,
  table: Lockable,
  { id, event }: { id: number; event: EventType | null },
): Promise<{ heard: boolean } | undefined> {
  const heard = event === null ? Prisma.sql`false` : Prisma.sql`NOT ${noSubscriber(db.$tenantId, event)}`;
  const rows = await rawClient(db).$queryRaw<{ heard: boolean }[]>`
    SELECT ${heard} AS heard FROM ${Prisma.raw(table)} WHERE tenant_id = ${db.$tenantId} AND id = ${id}
    FOR NO KEY UPDATE`;
  return rows[0];
}

/** Locks named by what they guard; each is taken per tenant, for the length of the transaction. */
const guards = { ticketParents: 1, webhookCount: 2 } as const;

/** Lets one transaction of the tenant at a time past this point. */
export async function lockTenant(db: TenantClient, guard: keyof typeof guards): Promise<void> {
  await rawClient(db).$executeRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${`${guard}:${db.$tenantId}`}, ${guards[guard]}))`;
}
