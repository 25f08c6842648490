export interface RateLimits {
  /** Requests per key and window, over all. */
  global: number;
  /** Requests per key and window in one group. */
  group: number;
  windowSeconds: number;
}

/** The group of what agents send that calls no endpoint: it has as much room as all groups together. */
export const agentMessages = 'mcp';

/** How many requests a window allows of a group. */
export function limitOf(group: string, limits: RateLimits): number {
  return group === agentMessages ? limits.global : limits.group;
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
   * `memory`: by this process alone. `redis`: by all processes together. `redis away`: by this process alone, until
   * Redis answers.
   */
  readonly state: 'memory' | 'redis' | 'redis away';
  /**
   * Takes a request from both windows, or from neither when one is used up; in one step, whoever else takes.
   * @param key `tenant:key:group`; what stands before the group names the window over all
   */
  take(key: string): Promise<Taken>;
  /** Puts back what was taken. A window that has opened anew since keeps what is used of it. */
  giveBack(key: string, taken: Taken): Promise<Taken>;
  /**
   * The windows of a key as they stand: that over all, then those of groups.
   * @param key `tenant:key`
   */
  look(key: string, groups: readonly string[]): Promise<Window[]>;
  close(): Promise<void>;
}

/** What a store keeps of a window. Moments are milliseconds by its clock. */
interface Used {
  openedAt: number | undefined;
  count: number;
}

/**
 * Both windows of a key as they stand.
 * @param now by the clock of the store
 */
export function statesOf(
  key: string,
  limits: RateLimits,
  used: { global: Used; group: Used },
  now: number,
): Pick<Taken, 'global' | 'group'> {
  const stateOf = (name: string, limit: number, { openedAt, count }: Used): Window => ({
    name,
    limit,
    // A process with other settings may have let more through.
    remaining: Math.max(0, limit - count),
    openedAt,
    resetSeconds: Math.ceil((limits.windowSeconds * 1000 - (now - (openedAt ?? now))) / 1000),
  });
  const group = groupOf(key);
  return {
    global: stateOf('global', limits.global, used.global),
    group: stateOf(group, limitOf(group, limits), used.group),
  };
}

/** The group of a key's window. */
export function groupOf(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1);
}

/** The window over all of a key, by that of a group. */
export function overall(key: string): string {
  return key.slice(0, key.lastIndexOf(':'));
}

/** Windows that are kept at once; beyond it those that opened first are forgotten, and with them what was used. */
const windowsKept = 200_000;

/**
 * Keeps the windows of this process.
 * @param now milliseconds by a clock that is never set
 */
export function createMemoryStore(limits: RateLimits, now: () => number): RateLimitStore {
  const windowMs = limits.windowSeconds * 1000;
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

  function look(key: string, at: number): Pick<Taken, 'global' | 'group'> {
    const unused = { openedAt: undefined, count: 0 };
    return statesOf(key, limits, { global: find(overall(key), at) ?? unused, group: find(key, at) ?? unused }, at);
  }

  return {
    state: 'memory',

    async take(key) {
      const at = now();
      const before = look(key, at);
      if (before.global.remaining === 0 || before.group.remaining === 0) return { isTaken: false, ...before };
      for (const id of [overall(key), key]) (find(id, at) ?? open(id, at)).count += 1;
      forget(at);
      return { isTaken: true, ...look(key, at) };
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
      return { isTaken: false, ...look(key, at) };
    },

    async look(key, groups) {
      const at = now();
      const states = groups.map((group) => look(`${key}:${group}`, at));
      return [...states.slice(0, 1).map(({ global }) => global), ...states.map(({ group }) => group)];
    },

    async close() {},
  };
}
