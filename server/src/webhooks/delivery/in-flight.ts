import type { TenantId } from '../../shared/tenant-id.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';
import type { ClaimRequest, Grant } from './claim.ts';

/** The maximum number of concurrent requests of a worker: in total, per tenant, and per subscription. */
export interface InFlightLimits {
  total: number;
  tenant: number;
  subscription: number;
  /**
   * The limit for a subscription whose last attempt failed, or for which no attempt has succeeded yet. Requests to such
   * a subscription often hang.
   */
  doubtful: number;
}

/**
 * The limits for requests of one tenant to one target host. They apply to all ports and subscriptions of the host
 * together.
 */
export interface HostLimits {
  maxConcurrent: number;
  maxPerSecond: number;
}

/** The subscription and URL of a request in flight. */
type SentRequest = SubscriptionRef & { url: string };

/** Counts a worker's requests in flight and computes the free slots. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #hostLimits: HostLimits;
  #total = 0;
  readonly #ofTenant = new Map<TenantId, number>();
  readonly #ofSubscription = new Map<string, number>();
  readonly #toHost = new Map<string, number>();
  /** The number of requests that began within the last second, per tenant and host. */
  readonly #recentToHost = new Map<string, number>();
  /** The subscriptions for which the last attempt of this process succeeded. */
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

  begin(sent: SentRequest): void {
    this.#count(sent, 1);
    const key = hostKey(sent);
    countIn(this.#recentToHost, key, 1);
    setTimeout(() => countIn(this.#recentToHost, key, -1), 1000).unref();
  }

  end(sent: SentRequest): void {
    this.#count(sent, -1);
  }

  /**
   * Records whether the last attempt of a subscription succeeded. After a success, the limit `subscription` applies.
   * After a failure, the limit `doubtful` applies.
   */
  trust(ref: SubscriptionRef, succeeded: boolean): void {
    if (succeeded) this.#trusted.add(refKey(ref));
    else this.#trusted.delete(refKey(ref));
  }

  /**
   * Returns the number of free slots for each subscription, in the order of `refs`. Omits subscriptions without free
   * slots.
   */
  slotsFor(refs: Iterable<SubscriptionRef>): ClaimRequest[] {
    let free = this.#limits.total - this.#total;
    const freeOfTenant = new Map<TenantId, number>();
    const requests: ClaimRequest[] = [];
    for (const ref of refs) {
      if (free === 0) break;
      const { tenantId, subscriptionId } = ref;
      const ofTenant = freeOfTenant.get(tenantId) ?? this.#limits.tenant - (this.#ofTenant.get(tenantId) ?? 0);
      const slots = Math.min(free, ofTenant, this.#getFreeOfSubscription(refKey(ref)));
      if (slots <= 0) continue;
      free -= slots;
      freeOfTenant.set(tenantId, ofTenant - slots);
      requests.push({ tenantId, subscriptionId, slots });
    }
    return requests;
  }

  /**
   * Returns a function that limits the slots of each subscription to the free slots of its target host. Use the
   * function for one claim only.
   */
  limitHosts(): Grant {
    const freeOfHost = new Map<string, number>();
    return ({ tenantId, slots }, url) => {
      const key = hostKey({ tenantId, url });
      const free = freeOfHost.get(key) ?? this.#getFreeOfHost(key);
      const granted = Math.min(slots, free);
      freeOfHost.set(key, free - granted);
      return granted;
    };
  }

  #getFreeOfHost(key: string): number {
    const { maxConcurrent, maxPerSecond } = this.#hostLimits;
    const concurrent = maxConcurrent - (this.#toHost.get(key) ?? 0);
    return Math.min(concurrent, maxPerSecond - (this.#recentToHost.get(key) ?? 0));
  }

  #getFreeOfSubscription(key: string): number {
    const limit = this.#trusted.has(key) ? this.#limits.subscription : this.#limits.doubtful;
    return limit - (this.#ofSubscription.get(key) ?? 0);
  }

  #count(sent: SentRequest, change: 1 | -1): void {
    this.#total += change;
    countIn(this.#ofTenant, sent.tenantId, change);
    countIn(this.#ofSubscription, refKey(sent), change);
    countIn(this.#toHost, hostKey(sent), change);
  }
}

/** Returns the map key for a tenant and a URL's host. For an invalid URL, the host is `undefined`. */
function hostKey({ tenantId, url }: Pick<SentRequest, 'tenantId' | 'url'>): string {
  return `${tenantId} ${URL.parse(url)?.hostname.replace(/\.$/, '')}`;
}

/** Changes the count of a key. If the new count is 0, removes the key, because the map must not grow without limit. */
function countIn<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
