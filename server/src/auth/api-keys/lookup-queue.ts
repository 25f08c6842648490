import PQueue from 'p-queue';
import { ApiError } from '../../shared/errors.ts';

/**
 * How long an API key counts as recently valid, in milliseconds, and how many recently valid keys the queue remembers.
 */
const validMs = 3_600_000;
const maxValidKeys = 10_000;

/** The maximum number of queued lookups of API keys that were not recently valid. */
const maxQueued = 200;

/**
 * The maximum time in milliseconds that a lookup waits in the queue. Lookups are short, so a longer wait means that the
 * database doesn't respond. The timeout for a database connection is equally long.
 */
const maxWaitMs = 5000;

interface LookupQueueOptions {
  concurrency: number;
  /** Called when the queue rejects a lookup because the queue is full. */
  onRejected?: (() => void) | undefined;
}

export interface LookupQueue {
  /**
   * Queues the lookup of an API key. Concurrent lookups of the same key share one result.
   * @param key a hash of the API key, or another text that identifies the lookup
   * @param isKnown whether the caller has already validated the key. If true, the lookup has priority, and its result
   * doesn't change which keys count as recently valid.
   * @throws ApiError RATE_LIMIT_EXCEEDED if too many lookups are queued; Error ETIMEDOUT after `maxWaitMs`
   */
  run<Found>(key: string, lookUp: () => Promise<Found>, isKnown?: boolean): Promise<Found>;
  /** Returns whether an API key was valid within the last hour. */
  wasValid(key: string): boolean;
  /** Makes later callers start new lookups, because the results of pending lookups may be outdated. */
  forget(): void;
}

/**
 * Creates the queue for API key lookups. Attackers can invent keys with a correct checksum, and rate limits, which
 * apply per key, don't limit requests with invented keys. Therefore, keys that were valid within the last hour have
 * priority. Other lookups start only when no lookup with priority is queued, and the queue rejects them if it already
 * contains `maxQueued` of them.
 */
export function createLookupQueue({ concurrency, onRejected }: LookupQueueOptions): LookupQueue {
  const queue = new PQueue({ concurrency });
  const validAt = new Map<string, number>();
  const pending = new Map<string, Promise<unknown>>();

  function wasValid(key: string): boolean {
    const at = validAt.get(key);
    return at !== undefined && performance.now() - at < validMs;
  }

  function markValid(key: string): void {
    validAt.delete(key);
    validAt.set(key, performance.now());
    if (validAt.size > maxValidKeys) validAt.delete(validAt.keys().next().value as string);
  }

  async function lookUpQueued<Found>(key: string, lookUp: () => Promise<Found>, isKnown: boolean): Promise<Found> {
    if (isKnown) return enqueue(lookUp, 1);
    const priority = Number(wasValid(key));
    if (priority === 0 && queue.sizeBy({ priority }) >= maxQueued) {
      onRejected?.();
      const message = 'The server is checking too many API keys at the same time. Retry in 1 second.';
      throw new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 1 });
    }
    const found = await enqueue(lookUp, priority);
    if (found === undefined) validAt.delete(key);
    else markValid(key);
    return found;
  }

  /** Queues a lookup. Rejects if the lookup doesn't start within `maxWaitMs`. */
  function enqueue<Found>(lookUp: () => Promise<Found>, priority: number): Promise<Found> {
    const controller = new AbortController();
    const timeOut = () => {
      const message = `The API key lookup did not start within ${maxWaitMs / 1000} seconds.`;
      controller.abort(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
    };
    const timer = setTimeout(timeOut, maxWaitMs);
    const start = () => {
      clearTimeout(timer);
      return lookUp();
    };
    return queue.add(start, { priority, signal: controller.signal });
  }

  return {
    run<Found>(key: string, lookUp: () => Promise<Found>, isKnown = false) {
      const running = pending.get(key) as Promise<Found> | undefined;
      if (running !== undefined) return running;
      const result = lookUpQueued(key, lookUp, isKnown).finally(() => {
        if (pending.get(key) === result) pending.delete(key);
      });
      pending.set(key, result);
      return result;
    },
    wasValid,
    forget: () => pending.clear(),
  };
}
