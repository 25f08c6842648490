import type { TenantId } from '../../shared/tenant-id.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';

/**
 * The subscriptions that may have more due than has been taken, in the order in which they are looked at: one of each tenant,
 * then a second one of each, so that nobody comes sooner by having many.
 */
export class RoundRobin {
  readonly #tenants = new Map<TenantId, Map<string, SubscriptionRef>>();

  /** Puts one at the end of its tenant's, unless it is there already; a tenant that has none there is put behind all others. */
  add(ref: SubscriptionRef): void {
    const ofTenant = this.#tenants.get(ref.tenantId) ?? new Map<string, SubscriptionRef>();
    this.#tenants.set(ref.tenantId, ofTenant);
    const key = refKey(ref);
    if (!ofTenant.has(key)) ofTenant.set(key, ref);
  }

  /** After one was looked at: to the end with its tenant, or out of it when nothing more is due. */
  next(ref: SubscriptionRef, hasMore: boolean): void {
    const ofTenant = this.#tenants.get(ref.tenantId);
    this.#tenants.delete(ref.tenantId);
    ofTenant?.delete(refKey(ref));
    if (ofTenant !== undefined && ofTenant.size > 0) this.#tenants.set(ref.tenantId, ofTenant);
    if (hasMore) this.add(ref);
  }

  *[Symbol.iterator](): Generator<SubscriptionRef, void> {
    let turns = [...this.#tenants.values()].map((ofTenant) => ofTenant.values());
    while (turns.length > 0) {
      const round = turns.map((turn) => ({ turn, ref: turn.next().value }));
      turns = round.flatMap(({ turn, ref }) => (ref === undefined ? [] : [turn]));
      for (const { ref } of round) if (ref !== undefined) yield ref;
    }
  }
}
