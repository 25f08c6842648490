import type { Wanted } from './claim.ts';
import { refKey, type SubscriptionRef } from './subscription-ref.ts';

/** Requests in flight at once: in all, of one tenant, and to one subscription. */
export interface InFlightLimits {
  total: number;
  tenant: number;
  subscription: number;
  /** To one that has not answered well since it last failed, or ever: many may hang at once. */
  doubtful: number;
}

/** What a worker has in flight, and how much more it may have. */
export class InFlight {
  readonly #limits: InFlightLimits;
  #total = 0;
  readonly #ofTenant = new Map<bigint, number>();
  readonly #ofSubscription = new Map<string, number>();
  /** Those whose last attempt here was a success. */
  readonly #trusted = new Set<string>();

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  get isFull(): boolean {
    return this.#total >= this.#limits.total;
  }

  begin(ref: SubscriptionRef): void {
    this.#count(ref, 1);
  }

  end(ref: SubscriptionRef): void {
    this.#count(ref, -1);
  }

  /** Tells how the last attempt ended: who answers well is trusted with more at once. */
  trust(ref: SubscriptionRef, answersWell: boolean): void {
    if (answersWell) this.#trusted.add(refKey(ref));
    else this.#trusted.delete(refKey(ref));
  }

  /** How many more each of these may have, in their order until the limits are used up. */
  slotsFor(refs: Iterable<SubscriptionRef>): Wanted[] {
    let free = this.#limits.total - this.#total;
    const freeOfTenant = new Map<bigint, number>();
    const wanted: Wanted[] = [];
    for (const ref of refs) {
      if (free === 0) break;
      const { tenantId, subscriptionId } = ref;
      const ofTenant = freeOfTenant.get(tenantId) ?? this.#limits.tenant - (this.#ofTenant.get(tenantId) ?? 0);
      const slots = Math.min(free, ofTenant, this.#freeOf(refKey(ref)));
      if (slots <= 0) continue;
      free -= slots;
      freeOfTenant.set(tenantId, ofTenant - slots);
      wanted.push({ tenantId, subscriptionId, slots });
    }
    return wanted;
  }

  #freeOf(key: string): number {
    const limit = this.#trusted.has(key) ? this.#limits.subscription : this.#limits.doubtful;
    return limit - (this.#ofSubscription.get(key) ?? 0);
  }

  #count(ref: SubscriptionRef, change: 1 | -1): void {
    this.#total += change;
    countIn(this.#ofTenant, ref.tenantId, change);
    countIn(this.#ofSubscription, refKey(ref), change);
  }
}

/** Counts up or down; what is back at nothing is forgotten. */
function countIn<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
