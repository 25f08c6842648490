import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from '../../config/env.ts';
import { createMemoryCounter, RateLimitStore } from './rate-limit-windows.ts';

interface StoreOptions {
  settings: Pick<Settings, 'RATE_LIMIT_STORE' | 'REDIS_URL'>;
  /** Returns the time of a monotonic clock in milliseconds. */
  clock: () => number;
  logger: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Opens the store for rate limit counts. The store keeps the counts either in the memory of this process or on a Redis
 * server that all processes share.
 */
export async function openRateLimitStore({ settings, clock, logger }: StoreOptions): Promise<RateLimitStore> {
  const memory = createMemoryCounter(clock);
  const url = settings.RATE_LIMIT_STORE === 'redis' ? settings.REDIS_URL : undefined;
  if (url === undefined) return new RateLimitStore(memory);
  // The Redis client uses 8 MB of memory, so the process loads the client only if a setting configures Redis.
  const { openRedisCounter } = await import('./redis-windows.ts');
  const redis = await openRedisCounter({
    url,
    onUnavailable: (reason) =>
      logger.warn({ reason }, 'Redis is unreachable. Rate limits are counted in this process.'),
    onAvailable: () => logger.warn('Redis is reachable again. Rate limits are shared between processes.'),
  });
  return new RateLimitStore(memory, redis);
}
