import type { FastifyRateLimitStore } from '@fastify/rate-limit';

/** Requests counted in a window, and the milliseconds until the window ends. */
export interface Counted {
  current: number;
  ttl: number;
}

/**
 * Counts a request in a window (`step` 1), reads the window (0) or takes one request back (-1), in one atomic step.
 * A full window counts nothing more: `current` is then `max + 1`.
 */
export type Count = (key: string, windowMs: number, max: number, step: 1 | 0 | -1) => Counted;

/** A counter that processes share. */
export interface SharedCounter {
  readonly isReachable: boolean;
  /** Resolves to undefined if it can't be reached. */
  count(...args: Parameters<Count>): Promise<Counted | undefined>;
  close(): void;
}

type Done = Parameters<FastifyRateLimitStore['incr']>[1];

/** The store of @fastify/rate-limit: counts in the Redis that all processes share, or else in this process. */
export class RateLimitStore implements FastifyRateLimitStore {
  readonly #memory: Count;
  readonly #redis: SharedCounter | undefined;

  constructor(memory: Count, redis?: SharedCounter) {
    this.#memory = memory;
    this.#redis = redis;
  }

  /** `redis away`: this process counts alone until Redis responds again. */
  get state(): 'memory' | 'redis' | 'redis away' {
    if (this.#redis === undefined) return 'memory';
    return this.#redis.isReachable ? 'redis' : 'redis away';
  }

  async count(...args: Parameters<Count>): Promise<Counted> {
    return (await this.#redis?.count(...args)) ?? this.#memory(...args);
  }

  incr(key: string, done: Done, windowMs: number, max: number): void {
    this.count(key, windowMs, max, 1).then((counted) => done(null, counted), done);
  }

  /** Reads a window without counting. @fastify/rate-limit calls it for `{ increment: false }`. */
  read(key: string, done: Done, windowMs: number, max: number): void {
    this.count(key, windowMs, max, 0).then((counted) => done(null, counted), done);
  }

  /** Returns this store, because each call passes its window and maximum. */
  child(): this {
    return this;
  }

  close(): void {
    this.#redis?.close();
  }
}

/** Maximum windows in memory. Beyond it, the windows that opened first are evicted. */
const maxWindows = 200_000;

/**
 * Returns a counter of this process.
 * @param now milliseconds of a monotonic clock
 */
export function createMemoryCounter(now: () => number): Count {
  /** Windows in the order in which they opened. */
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
