import type { TenantId } from '../shared/tenant-id.ts';
/** Names one subscription of all tenants'. */
export interface SubscriptionRef {
  tenantId: TenantId;
  subscriptionId: bigint;
}

/** The same as text, to be the key of a map; the same in every process. */
export function refKey({ tenantId, subscriptionId }: SubscriptionRef): string {
  return `${tenantId}:${subscriptionId}`;
}
