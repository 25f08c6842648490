import type { FastifyRateLimitStore } from '@fastify/rate-limit';

/** The number of requests in a window (`current`) and the milliseconds until the window ends (`ttl`). */
export interface WindowCount {
  current: number;
  ttl: number;
}

/**
 * Changes and returns the count of a window in one atomic operation. A `step` of 1 counts a request, 0 only reads the
 * count, and -1 refunds a request. If the window is full, a `step` of 1 changes nothing and returns `max + 1` as
 * `current`.
 */
export type Count = (key: string, windowMs: number, max: number, step: 1 | 0 | -1) => WindowCount;

/** A counter that several server processes share. */
export interface SharedCounter {
  readonly isReachable: boolean;
  /** Changes or reads the count of a window. Resolves to undefined if the counter is unreachable. */
  count(...args: Parameters<Count>): Promise<WindowCount | undefined>;
  close(): void;
}

type Callback = Parameters<FastifyRateLimitStore['incr']>[1];

/**
 * The store for @fastify/rate-limit. It counts requests in Redis, which all processes share. If Redis is unreachable or
 * not configured, the store counts only the requests of this process.
 */
export class RateLimitStore implements FastifyRateLimitStore {
  readonly #memory: Count;
  readonly #redis: SharedCounter | undefined;

  constructor(memory: Count, redis?: SharedCounter) {
    this.#memory = memory;
    this.#redis = redis;
  }

  /**
   * Returns where requests are counted. In the state `redis unreachable`, this process counts in its own memory until
   * Redis is reachable again.
   */
  get state(): 'memory' | 'redis' | 'redis unreachable' {
    if (this.#redis === undefined) return 'memory';
    return this.#redis.isReachable ? 'redis' : 'redis unreachable';
  }

  async count(...args: Parameters<Count>): Promise<WindowCount> {
    return (await this.#redis?.count(...args)) ?? this.#memory(...args);
  }

  incr(key: string, done: Callback, windowMs: number, max: number): void {
    this.count(key, windowMs, max, 1).then((counted) => done(null, counted), done);
  }

  /**
   * Reads the count of a window without counting a request. @fastify/rate-limit calls this method if its option
   * `increment` is false.
   */
  read(key: string, done: Callback, windowMs: number, max: number): void {
    this.count(key, windowMs, max, 0).then((counted) => done(null, counted), done);
  }

  /** Returns this store for every route, because each call specifies the window and the maximum. */
  child(): this {
    return this;
  }

  close(): void {
    this.#redis?.close();
  }
}

/** The maximum number of windows in memory. If there are more, the counter evicts the oldest windows. */
const maxWindows = 200_000;

/**
 * Returns a counter that keeps its counts in memory.
 * @param now returns the time of a monotonic clock in milliseconds
 */
export function createMemoryCounter(now: () => number): Count {
  /** The windows, ordered by start time. */
  const windows = new Map<string, { endsAt: number; count: number }>();

  function open(key: string, windowMs: number) {
    const window = { endsAt: now() + windowMs, count: 0 };
    windows.delete(key);
    windows.set(key, window);
    for (const [oldest, { endsAt }] of windows) {
      if (endsAt > now() && windows.size <= maxWindows) break;
      windows.delete(oldest);
    }
    return window;
  }

  return (key, windowMs, max, step) => {
    const found = windows.get(key);
    const isOpen = found !== undefined && found.endsAt > now();
    if (!isOpen && step < 1) return { current: 0, ttl: windowMs };
    const window = isOpen ? found : open(key, windowMs);
    const ttl = window.endsAt - now();
    if (step === 1 && window.count >= max) return { current: max + 1, ttl };
    window.count = Math.max(0, window.count + step);
    return { current: window.count, ttl };
  };
}
