import { createError, type ItsmError } from './errors.ts';
import type { Logger } from './options.ts';
import type { RateLimit } from './rate-limits.ts';
import { aborted, backoffMs, maxDelayMs } from './wait.ts';
import { type Window, Windows } from './windows.ts';

/** One of the limits of the key, as the client knows it now. */
export interface PacedLimit extends RateLimit {
  /** Calls of this client that wait for it. */
  waiting: number;
}

/** A call that takes its turn. */
export interface Call {
  method: string;
  path: string;
  /** Whose limit holds it; undefined where none does. */
  group?: string | undefined;
  /** By which calls of a group go: one that is repeated keeps its own. */
  order: number;
  /** Until when it may wait, by `performance.now()`. */
  deadline: number;
  signal: AbortSignal | undefined;
}

/** What an answer, or its absence, says of the limits. */
export interface Outcome {
  status?: number | undefined;
  rateLimits: RateLimit[];
  retryAfterSeconds?: number | undefined;
}

/** The calls of a group. */
interface Line {
  /** The names of its windows. */
  names: string[];
  /** Those that wait, in their order. */
  waiting: (Pick<Call, 'order'> & { go: () => void })[];
  underWay: number;
  /** How many may be under way: few at first, one more with each answer, few again after a 429. */
  atOnce: number;
  /** A 429 said so. */
  pausedUntil: number;
  /** How many 429 came one after the other. */
  refused: number;
  /** Whether the log was told that calls wait. */
  isTold: boolean;
}

/** So many go ahead where nothing is known, to be told how things stand. */
const scouts = 2;

/** More are never under way in a group. */
const mostAtOnce = 50;

/** When a request may go that has to wait for the answer to another. */
const afterAnAnswer = Number.POSITIVE_INFINITY;

/**
 * Sends what fits into the rate limits and holds the rest, in order per group (docs/decisions/client-library.md).
 *
 * Of what is left in a window at most half is under way at once: what others with the same key have sent shows in the
 * next answers, so that clients who share a window meet at its end and not in a 429.
 */
export class RateLimitQueue {
  readonly #windows = new Windows();
  readonly #lines = new Map<string, Line>();
  readonly #logger: Logger | undefined;
  #calls = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /** The place of a new call among all others. */
  nextOrder(): number {
    return this.#calls++;
  }

  /** Every limit that an answer has told. */
  get limits(): PacedLimit[] {
    const now = performance.now();
    return this.#windows.all().map(({ name, limit, windowSeconds, remaining, underWay, endsBefore }) => {
      const isOver = endsBefore <= now;
      const lines = [...this.#lines.values()].filter(({ names }) => names.includes(name));
      return {
        name,
        limit,
        remaining: Math.max(0, isOver ? limit : remaining - underWay),
        resetSeconds: isOver ? 0 : Math.ceil((endsBefore - now) / 1000),
        windowSeconds,
        waiting: lines.flatMap((line) => line.waiting).length,
      };
    });
  }

  /**
   * Sends when it is the call's turn, and learns from what comes of it.
   * @throws RateLimitError where its turn doesn't come before its deadline; AbortError
   */
  async run<Result extends Outcome>(call: Call, send: () => Promise<Result>): Promise<Result> {
    const line = this.#lineOf(call);
    const isHasty = call.deadline <= performance.now();
    const windows = isHasty ? this.#enter(line) : await this.#turn(line, call);
    const sentAt = performance.now();
    try {
      const outcome = await send();
      this.#windows.learn(outcome.rateLimits, windows, sentAt, performance.now());
      adapt(line, outcome);
      return outcome;
    } finally {
      for (const each of [line, ...windows]) each.underWay -= 1;
      this.#goOn();
    }
  }

  #lineOf({ group }: Call): Line {
    const known = this.#lines.get(group ?? '');
    if (known !== undefined) return known;
    const names = group === undefined ? [] : ['global', group];
    const line = { names, waiting: [], underWay: 0, atOnce: scouts, pausedUntil: 0, refused: 0, isTold: false };
    this.#lines.set(group ?? '', line);
    return line;
  }

  /** Counts a request as under way; answers the windows it is counted in. */
  #enter(line: Line): Window[] {
    const windows = this.#windows.now(line.names, performance.now());
    for (const each of [line, ...windows]) each.underWay += 1;
    return windows;
  }

  #turn(line: Line, call: Call): Promise<Window[]> {
    return new Promise((resolve, reject) => {
      const { signal, order } = call;
      let waits = true;
      const leave = () => {
        waits = false;
        line.waiting.splice(line.waiting.indexOf(entry), 1);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const abort = () => {
        leave();
        reject(aborted(signal as AbortSignal, call));
      };
      const giveUp = () => {
        leave();
        reject(this.#tooLate(line, call));
      };
      const go = () => {
        leave();
        resolve(this.#enter(line));
      };
      const entry = { order, go };
      const timer = setTimeout(giveUp, Math.min(call.deadline - performance.now(), maxDelayMs));
      const before = line.waiting.findLastIndex((each) => each.order < order);
      line.waiting.splice(before + 1, 0, entry);
      signal?.addEventListener('abort', abort, { once: true });
      this.#goOn();
      // What is known to last longer is told at once.
      const opens = this.#opens(line);
      if (waits && opens !== afterAnAnswer && opens > call.deadline) giveUp();
    });
  }

  /** Lets go whoever may, the one that was called first before others, and comes back when the next one may. */
  #goOn(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    const lines = [...this.#lines.values()].filter(({ waiting }) => waiting.length > 0);
    for (;;) {
      const [next] = lines
        .filter((line) => line.waiting.length > 0 && this.#opens(line) <= now)
        .flatMap(({ waiting }) => waiting.slice(0, 1))
        .sort((one, other) => one.order - other.order);
      if (next === undefined) break;
      next.go();
    }
    const opens = lines.filter((line) => line.waiting.length > 0).map((line) => this.#tell(line, now));
    const soonest = Math.min(...opens);
    if (soonest !== afterAnAnswer) this.#timer = setTimeout(() => this.#goOn(), Math.min(soonest - now, maxDelayMs));
    for (const line of this.#lines.values()) line.isTold &&= line.waiting.length > 0;
  }

  /** When the next request of a group may go; in the past where it may now. */
  #opens(line: Line): number {
    if (line.underWay >= line.atOnce) return afterAnAnswer;
    const windows = this.#windows.now(line.names, performance.now());
    const used = windows.filter(({ remaining }) => remaining === 0);
    if (used.length > 0) {
      return Math.max(line.pausedUntil, ...used.map(({ endsBefore, lateBy }) => endsBefore + lateBy));
    }
    const isFull = windows.some(({ underWay, remaining }) => underWay >= Math.max(1, Math.floor(remaining / 2)));
    return isFull ? afterAnAnswer : line.pausedUntil;
  }

  /** Tells the log, once until nobody waits any more, that calls have to wait; answers when the next one may go. */
  #tell(line: Line, now: number): number {
    const opens = this.#opens(line);
    if (opens === afterAnAnswer || line.isTold) return opens;
    line.isTold = true;
    const seconds = Math.ceil((opens - now) / 1000);
    const limit = `the rate limit${this.#describe(line)}`;
    this.#logger?.warn(`waiting for ${limit}: ${line.waiting.length}, of which the next goes in ${seconds} s`);
    return opens;
  }

  /** Which windows are used up, in words. */
  #describe({ names }: Line): string {
    const used = this.#windows.now(names, performance.now()).filter(({ remaining }) => remaining === 0);
    return used.map(({ name, limit, windowSeconds }) => ` "${name}" of ${limit} in ${windowSeconds} s`).join(' and');
  }

  #tooLate(line: Line, { method, path }: Call): ItsmError {
    const opens = this.#opens(line);
    const seconds = opens === afterAnAnswer ? 1 : Math.max(1, Math.ceil((opens - performance.now()) / 1000));
    return createError(
      `${method} ${path} was not sent: its turn within the rate limit${this.#describe(line)} does not come in maxWaitMs.`,
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

/** Draws conclusions for those that come after. */
function adapt(line: Line, { status, retryAfterSeconds = 0 }: Outcome): void {
  if (status !== 429) {
    line.refused = 0;
    line.atOnce = Math.min(line.atOnce + 1, mostAtOnce);
    return;
  }
  const wait = retryAfterSeconds * 1000 + backoffMs(line.refused);
  line.refused += 1;
  line.atOnce = scouts;
  line.pausedUntil = Math.max(line.pausedUntil, performance.now() + wait);
}
