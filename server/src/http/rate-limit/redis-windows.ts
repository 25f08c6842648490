import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { Redis, type Result } from 'ioredis';
import type { Count, SharedCounter } from './rate-limit-windows.ts';

/**
 * The maximum time in milliseconds to wait for a response from Redis. After a timeout, this process counts requests in
 * its own memory.
 */
const maxResponseMs = 250;
/** The maximum time in milliseconds to connect to Redis. The permission check that follows has the same limit. */
const maxConnectMs = 1000;
const reconnectMs = 500;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    countInWindow(...args: Parameters<Count>): Result<[current: number, ttl: number], Context>;
  }
}

// If the TTL is longer than the window, the clock of the Redis server was set back after the window started. In this
// case, the script starts a new window.
const countInWindow = `
local windowMs, max, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local count, ttl = tonumber(redis.call('GET', KEYS[1])) or 0, redis.call('PTTL', KEYS[1])
if ttl < 0 or ttl > windowMs then
  count, ttl = 0, windowMs
  if step == 1 then redis.call('SET', KEYS[1], 0, 'PX', windowMs) end
end
if step == 1 and count >= max then return { max + 1, ttl } end
if step ~= 0 and count + step >= 0 then count = redis.call('INCRBY', KEYS[1], step) end
return { count, ttl }
`;

/** A counter on a Redis or Valkey server. */
export interface RedisCounter extends SharedCounter {
  /** The name and version of the server, such as `redis 7.0.15`. Empty until the first connection. */
  readonly server: string;
}

interface RedisCounterOptions {
  url: string;
  /** Called when Redis becomes unreachable, or if Redis is unreachable at startup. */
  onUnavailable: (reason: string) => void;
  /** Called when Redis is reachable again. */
  onAvailable: () => void;
}

/**
 * Opens a counter in Redis. Resolves when the counter is ready or the first connection attempt has failed. After a
 * failure, keeps reconnecting until `close` is called.
 */
export async function openRedisCounter({
  url,
  onUnavailable,
  onAvailable,
}: RedisCounterOptions): Promise<RedisCounter> {
  const { protocol, hostname } = new URL(url);
  const redis = new Redis(url, {
    ...(protocol === 'rediss:' && { tls: isIP(hostname) === 0 ? { servername: hostname } : {} }),
    connectionName: 'itsm-api',
    disableClientInfo: true,
    scripts: { countInWindow: { lua: countInWindow, numberOfKeys: 1 } },
    connectTimeout: maxConnectMs,
    retryStrategy: () => reconnectMs,
    // Commands must fail instead of waiting for a connection, because this process counts in its own memory while Redis
    // is unreachable.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    disconnectTimeout: 1,
  });
  let status: 'connecting' | 'reachable' | 'unreachable' | 'closed' = 'connecting';
  let isReported = false;
  let server = '';
  let connectTimer: NodeJS.Timeout | undefined;
  const { promise: known, resolve } = Promise.withResolvers<void>();

  function markUnreachable(error: Error): void {
    clearTimeout(connectTimer);
    if (status === 'closed') return;
    status = 'unreachable';
    // If all addresses of a host reject the connection, Node.js returns an error with a code but without a message.
    if (!isReported) onUnavailable(error.message || String((error as NodeJS.ErrnoException).code));
    isReported = true;
    if (redis.status === 'connect' || redis.status === 'ready') redis.disconnect(true);
    resolve();
  }

  redis.on('error', markUnreachable);
  redis.on('close', () => markUnreachable(new Error('Redis has closed the connection.')));
  redis.on('connect', () => {
    status = 'connecting';
    connectTimer = setTimeout(() => markUnreachable(noResponseWithin(maxConnectMs)), maxConnectMs);
  });
  redis.on('ready', async () => {
    try {
      server = await checkPermissions(redis);
    } catch (error) {
      return markUnreachable(error as Error);
    }
    if (status !== 'connecting') return;
    clearTimeout(connectTimer);
    status = 'reachable';
    if (isReported) onAvailable();
    isReported = false;
    resolve();
  });
  await known;

  return {
    get isReachable() {
      return status === 'reachable';
    },
    get server() {
      return server;
    },

    async count(key, ...args) {
      if (status !== 'reachable') return undefined;
      try {
        const [current, ttl] = await within(maxResponseMs, redis.countInWindow(`itsm:limits:${key}`, ...args));
        return { current, ttl };
      } catch (error) {
        markUnreachable(error as Error);
        return undefined;
      }
    },

    close() {
      clearTimeout(connectTimer);
      status = 'closed';
      redis.disconnect();
    },
  };
}

/**
 * Counts a request in a test window to verify that Redis grants all permissions that the counter needs. Resolves to the
 * name and version of the server, such as `redis 7.0.15`.
 */
async function checkPermissions(redis: Redis): Promise<string> {
  await redis.countInWindow(`itsm:limits:proof:${randomUUID()}`, maxConnectMs, 1, 1);
  // Uses the command HELLO, because INFO would need an additional permission. HELLO returns alternating names and
  // values.
  const hello = (await redis.call('HELLO')) as unknown[];
  return ['server', 'version'].map((name) => hello[hello.indexOf(name) + 1]).join(' ');
}

/**
 * Rejects if no response arrives within `ms` milliseconds. With `setImmediate`, a busy process can still read a
 * response that has already arrived.
 */
function within<T>(ms: number, response: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timeOut = () => reject(noResponseWithin(ms));
    const timer = setTimeout(() => setImmediate(timeOut), ms);
    response.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

function noResponseWithin(ms: number): Error {
  return new Error(`Redis did not respond within ${ms} ms.`);
}
