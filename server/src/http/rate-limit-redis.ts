import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, type RedisOptions, type Result } from 'ioredis';
import {
  groupOf,
  limitOf,
  overall,
  type RateLimitStore,
  type RateLimits,
  statesOf,
  type Taken,
} from './rate-limit-store.ts';

/** How long Redis may take for an answer: after it, this process counts by itself and nobody waits. Milliseconds. */
const answerMs = 250;
/** How long a connection may take until it has proved that windows can be counted through it. Milliseconds. */
const connectMs = 1000;
/** How often Redis is asked whether it is there, whether it was or not. Milliseconds. */
const lookEveryMs = 500;

/** What both scripts answer: whether it was taken, Redis' clock, and for each window when it opened and what is used. */
type Reply = [
  isTaken: 0 | 1,
  now: number,
  globalOpenedAt: number | null,
  globalCount: number,
  groupOpenedAt: number | null,
  groupCount: number,
];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeFromBoth(global: string, group: string, windowMs: number, ...limits: number[]): Result<Reply, Context>;
    giveBackToBoth(global: string, group: string, windowMs: number, ...openedAt: number[]): Result<Reply, Context>;
    lookAtAll(count: number, ...keys: (string | number)[]): Result<(number | null)[], Context>;
  }
}

// Windows are hashes that expire with them; by Redis' clock, so that processes with different clocks agree. One that
// was opened after now is over: the clock was set back, and nobody shall wait for it to come round.
const shared = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local windowMs = tonumber(ARGV[1])

local function look(key)
  local used = redis.call('HMGET', key, 'openedAt', 'count')
  local age = now - (tonumber(used[1]) or 0)
  if age < 0 or age >= windowMs then return { openedAt = false, count = 0 } end
  return { openedAt = tonumber(used[1]), count = tonumber(used[2]) }
end

local function reply(isTaken)
  local global, group = look(KEYS[1]), look(KEYS[2])
  return { isTaken, now, global.openedAt, global.count, group.openedAt, group.count }
end
`;

const takeFromBoth = `${shared}
for i, key in ipairs(KEYS) do
  if look(key).count >= tonumber(ARGV[1 + i]) then return reply(0) end
end
for _, key in ipairs(KEYS) do
  if not look(key).openedAt then
    redis.call('HSET', key, 'openedAt', now, 'count', 0)
    redis.call('PEXPIRE', key, windowMs)
  end
  redis.call('HINCRBY', key, 'count', 1)
end
return reply(1)
`;

const giveBackToBoth = `${shared}
for i, key in ipairs(KEYS) do
  if look(key).openedAt == tonumber(ARGV[1 + i]) then redis.call('HINCRBY', key, 'count', -1) end
end
return reply(0)
`;

// That over all, then the others.
const lookAtAll = `${shared}
local windows = { now }
for _, key in ipairs(KEYS) do
  local window = look(key)
  table.insert(windows, window.openedAt)
  table.insert(windows, window.count)
end
return windows
`;

interface RedisStoreOptions {
  url: string;
  limits: RateLimits;
  /** Counts while Redis is away. */
  memory: RateLimitStore;
  /** Called when Redis goes, and when it isn't there at the start. */
  onAway: (reason: string) => void;
  /** Called when it is back. */
  onBack: () => void;
}

/**
 * Keeps the windows of all processes in one Redis. While it doesn't answer, this process counts by itself: a request is
 * held up by what it does to a database, not by who counts it. Resolves when Redis is there, or is known to be away.
 */
export async function openRedisStore({
  url,
  limits,
  memory,
  onAway,
  onBack,
}: RedisStoreOptions): Promise<RateLimitStore> {
  const windowMs = limits.windowSeconds * 1000;
  const options = connectionOptions(url);
  const stop = new AbortController();
  /** The connection that answers; undefined while Redis is away. */
  let redis: Redis | undefined;
  let isAway = false;
  const lost = new WeakSet<Redis>();
  /** What was taken while Redis was away. */
  const takenHere = new WeakSet<Taken>();

  function lose(connection: Redis, error: Error): void {
    // Whoever waits for an answer finds it lost.
    if (lost.has(connection)) return;
    lost.add(connection);
    connection.disconnect();
    if (redis === connection) redis = undefined;
    if (isAway || stop.signal.aborted) return;
    isAway = true;
    onAway(reasonOf(error));
  }

  /** Makes a connection that counts: one that may only read, or whose Redis is full, is as good as none. */
  async function connect(): Promise<void> {
    const connection = new Redis(options);
    connection.on('error', (error) => lose(connection, error));
    connection.once('end', () => lose(connection, new Error('Redis has closed the connection.')));
    try {
      await within(connectMs, prove(connection));
      if (lost.has(connection)) return;
      redis = connection;
      if (isAway) onBack();
      isAway = false;
    } catch (error) {
      lose(connection, error as Error);
    }
  }

  /** Undefined where Redis is away, or goes with this. */
  async function ask<T>(command: (connection: Redis) => Promise<T>): Promise<T | undefined> {
    const asked = redis;
    if (asked === undefined) return undefined;
    try {
      return await within(answerMs, command(asked));
    } catch (error) {
      lose(asked, error as Error);
      return undefined;
    }
  }

  function takenOf(key: string, reply: Reply): Taken {
    const [isTaken, now, globalOpenedAt, globalCount, groupOpenedAt, groupCount] = reply;
    const global = { openedAt: globalOpenedAt ?? undefined, count: globalCount };
    const group = { openedAt: groupOpenedAt ?? undefined, count: groupCount };
    return { isTaken: isTaken === 1, ...statesOf(key, limits, { global, group }, now) };
  }

  await connect();
  const watching = (async () => {
    for (;;) {
      await sleep(lookEveryMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (stop.signal.aborted) return;
      if (redis === undefined) await connect();
      else await ask((connection) => connection.ping());
    }
  })();

  return {
    get state() {
      return redis === undefined ? 'redis away' : 'redis';
    },

    async take(key) {
      const reply = await ask((connection) =>
        connection.takeFromBoth(...keysOf(key), windowMs, limits.global, limitOf(groupOf(key), limits)),
      );
      if (reply !== undefined) return takenOf(key, reply);
      const taken = await memory.take(key);
      takenHere.add(taken);
      return taken;
    },

    async giveBack(key, taken) {
      if (takenHere.has(taken)) return await memory.giveBack(key, taken);
      const openedAt = [taken.global, taken.group].map((window) => window.openedAt ?? 0);
      const reply = await ask((connection) => connection.giveBackToBoth(...keysOf(key), windowMs, ...openedAt));
      // Gone in between, it keeps what was taken.
      return reply === undefined ? { ...taken, isTaken: false } : takenOf(key, reply);
    },

    async look(key, groups) {
      const keys = groups.map((group) => keysOf(`${key}:${group}`));
      const all = [...keys.slice(0, 1).map(([global]) => global), ...keys.map(([, group]) => group)];
      const reply = await ask((connection) => connection.lookAtAll(all.length, ...all, windowMs));
      if (reply === undefined) return await memory.look(key, groups);
      const [now, ...used] = reply;
      const usedOf = (i: number) => ({ openedAt: used[2 * i] ?? undefined, count: used[2 * i + 1] ?? 0 });
      const states = groups.map((group, i) => {
        return statesOf(`${key}:${group}`, limits, { global: usedOf(0), group: usedOf(i + 1) }, now ?? 0);
      });
      return [...states.slice(0, 1).map(({ global }) => global), ...states.map(({ group }) => group)];
    },

    async close() {
      stop.abort();
      await watching;
      redis?.disconnect();
      await memory.close();
    },
  };
}

/** Connects, and counts a window that is over soon: it needs all that requests need. */
async function prove(connection: Redis): Promise<void> {
  await connection.connect();
  await connection.takeFromBoth(...keysOf(`proof:${randomUUID()}:proof`), lookEveryMs, 1, 1);
}

export interface RedisFacts {
  /** `redis` or `valkey`. */
  server: string;
  /** Such as `7.0.15`. */
  version: string;
}

/**
 * Connects as a server does, has a window counted, and asks who it is.
 * @throws Error whose message says why nothing can be counted there
 */
export async function readRedisFacts(url: string): Promise<RedisFacts> {
  const connection = new Redis(connectionOptions(url));
  try {
    // What `connect` rejects with says that it is closed; the event says why.
    const lost = new Promise<never>((_, reject) => connection.on('error', reject));
    await within(connectMs, Promise.race([lost, prove(connection)]));
    // Names and values in turn. INFO would need one more right.
    const hello = (await within(answerMs, connection.call('HELLO'))) as unknown[];
    const factOf = (name: string) => String(hello[hello.indexOf(name) + 1]);
    return { server: factOf('server'), version: factOf('version') };
  } catch (error) {
    throw new Error(reasonOf(error as Error), { cause: error });
  } finally {
    connection.disconnect();
  }
}

function connectionOptions(url: string): RedisOptions {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    port: Number(port || 6379),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    db: Number(pathname.slice(1)),
    ...(protocol === 'rediss:' && { tls: isIP(host) === 0 ? { servername: host } : {} }),
    connectionName: 'itsm-api',
    disableClientInfo: true,
    scripts: {
      takeFromBoth: { lua: takeFromBoth, numberOfKeys: 2 },
      giveBackToBoth: { lua: giveBackToBoth, numberOfKeys: 2 },
      lookAtAll: { lua: lookAtAll },
    },
    // A connection is used once: it is proved before it counts, and nothing waits for the next one.
    lazyConnect: true,
    retryStrategy: null,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    disconnectTimeout: 1,
  };
}

/** The braces keep both windows of a key in one slot of a cluster. */
function keysOf(key: string): [global: string, group: string] {
  const global = `itsm:limits:{${overall(key)}}`;
  return [global, global + key.slice(key.lastIndexOf(':'))];
}

/** Rejects when there is no answer in time; not when it has come and this process was too busy to read it. */
function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`Redis did not answer within ${ms} ms.`));
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** Several addresses that refuse are one error without a message. */
function reasonOf(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : error.name);
}
