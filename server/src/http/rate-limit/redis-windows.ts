import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { Redis, type Result } from 'ioredis';
import type { Count, SharedCounter } from './rate-limit-windows.ts';

/** Maximum wait for a response of Redis. Beyond it, this process counts alone. */
const maxResponseMs = 250;
/** Maximum time to connect and count a first window. */
const maxConnectMs = 1000;
const reconnectMs = 500;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    countInWindow(...args: Parameters<Count>): Result<[current: number, ttl: number], Context>;
  }
}

// A TTL longer than the window means that the server's clock was set back after the window opened.
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

/** Counts in a Redis or Valkey. */
export interface RedisCounter extends SharedCounter {
  /** Such as `redis 7.0.15`; empty until the first connection. */
  readonly server: string;
}

interface RedisCounterOptions {
  url: string;
  /** Called when Redis becomes unreachable, and when it is unreachable at the start. */
  onAway: (reason: string) => void;
  /** Called when Redis is reachable again. */
  onBack: () => void;
}

/** Resolves when Redis is connected and counts, or when it is unreachable. Reconnects until `close`. */
export async function openRedisCounter({ url, onAway, onBack }: RedisCounterOptions): Promise<RedisCounter> {
  const { protocol, hostname } = new URL(url);
  const redis = new Redis(url, {
    ...(protocol === 'rediss:' && { tls: isIP(hostname) === 0 ? { servername: hostname } : {} }),
    connectionName: 'itsm-api',
    disableClientInfo: true,
    scripts: { countInWindow: { lua: countInWindow, numberOfKeys: 1 } },
    connectTimeout: maxConnectMs,
    retryStrategy: () => reconnectMs,
    // While Redis is unreachable, this process counts: no command waits for the next connection.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    disconnectTimeout: 1,
  });
  let status: 'connecting' | 'reachable' | 'away' | 'closed' = 'connecting';
  let isReportedAway = false;
  let server = '';
  let connectTimer: NodeJS.Timeout | undefined;
  const { promise: known, resolve } = Promise.withResolvers<void>();

  function markAway(error: Error): void {
    clearTimeout(connectTimer);
    if (status === 'away' || status === 'closed') return;
    status = 'away';
    // If several addresses reject the connection, Node reports one error without a message.
    if (!isReportedAway) onAway(error.message || String((error as NodeJS.ErrnoException).code));
    isReportedAway = true;
    if (redis.status === 'connect' || redis.status === 'ready') redis.disconnect(true);
    resolve();
  }

  redis.on('error', markAway);
  redis.on('close', () => markAway(new Error('Redis has closed the connection.')));
  redis.on('connect', () => {
    status = 'connecting';
    connectTimer = setTimeout(() => markAway(noResponseWithin(maxConnectMs)), maxConnectMs);
  });
  redis.on('ready', async () => {
    try {
      server = await checkPermissions(redis);
    } catch (error) {
      return markAway(error as Error);
    }
    if (status !== 'connecting') return;
    clearTimeout(connectTimer);
    status = 'reachable';
    if (isReportedAway) onBack();
    isReportedAway = false;
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
        markAway(error as Error);
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
 * Counts in a short window to verify all permissions that requests need. Returns name and version, such as `redis
 * 7.0.15`.
 */
async function checkPermissions(redis: Redis): Promise<string> {
  await redis.countInWindow(`itsm:limits:proof:${randomUUID()}`, maxConnectMs, 1, 1);
  // HELLO returns alternating names and values. INFO would need another permission.
  const hello = (await redis.call('HELLO')) as unknown[];
  return ['server', 'version'].map((name) => hello[hello.indexOf(name) + 1]).join(' ');
}

/** Rejects if there is no response in time, unless it arrived while this process was busy. */
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
