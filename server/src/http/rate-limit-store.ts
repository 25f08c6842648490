export interface RateLimits {
  /** Requests per key and window, over all. */
  global: number;
  /** Requests per key and window in one group. */
  group: number;
  windowSeconds: number;
}

/** One window as it stands for a key. */
export interface Window {
  /** `global`, or the group. */
  name: string;
  limit: number;
  remaining: number;
  /** When it opened, by the clock of the store; `undefined` while nothing was taken from it. */
  openedAt: number | undefined;
  /** Until it opens again, rounded up. */
  resetSeconds: number;
}

/** Both windows of a key as a request found them: it was taken from both, or from neither. */
export interface Taken {
  isTaken: boolean;
  global: Window;
  group: Window;
}

/** Where windows are counted. */
export interface RateLimitStore {
  /**
   * Takes a request from both windows, or from neither when one is used up; in one step, whoever else takes.
   * @param key `tenant:key:group`; what stands before the group names the window over all
   */
  take(key: string): Promise<Taken>;
  /** Puts back what was taken. A window that has opened anew since keeps what is used of it. */
  giveBack(key: string, taken: Taken): Promise<Taken>;
}

/** Windows that are kept at once; beyond it those that opened first are forgotten, and with them what was used. */
const windowsKept = 200_000;

/**
 * Keeps the windows of this process.
 * @param now milliseconds by a clock that is never set
 */
export function createMemoryStore({ global, group, windowSeconds }: RateLimits, now: () => number): RateLimitStore {
  const windowMs = windowSeconds * 1000;
  /** Those that were used, in the order in which they opened. */
  const used = new Map<string, { openedAt: number; count: number }>();

  function find(id: string, at: number) {
    const window = used.get(id);
    return window !== undefined && at - window.openedAt < windowMs ? window : undefined;
  }

  function open(id: string, at: number) {
    const window = { openedAt: at, count: 0 };
    used.delete(id);
    used.set(id, window);
    return window;
  }

  /** What is over stands first, since every window is open for as long. */
  function forget(at: number): void {
    for (const [id, { openedAt }] of used) {
      if (at - openedAt < windowMs && used.size <= windowsKept) return;
      used.delete(id);
    }
  }

  function stateOf(id: string, { name, limit }: Pick<Window, 'name' | 'limit'>, at: number): Window {
    const { openedAt, count } = find(id, at) ?? { openedAt: undefined, count: 0 };
    const resetSeconds = Math.ceil((windowMs - (at - (openedAt ?? at))) / 1000);
    return { name, limit, remaining: limit - count, openedAt, resetSeconds };
  }

  function statesOf(key: string, at: number): Pick<Taken, 'global' | 'group'> {
    const name = key.slice(key.lastIndexOf(':') + 1);
    return {
      global: stateOf(overall(key), { name: 'global', limit: global }, at),
      group: stateOf(key, { name, limit: group }, at),
    };
  }

  return {
    async take(key) {
      const at = now();
      const before = statesOf(key, at);
      if (before.global.remaining === 0 || before.group.remaining === 0) return { isTaken: false, ...before };
      for (const id of [overall(key), key]) (find(id, at) ?? open(id, at)).count += 1;
      forget(at);
      return { isTaken: true, ...statesOf(key, at) };
    },

    async giveBack(key, taken) {
      const at = now();
      for (const [id, { openedAt }] of [
        [overall(key), taken.global],
        [key, taken.group],
      ] as const) {
        const window = find(id, at);
        if (window !== undefined && window.openedAt === openedAt) window.count -= 1;
      }
      return { isTaken: false, ...statesOf(key, at) };
    },
  };
}

/** The window over all of a key, by that of a group. */
function overall(key: string): string {
  return key.slice(0, key.lastIndexOf(':'));
}
