import type { TenantId } from '../../shared/tenant-id.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';

/**
 * The queue of subscriptions that may have due deliveries. Iterates in rounds, one subscription of each tenant per
 * round, so that a tenant gets no advantage from many subscriptions.
 */
export class RoundRobin {
  readonly #tenants = new Map<TenantId, Map<string, SubscriptionRef>>();

  /**
   * Adds a subscription at the end of its tenant's queue if it isn't queued yet. A new tenant goes behind all others.
   */
  add(ref: SubscriptionRef): void {
    const ofTenant = this.#tenants.get(ref.tenantId) ?? new Map<string, SubscriptionRef>();
    this.#tenants.set(ref.tenantId, ofTenant);
    const key = refKey(ref);
    if (!ofTenant.has(key)) ofTenant.set(key, ref);
  }

  /** Moves the tenant to the end after a claim. Keeps the subscription only if it may have more due. */
  next(ref: SubscriptionRef, hasMore: boolean): void {
    const ofTenant = this.#tenants.get(ref.tenantId);
    this.#tenants.delete(ref.tenantId);
    ofTenant?.delete(refKey(ref));
    if (ofTenant !== undefined && ofTenant.size > 0) this.#tenants.set(ref.tenantId, ofTenant);
    if (hasMore) this.add(ref);
  }

  *[Symbol.iterator](): Generator<SubscriptionRef, void> {
    let iterators = [...this.#tenants.values()].map((ofTenant) => ofTenant.values());
    while (iterators.length > 0) {
      const round = iterators.map((iterator) => ({ iterator, ref: iterator.next().value }));
      iterators = round.flatMap(({ iterator, ref }) => (ref === undefined ? [] : [iterator]));
      for (const { ref } of round) if (ref !== undefined) yield ref;
    }
  }
}
