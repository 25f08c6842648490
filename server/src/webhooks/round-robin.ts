import { refKey, type SubscriptionRef } from './subscription-ref.ts';

/** The subscriptions that may have more due than has been taken, in the order in which they are looked at. */
export class RoundRobin {
  readonly #waiting = new Map<string, SubscriptionRef>();

  /** Puts one at the end, unless it is there already. */
  add(ref: SubscriptionRef): void {
    const key = refKey(ref);
    if (!this.#waiting.has(key)) this.#waiting.set(key, ref);
  }

  /** After one was looked at: to the end, or out of it when nothing more is due. */
  next(ref: SubscriptionRef, hasMore: boolean): void {
    this.#waiting.delete(refKey(ref));
    if (hasMore) this.add(ref);
  }

  [Symbol.iterator](): Iterator<SubscriptionRef> {
    return this.#waiting.values();
  }
}
