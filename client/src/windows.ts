import type { RateLimit } from './rate-limits.ts';

/** A window of the limits, as answers have told it. Moments are milliseconds by `performance.now()`. */
export interface Window extends RateLimit {
  /** Requests that were sent in it and are not answered yet. */
  underWay: number;
  /** It ends between these two; both 0 while no answer has told. */
  endsAfter: number;
  endsBefore: number;
  /** How much later than needed this client comes back after it. */
  lateBy: number;
}

/** So many requests of a new window are taken for granted, until an answer tells how it stands. */
const granted = 4;

/** Clients that share a key come back within this part of a window's length, each at another moment. */
const lateness = 0.02;

/** The windows of a key, learnt from the `RateLimit` fields of answers. */
export class Windows {
  readonly #byName = new Map<string, Window>();

  all(): Window[] {
    return [...this.#byName.values()];
  }

  /** Those of these names that are known, each new where the one before has ended. */
  now(names: readonly string[], now: number): Window[] {
    return names.flatMap((name) => {
      const window = this.#byName.get(name);
      if (window === undefined) return [];
      if (window.endsBefore === 0 || now < window.endsBefore + window.lateBy) return [window];
      const remaining = Math.min(window.limit, granted);
      const next = { ...window, remaining, underWay: 0, endsAfter: 0, endsBefore: 0 };
      this.#byName.set(name, next);
      return [next];
    });
  }

  /**
   * Takes over what an answer tells.
   * @param sentIn the windows that the request was sent in: of one that has been followed by another nothing is learnt
   */
  learn(told: readonly RateLimit[], sentIn: readonly Window[], sentAt: number, now: number): void {
    for (const limit of told) {
      const known = this.#byName.get(limit.name);
      if (known === undefined) {
        this.#byName.set(limit.name, { ...limit, underWay: 0, ...endOf(limit, sentAt, now) });
      } else if (sentIn.includes(known) || sentIn.every(({ name }) => name !== limit.name)) {
        learnOne(known, limit, sentAt, now);
      }
    }
  }
}

/** Where what is told overlaps with what is known it is the same window, and of two counts the lower one is the newer. */
function learnOne(known: Window, told: RateLimit, sentAt: number, now: number): void {
  const end = endOf(told, sentAt, now);
  if (end.endsAfter >= known.endsBefore) {
    Object.assign(known, told, end);
  } else if (end.endsBefore > known.endsAfter) {
    known.remaining = Math.min(known.remaining, told.remaining);
    known.endsAfter = Math.max(known.endsAfter, end.endsAfter);
    known.endsBefore = Math.min(known.endsBefore, end.endsBefore);
  }
}

/** Seconds are told rounded up, at a moment between sending and now. */
function endOf({ resetSeconds, windowSeconds }: RateLimit, sentAt: number, now: number) {
  return {
    endsAfter: sentAt + (resetSeconds - 1) * 1000,
    endsBefore: now + resetSeconds * 1000,
    lateBy: Math.random() * lateness * windowSeconds * 1000,
  };
}
