import type { TenantId } from '../../shared/tenant-id.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';

/**
 * A queue of subscriptions that may have due deliveries. In each round, the iterator returns one subscription per
 * tenant. A tenant with many subscriptions therefore gets no advantage.
 */
export class RoundRobin {
  readonly #tenants = new Map<TenantId, Map<string, SubscriptionRef>>();

  /**
   * Adds a subscription to the end of its tenant's queue, unless the queue already contains it. A new tenant comes
   * after all other tenants.
   */
  add(ref: SubscriptionRef): void {
    const ofTenant = this.#tenants.get(ref.tenantId) ?? new Map<string, SubscriptionRef>();
    this.#tenants.set(ref.tenantId, ofTenant);
    const key = refKey(ref);
    if (!ofTenant.has(key)) ofTenant.set(key, ref);
  }

  /**
   * Moves a subscription's tenant to the end of the queue. If the subscription has no more due deliveries, also removes
   * the subscription. Call this method after a claim.
   * @param hasMore whether the subscription may have more due deliveries
   */
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
