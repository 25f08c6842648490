import type { RateLimit } from './rate-limits.ts';

/** A rate limit window and its possible end times, in milliseconds of `performance.now()`. */
export interface Window extends RateLimit {
  /** Number of pending requests that the client sent in the window. */
  pending: number;
  /** The window ends between `endsAfter` and `endsBefore`. Both are 0 until a response reports the end. */
  endsAfter: number;
  endsBefore: number;
  /** Random time in milliseconds that the client waits after the end of the window. */
  lateBy: number;
}

/** The remaining quota that the client assumes for a new window until a response reports the actual quota. */
const assumedRemaining = 4;

/**
 * Maximum random delay after the end of a window, as a fraction of the window length. Because of this delay, clients
 * that share an API key resume at different times.
 */
const maxDelayShare = 0.02;

/** The rate limit windows of an API key, parsed from the `RateLimit` headers of responses. */
export class Windows {
  readonly #byName = new Map<string, Window>();

  all(): Window[] {
    return [...this.#byName.values()];
  }

  /** Returns the known windows with the given names. If a window has ended, replaces it with a new window. */
  now(names: readonly string[], now: number): Window[] {
    return names.flatMap((name) => {
      const window = this.#byName.get(name);
      if (window === undefined) return [];
      if (window.endsBefore === 0 || now < window.endsBefore + window.lateBy) return [window];
      const remaining = Math.min(window.limit, assumedRemaining);
      const next = { ...window, remaining, pending: 0, endsAfter: 0, endsBefore: 0 };
      this.#byName.set(name, next);
      return [next];
    });
  }

  /**
   * Updates the windows from a response. Ignores reports about windows that have ended.
   * @param sentIn the windows that were current when the client sent the request
   */
  learn(reported: readonly RateLimit[], sentIn: readonly Window[], sentAt: number, now: number): void {
    for (const limit of reported) {
      const current = this.#byName.get(limit.name);
      if (current === undefined) {
        this.#byName.set(limit.name, { ...limit, pending: 0, ...computeEnd(limit, sentAt, now) });
      } else if (sentIn.includes(current) || sentIn.every(({ name }) => name !== limit.name)) {
        mergeReport(current, limit, sentAt, now);
      }
    }
  }
}

/**
 * Merges a reported window into the current window. If their possible end times overlap, they are the same window. The
 * lower remaining quota is then the newer value.
 */
function mergeReport(current: Window, reported: RateLimit, sentAt: number, now: number): void {
  const end = computeEnd(reported, sentAt, now);
  if (end.endsAfter >= current.endsBefore) {
    Object.assign(current, reported, end);
  } else if (end.endsBefore > current.endsAfter) {
    current.remaining = Math.min(current.remaining, reported.remaining);
    current.endsAfter = Math.max(current.endsAfter, end.endsAfter);
    current.endsBefore = Math.min(current.endsBefore, end.endsBefore);
  }
}

/**
 * Returns the earliest and the latest possible end of the window. The server computed `resetSeconds` between `sentAt`
 * and `now`, and rounded it up.
 */
function computeEnd({ resetSeconds, windowSeconds }: RateLimit, sentAt: number, now: number) {
  return {
    endsAfter: sentAt + (resetSeconds - 1) * 1000,
    endsBefore: now + resetSeconds * 1000,
    lateBy: Math.random() * maxDelayShare * windowSeconds * 1000,
  };
}
