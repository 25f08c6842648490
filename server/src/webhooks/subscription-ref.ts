import type { TenantId } from '../shared/tenant-id.ts';
/** The ids that identify a subscription across all tenants. */
export interface SubscriptionRef {
  tenantId: TenantId;
  subscriptionId: bigint;
}

/** Returns a subscription's map key. The key is the same in every process. */
export function refKey({ tenantId, subscriptionId }: SubscriptionRef): string {
  return `${tenantId}:${subscriptionId}`;
}
