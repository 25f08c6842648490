import type { TenantId } from '../shared/tenant-id.ts';
/** The ids that identify a subscription among those of all tenants. */
export interface SubscriptionRef {
  tenantId: TenantId;
  subscriptionId: bigint;
}

/** Returns the map key of a subscription. The key is the same in every process. */
export function refKey({ tenantId, subscriptionId }: SubscriptionRef): string {
  return `${tenantId}:${subscriptionId}`;
}
