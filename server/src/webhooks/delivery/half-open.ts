import type { PrismaClient } from '../../database/client/prisma.ts';
import type { TenantId } from '../../shared/tenant-id.ts';

/**
 * Makes open circuits half-open, so a worker sends the next attempt immediately. Skips closed circuits, and circuits
 * that are open because a user set `paused: true`. Doesn't change `updatedAt`. Resolves to true if any of the circuits
 * is now half-open.
 */
export async function halfOpen(
  client: Pick<PrismaClient, '$executeRaw'>,
  { tenantId, subscriptionIds }: { tenantId: TenantId; subscriptionIds: bigint[] },
): Promise<boolean> {
  const count = await client.$executeRaw`
    UPDATE webhook_subscriptions SET open_until = least(open_until, now())
    WHERE tenant_id = ${tenantId} AND id = ANY (${subscriptionIds}::bigint[]) AND open_until IS NOT NULL AND NOT held`;
  return count > 0;
}

/**
 * Moves a pending delivery to the front of its subscription's queue. The delivery then becomes the probe of a half-open
 * circuit.
 */
export async function moveToFront(
  client: Pick<PrismaClient, '$executeRaw'>,
  { tenantId, id }: { tenantId: TenantId; id: bigint },
): Promise<void> {
  await client.$executeRaw`
    UPDATE deliveries d SET next_attempt_at = least(now(), (
      SELECT min(next_attempt_at) - interval '1 millisecond' FROM deliveries
      WHERE tenant_id = ${tenantId} AND subscription_id = d.subscription_id AND state = 'PENDING'))
    WHERE tenant_id = ${tenantId} AND id = ${id} AND state = 'PENDING' AND claim IS NULL`;
}
