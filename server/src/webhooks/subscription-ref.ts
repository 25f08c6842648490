import type { TenantId } from '../shared/tenant-id.ts';
/** Identifies a subscription across all tenants. */
export interface SubscriptionRef {
  tenantId: TenantId;
  subscriptionId: bigint;
}

/** Returns a key for maps. The key is the same in every process. */
export function refKey({ tenantId, subscriptionId }: SubscriptionRef): string {
  return `${tenantId}:${subscriptionId}`;
}
