import { createError, type ItsmError } from './errors.ts';
import type { ClientOptions, RateLimitWait } from './options.ts';
import type { RateLimit } from './rate-limits.ts';
import { aborted, backoffMs, maxDelayMs } from './wait.ts';
import { type Window, Windows } from './windows.ts';

/** A rate limit of the API key, with the number of calls that wait for it. */
export interface PacedLimit extends RateLimit {
  /** Number of calls of this client that wait for the rate limit. */
  waiting: number;
}

/** A call that `RateLimitQueue` sends within the rate limits. */
export interface Call {
  method: string;
  path: string;
  /** The rate limit group of the endpoint, or undefined if the endpoint has no rate limit. */
  group?: string | undefined;
  /**
   * The sequence number of the call among all calls of the client. A retry has the same number as the first attempt.
   */
  order: number;
  /** The latest time at which the call may start, in milliseconds of `performance.now()`. */
  deadline: number;
  signal: AbortSignal | undefined;
}

/** The rate limit data of a response or an error. */
export interface Outcome {
  status?: number | undefined;
  rateLimits: RateLimit[];
  retryAfterSeconds?: number | undefined;
}

/** The waiting and pending calls of a rate limit group. */
interface GroupQueue {
  /** The names of the rate limit windows that count the requests of the group. */
  names: string[];
  /** The waiting calls, sorted by their sequence number. */
  waiting: (Pick<Call, 'order'> & { start: () => void })[];
  pending: number;
  /**
   * Maximum number of pending requests. Starts at `initialConcurrency`, and increases by one with each response. A 429
   * resets it to `initialConcurrency`.
   */
  concurrency: number;
  /** The time at which the pause after a 429 ends, in milliseconds of `performance.now()`. */
  pausedUntil: number;
  /** Number of consecutive 429 responses. */
  rejections: number;
  /** The earliest time of the next report about waiting calls, in milliseconds of `performance.now()`. */
  reportAt: number;
}

/** Maximum number of concurrent requests of a rate limit group at the start and after a 429. */
const initialConcurrency = 2;

/** Maximum number of concurrent requests of a rate limit group, even if the rate limits allow more. */
const maxConcurrency = 50;

/** Minimum time in milliseconds between two reports about the waiting calls of a rate limit group. */
const reportIntervalMs = 30_000;

/** The start time of a call that can't start before the client receives another response. */
const afterNextResponse = Number.POSITIVE_INFINITY;

/**
 * Sends calls within the rate limits. Each rate limit group has a queue of waiting calls
 * (docs/decisions/client-library.md).
 *
 * Pending requests use at most half of the remaining quota, because other clients may use the same API key. Each
 * response reports the quota that remains for all these clients. Clients that share an API key can therefore use the
 * whole quota without receiving a 429.
 */
export class RateLimitQueue {
  readonly #windows = new Windows();
  readonly #queues = new Map<string, GroupQueue>();
  readonly #options: Pick<ClientOptions, 'logger' | 'onWait'>;
  #calls = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Pick<ClientOptions, 'logger' | 'onWait'>) {
    this.#options = options;
  }

  /** Returns the sequence number of a new call. */
  nextOrder(): number {
    return this.#calls++;
  }

  /** Returns every rate limit that a response has reported. */
  get limits(): PacedLimit[] {
    const now = performance.now();
    return this.#windows.all().map(({ name, limit, windowSeconds, remaining, pending, endsBefore }) => {
      const isOver = endsBefore <= now;
      return {
        name,
        limit,
        remaining: Math.max(0, isOver ? limit : remaining - pending),
        resetSeconds: isOver ? 0 : Math.ceil((endsBefore - now) / 1000),
        windowSeconds,
        waiting: this.#countWaiting(name),
      };
    });
  }

  /** Returns the number of waiting calls that a rate limit counts. */
  #countWaiting(name: string): number {
    const queues = [...this.#queues.values()].filter(({ names }) => names.includes(name));
    return queues.flatMap(({ waiting }) => waiting).length;
  }

  /**
   * Waits until earlier calls have started and the rate limits allow the call. Then sends the call, and updates the
   * rate limits from the response.
   * @throws RateLimitError if the call can't start before its deadline; AbortError if its signal aborts
   */
  async run<Result extends Outcome>(call: Call, send: () => Promise<Result>): Promise<Result> {
    const queue = this.#getQueue(call);
    const isPastDeadline = call.deadline <= performance.now();
    const windows = isPastDeadline ? this.#markPending(queue) : await this.#waitForTurn(queue, call);
    const sentAt = performance.now();
    try {
      const outcome = await send();
      this.#windows.learn(outcome.rateLimits, windows, sentAt, performance.now());
      adapt(queue, outcome);
      return outcome;
    } finally {
      for (const each of [queue, ...windows]) each.pending -= 1;
      this.#startNext();
    }
  }

  #getQueue({ group }: Call): GroupQueue {
    const known = this.#queues.get(group ?? '');
    if (known !== undefined) return known;
    const names = group === undefined ? [] : ['global', group];
    const queue = {
      names,
      waiting: [],
      pending: 0,
      concurrency: initialConcurrency,
      pausedUntil: 0,
      rejections: 0,
      reportAt: 0,
    };
    this.#queues.set(group ?? '', queue);
    return queue;
  }

  /** Counts a request as pending. Returns the rate limit windows that count the request. */
  #markPending(queue: GroupQueue): Window[] {
    const windows = this.#windows.now(queue.names, performance.now());
    for (const each of [queue, ...windows]) each.pending += 1;
    return windows;
  }

  #waitForTurn(queue: GroupQueue, call: Call): Promise<Window[]> {
    return new Promise((resolve, reject) => {
      const { signal, order } = call;
      let isWaiting = true;
      const dequeue = () => {
        isWaiting = false;
        queue.waiting.splice(queue.waiting.indexOf(entry), 1);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const abort = () => {
        dequeue();
        reject(aborted(signal as AbortSignal, call));
      };
      const rejectLate = () => {
        dequeue();
        reject(this.#deadlineError(queue, call));
      };
      const start = () => {
        dequeue();
        resolve(this.#markPending(queue));
      };
      const entry = { order, start };
      const timer = setTimeout(rejectLate, Math.min(call.deadline - performance.now(), maxDelayMs));
      const before = queue.waiting.findLastIndex((each) => each.order < order);
      queue.waiting.splice(before + 1, 0, entry);
      signal?.addEventListener('abort', abort, { once: true });
      this.#startNext();
      // If the earliest start time is already after the deadline, the call fails immediately instead of waiting.
      const startTime = this.#getStartTime(queue);
      if (isWaiting && startTime !== afterNextResponse && startTime > call.deadline) rejectLate();
    });
  }

  /**
   * Starts the waiting calls that the rate limits allow, in the order of their sequence numbers. Sets a timer for the
   * next call.
   */
  #startNext(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    const queues = [...this.#queues.values()].filter(({ waiting }) => waiting.length > 0);
    for (;;) {
      const [next] = queues
        .filter((queue) => queue.waiting.length > 0 && this.#getStartTime(queue) <= now)
        .flatMap(({ waiting }) => waiting.slice(0, 1))
        .sort((one, other) => one.order - other.order);
      if (next === undefined) break;
      next.start();
    }
    const wakeTimes = queues
      .filter((queue) => queue.waiting.length > 0)
      .map((queue) => this.#reportWaiting(queue, now));
    const soonest = Math.min(...wakeTimes);
    if (soonest !== afterNextResponse) this.#timer = setTimeout(() => this.#startNext(), soonest - now);
  }

  /**
   * Returns the time at which the next request of a rate limit group may start. If the time is in the past, the request
   * may start now.
   */
  #getStartTime(queue: GroupQueue): number {
    if (queue.pending >= queue.concurrency) return afterNextResponse;
    const windows = this.#windows.now(queue.names, performance.now());
    const used = windows.filter(({ remaining }) => remaining === 0);
    if (used.length > 0) {
      return Math.max(queue.pausedUntil, ...used.map(({ endsBefore, lateBy }) => endsBefore + lateBy));
    }
    const isFull = windows.some(({ pending, remaining }) => pending >= Math.max(1, Math.floor(remaining / 2)));
    return isFull ? afterNextResponse : queue.pausedUntil;
  }

  /**
   * Reports the waiting calls to `logger` and `onWait`, at most once per `reportIntervalMs`. Returns the time at which
   * the next call may start, or an earlier time of the next report.
   */
  #reportWaiting(queue: GroupQueue, now: number): number {
    const startTime = this.#getStartTime(queue);
    if (startTime === afterNextResponse) return startTime;
    if (queue.reportAt <= now) {
      queue.reportAt = now + reportIntervalMs;
      const wait = this.#describeWait(queue, (startTime - now) / 1000);
      const { logger, onWait } = this.#options;
      // The callbacks run later, so an error that they throw doesn't stop the queue.
      queueMicrotask(() => logger?.warn(formatWait(wait)));
      queueMicrotask(() => onWait?.(wait));
    }
    return Math.min(startTime, queue.reportAt);
  }

  #describeWait(queue: GroupQueue, nextSeconds: number): RateLimitWait {
    const windows = this.#windows.now(queue.names, performance.now());
    const furtherSeconds = windows.map(({ name, limit, windowSeconds }) => {
      return Math.floor((this.#countWaiting(name) - 1) / Math.max(1, limit)) * windowSeconds;
    });
    return {
      rateLimits: windows
        .filter(({ remaining }) => remaining === 0)
        .map(({ name, limit, windowSeconds }) => ({ name, limit, windowSeconds })),
      waiting: queue.waiting.length,
      nextSeconds: Math.ceil(nextSeconds),
      remainingSeconds: windows.length === 0 ? undefined : Math.ceil(nextSeconds + Math.max(...furtherSeconds)),
    };
  }

  #deadlineError(queue: GroupQueue, { method, path }: Call): ItsmError {
    const startTime = this.#getStartTime(queue);
    const seconds =
      startTime === afterNextResponse ? 1 : Math.max(1, Math.ceil((startTime - performance.now()) / 1000));
    const { rateLimits } = this.#describeWait(queue, seconds);
    return createError(
      `${method} ${path} was not sent: the rate limit${formatLimits(rateLimits)} allows it only after maxWaitMs.`,
      {
        code: 'RATE_LIMIT_EXCEEDED',
        method,
        path,
        retryAfterSeconds: seconds,
        rateLimits: this.limits,
      },
    );
  }
}

/**
 * After a 429, pauses a rate limit group and resets its maximum concurrency. After any other outcome, increases the
 * maximum concurrency by one.
 */
function adapt(queue: GroupQueue, { status, retryAfterSeconds = 0 }: Outcome): void {
  if (status !== 429) {
    queue.rejections = 0;
    queue.concurrency = Math.min(queue.concurrency + 1, maxConcurrency);
    return;
  }
  const wait = retryAfterSeconds * 1000 + backoffMs(queue.rejections);
  queue.rejections += 1;
  queue.concurrency = initialConcurrency;
  queue.pausedUntil = Math.max(queue.pausedUntil, performance.now() + wait);
}

/** Returns the part of a log or error message that names the rate limits without remaining quota. */
function formatLimits(limits: RateLimitWait['rateLimits']): string {
  return limits.map(({ name, limit, windowSeconds }) => ` "${name}" of ${limit} in ${windowSeconds} s`).join(' and');
}

function formatWait({ rateLimits, waiting, nextSeconds, remainingSeconds }: RateLimitWait): string {
  const left = remainingSeconds === undefined ? '' : `, about ${formatDuration(remainingSeconds)} left`;
  return `waiting for the rate limit${formatLimits(rateLimits)} (calls: ${waiting}, next one in ${nextSeconds} s${left})`;
}

function formatDuration(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
