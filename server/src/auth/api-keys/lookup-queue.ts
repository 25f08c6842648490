import PQueue from 'p-queue';
import { ApiError } from '../../shared/errors.ts';

/** Keys that were valid are remembered as such for an hour, so many at most. */
const rememberedMs = 3_600_000;
const remembered = 10_000;

/** How many look-ups of other keys may wait. */
const longestQueue = 200;

/** How long one may wait, as long as for a connection: they are short, and wait where the database says nothing. Milliseconds. */
const longestWaitMs = 5000;

interface LookupQueueOptions {
  atOnce: number;
  /** Told of each look-up that is turned away. */
  onTurnedAway?: (() => void) | undefined;
}

export interface LookupQueue {
  /**
   * Looks up a key in its turn; several who ask for the same key at once get one answer.
   * @param key its hash
   * @param isKnown whether it is known to be valid by somebody else; then nothing of it is remembered
   * @throws ApiError RATE_LIMIT_EXCEEDED when too many others wait; Error ETIMEDOUT when it would wait for too long
   */
  run<Found>(key: string, lookUp: () => Promise<Found>, isKnown?: boolean): Promise<Found>;
  /** Returns whether the key was valid within the hour. */
  wasValid(key: string): boolean;
  /** Has who asks from now on get none of the answers that are under way. */
  forget(): void;
}

/**
 * Keys that were valid within the hour go first. Anybody can make up keys with a right checksum and send them without
 * limit, since a limit belongs to a key: they wait behind everybody else, and are turned away when they are too many.
 */
export function createLookupQueue({ atOnce, onTurnedAway }: LookupQueueOptions): LookupQueue {
  const queue = new PQueue({ concurrency: atOnce });
  const validAt = new Map<string, number>();
  const underWay = new Map<string, Promise<unknown>>();

  function wasValid(key: string): boolean {
    const at = validAt.get(key);
    return at !== undefined && performance.now() - at < rememberedMs;
  }

  function remember(key: string): void {
    validAt.delete(key);
    validAt.set(key, performance.now());
    if (validAt.size > remembered) validAt.delete(validAt.keys().next().value as string);
  }

  async function take<Found>(key: string, lookUp: () => Promise<Found>, isKnown: boolean): Promise<Found> {
    if (isKnown) return inTurn(lookUp, 1);
    const priority = Number(wasValid(key));
    if (priority === 0 && queue.sizeBy({ priority }) >= longestQueue) {
      onTurnedAway?.();
      const message = 'Too many concurrent requests with API keys that were not used recently. Retry in 1 second.';
      throw new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 1 });
    }
    const found = await inTurn(lookUp, priority);
    if (found === undefined) validAt.delete(key);
    else remember(key);
    return found;
  }

  /** Looks up when it is its turn, unless that comes too late. */
  function inTurn<Found>(lookUp: () => Promise<Found>, priority: number): Promise<Found> {
    const waiting = new AbortController();
    const late = () => {
      const message = `No key could be looked up for ${longestWaitMs / 1000} seconds.`;
      waiting.abort(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
    };
    const timer = setTimeout(late, longestWaitMs);
    const start = () => {
      clearTimeout(timer);
      return lookUp();
    };
    return queue.add(start, { priority, signal: waiting.signal });
  }

  return {
    run<Found>(key: string, lookUp: () => Promise<Found>, isKnown = false) {
      const same = underWay.get(key) as Promise<Found> | undefined;
      if (same !== undefined) return same;
      const taken = take(key, lookUp, isKnown).finally(() => {
        if (underWay.get(key) === taken) underWay.delete(key);
      });
      underWay.set(key, taken);
      return taken;
    },
    wasValid,
    forget: () => underWay.clear(),
  };
}
