import type { PrismaClient } from '../../database/client/prisma.ts';
import type { TenantId } from '../../shared/tenant-id.ts';

/**
 * Makes the circuits of subscriptions half-open unless they are closed or `paused: true` holds them: the next attempt
 * decides, and a worker makes it at once. `updatedAt` stays. Resolves to whether there was such a circuit.
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

/** Makes a pending delivery the first of its subscription, so that a half-open circuit is tried with it. */
export async function putFirst(
  client: Pick<PrismaClient, '$executeRaw'>,
  { tenantId, id }: { tenantId: TenantId; id: bigint },
): Promise<void> {
  await client.$executeRaw`
    UPDATE deliveries d SET next_attempt_at = least(now(), (
      SELECT min(next_attempt_at) - interval '1 millisecond' FROM deliveries
      WHERE tenant_id = ${tenantId} AND subscription_id = d.subscription_id AND state = 'PENDING'))
    WHERE tenant_id = ${tenantId} AND id = ${id} AND state = 'PENDING' AND claim IS NULL`;
}
