import type { TenantId } from '../../shared/tenant-id.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';
import type { Grant, Wanted } from './claim.ts';

/** Requests in flight at once: in all, of one tenant, and to one subscription. */
export interface InFlightLimits {
  total: number;
  tenant: number;
  subscription: number;
  /** To one that has not answered well since it last failed, or ever: many may hang at once. */
  doubtful: number;
}

/** Requests of one tenant to one target host, whatever the port and the subscription. */
export interface HostLimits {
  maxConcurrent: number;
  maxPerSecond: number;
}

/** A request that is in flight. */
type Sent = SubscriptionRef & { url: string };

/** What a worker has in flight, and how much more it may have. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #hostLimits: HostLimits;
  #total = 0;
  readonly #ofTenant = new Map<TenantId, number>();
  readonly #ofSubscription = new Map<string, number>();
  readonly #toHost = new Map<string, number>();
  /** Those that began within the last second. */
  readonly #toHostOfLate = new Map<string, number>();
  /** Those whose last attempt here was a success. */
  readonly #trusted = new Set<string>();

  constructor(limits: InFlightLimits, hostLimits: HostLimits) {
    this.#limits = limits;
    this.#hostLimits = hostLimits;
  }

  get total(): number {
    return this.#total;
  }

  get isFull(): boolean {
    return this.#total >= this.#limits.total;
  }

  begin(sent: Sent): void {
    this.#count(sent, 1);
    const key = hostKey(sent);
    countIn(this.#toHostOfLate, key, 1);
    setTimeout(() => countIn(this.#toHostOfLate, key, -1), 1000).unref();
  }

  end(sent: Sent): void {
    this.#count(sent, -1);
  }

  /** Tells how the last attempt ended: who answers well is trusted with more at once. */
  trust(ref: SubscriptionRef, answersWell: boolean): void {
    if (answersWell) this.#trusted.add(refKey(ref));
    else this.#trusted.delete(refKey(ref));
  }

  /** How many more each of these may have, in their order until the limits are used up. */
  slotsFor(refs: Iterable<SubscriptionRef>): Wanted[] {
    let free = this.#limits.total - this.#total;
    const freeOfTenant = new Map<TenantId, number>();
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

  /** Returns what reduces the slots of one claim to the limits per target host. */
  limitHosts(): Grant {
    const freeOfHost = new Map<string, number>();
    return ({ tenantId, slots }, url) => {
      const key = hostKey({ tenantId, url });
      const free = freeOfHost.get(key) ?? this.#freeOfHost(key);
      const granted = Math.min(slots, free);
      freeOfHost.set(key, free - granted);
      return granted;
    };
  }

  #freeOfHost(key: string): number {
    const { maxConcurrent, maxPerSecond } = this.#hostLimits;
    const concurrent = maxConcurrent - (this.#toHost.get(key) ?? 0);
    return Math.min(concurrent, maxPerSecond - (this.#toHostOfLate.get(key) ?? 0));
  }

  #freeOf(key: string): number {
    const limit = this.#trusted.has(key) ? this.#limits.subscription : this.#limits.doubtful;
    return limit - (this.#ofSubscription.get(key) ?? 0);
  }

  #count(sent: Sent, change: 1 | -1): void {
    this.#total += change;
    countIn(this.#ofTenant, sent.tenantId, change);
    countIn(this.#ofSubscription, refKey(sent), change);
    countIn(this.#toHost, hostKey(sent), change);
  }
}

/** A tenant and the host of a URL. A URL that is none leads nowhere. */
function hostKey({ tenantId, url }: Pick<Sent, 'tenantId' | 'url'>): string {
  return `${tenantId} ${URL.parse(url)?.hostname.replace(/\.$/, '')}`;
}

/** Counts up or down; what is back at nothing is forgotten. */
function countIn<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
