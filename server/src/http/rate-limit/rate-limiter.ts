import rateLimit, { type FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import { groups, type Limit } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, formatSeconds } from '../../shared/errors.ts';
import { clientNetworkOf } from '../../shared/network/ip-networks.ts';
import type { RateLimitStore } from './rate-limit-windows.ts';

/**
 * The maximum number of requests per API key and window. `failures` is the maximum number of failed authentications per
 * IP address and minute.
 */
export interface RateLimits {
  global: number;
  group: number;
  windowSeconds: number;
  failures: number;
}

/** The endpoint group for MCP messages that call no endpoint. Its limit equals the global limit. */
const mcpGroup = 'mcp';

/** The state of an API key's rate limit window after a request. */
interface Window extends Limit {
  key: string;
  isExceeded: boolean;
  /** The end time of the window, as a value of `performance.now()`. */
  endsAt: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The state of the API key's rate limit windows after this request. `isCounted` is false if the server rejected or
     * refunded the request.
     */
    rateLimit: { isCounted: boolean; global: Window; group: Window } | undefined;
  }
}

export interface RateLimiter {
  /**
   * Counts the request in the global window and in the window of its endpoint group. If either window is full, counts
   * the request in neither. Always sets the rate limit headers.
   * @throws ApiError RATE_LIMIT_EXCEEDED (spec §8, docs/decisions/rate-and-concurrency-limits.md)
   */
  consume(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /**
   * Refunds a request that `consume` has counted, and updates the headers. Call this method if the server rejects a
   * request before it changes anything.
   */
  refund(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Returns all rate limit windows of the API key without counting a request. */
  readAll(request: FastifyRequest): Promise<Limit[]>;
  /** Counts a failed authentication from the request's IP address. @throws ApiError RATE_LIMIT_EXCEEDED */
  countFailure(request: FastifyRequest): Promise<void>;
  /**
   * Checks the number of failed authentications from the request's IP address.
   * @throws ApiError RATE_LIMIT_EXCEEDED if the address has too many failures
   */
  checkFailures(request: FastifyRequest): Promise<void>;
}

/** Creates the rate limiter of the API. @param onLimited called with the exceeded windows for each rejected request */
export async function createRateLimiter(
  app: FastifyInstance,
  store: RateLimitStore,
  limits: RateLimits,
  onLimited?: (windows: ('global' | 'group')[]) => void,
): Promise<RateLimiter> {
  // @fastify/rate-limit calls `new Store()`. This constructor returns the existing store, so that refunds change the
  // counts in that store.
  function Store() {
    return store;
  }
  app.decorateRequest('rateLimit');
  await app.register(rateLimit, { global: false, store: Store as unknown as FastifyRateLimitStoreCtor });

  const { windowSeconds } = limits;
  const limitOf = (group: string) => (group === 'global' || group === mcpGroup ? limits.global : limits.group);
  const createLimiter = (nameOf: (request: FastifyRequest) => string) =>
    app.createRateLimit({
      timeWindow: windowSeconds * 1000,
      max: (request) => limitOf(nameOf(request)),
      keyGenerator: (request) => keyOf(request, nameOf(request)),
    });
  const limiters = { global: createLimiter(() => 'global'), group: createLimiter(groupOf) };
  const failures = app.createRateLimit({
    timeWindow: failureWindowMs,
    max: limits.failures,
    keyGenerator: ({ ip }) => `failures:${clientNetworkOf(ip)}`,
  });

  async function count(kind: 'global' | 'group', request: FastifyRequest, increment: boolean): Promise<Window> {
    const counted = await limiters[kind](request, { increment });
    if (counted.isAllowed) throw new Error('No key is exempt from rate limits.');
    const { key, isExceeded, max: limit, remaining, ttl, ttlInSeconds: resetSeconds } = counted;
    const name = kind === 'global' ? kind : groupOf(request);
    return { key, isExceeded, name, limit, remaining, resetSeconds, windowSeconds, endsAt: performance.now() + ttl };
  }

  async function refund(window: Window): Promise<void> {
    // If the request's window has ended, there is nothing to refund, because the new window doesn't include the
    // request.
    const step = performance.now() < window.endsAt ? -1 : 0;
    Object.assign(window, await read(window.name, window.key, step));
  }

  async function read(name: string, key: string, step: 0 | -1): Promise<Limit> {
    const limit = limitOf(name);
    const { current, ttl } = await store.count(key, windowSeconds * 1000, limit, step);
    return { name, limit, remaining: Math.max(0, limit - current), resetSeconds: Math.ceil(ttl / 1000), windowSeconds };
  }

  return {
    async consume(request, reply) {
      const group = await count('group', request, true);
      const global = await count('global', request, !group.isExceeded);
      if (global.isExceeded) await refund(group);
      setHeaders(reply, global, group);
      const isCounted = !group.isExceeded && !global.isExceeded;
      request.rateLimit = { isCounted, global, group };
      if (isCounted) return;
      const exhausted = [global, group].filter(({ remaining }) => remaining === 0);
      onLimited?.(exhausted.map((window) => (window === global ? 'global' : 'group')));
      throw exceeded(exhausted);
    },

    async refund({ rateLimit }, reply) {
      if (!rateLimit?.isCounted) return;
      rateLimit.isCounted = false;
      const { global, group } = rateLimit;
      await Promise.all([refund(global), refund(group)]);
      setHeaders(reply, global, group);
    },

    readAll: (request) => Promise.all(['global', ...groups].map((name) => read(name, keyOf(request, name), 0))),

    async countFailure(request) {
      const counted = await failures(request);
      if (!counted.isAllowed && counted.isExceeded) throw tooManyFailures(counted.ttlInSeconds);
    },

    async checkFailures(request) {
      const counted = await failures(request, { increment: false });
      if (!counted.isAllowed && counted.remaining === 0) throw tooManyFailures(counted.ttlInSeconds);
    },
  };
}

const failureWindowMs = 60_000;

function tooManyFailures(seconds: number): ApiError {
  const message = `Too many requests from this address had no valid API key. Check the key and retry in ${formatSeconds(seconds)}.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: seconds });
}

function groupOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.tsRestRoute?.metadata.group ?? mcpGroup;
}

function keyOf({ identity: { tenantId, keyId } }: FastifyRequest, name: string): string {
  return `${tenantId}:${keyId}:${name}`;
}

function exceeded(windows: Window[]): ApiError {
  const seconds = Math.max(...windows.map(({ resetSeconds }) => resetSeconds));
  const used = windows.map(({ name, limit, windowSeconds }) => {
    const what = name === 'global' ? 'in total' : `for the endpoint group \`${name}\``;
    return `This API key has reached its limit of ${limit} requests per ${formatSeconds(windowSeconds)} ${what}.`;
  });
  return new ApiError('RATE_LIMIT_EXCEEDED', `${used.join(' ')} Retry in ${formatSeconds(seconds)}.`, {
    retryAfterSeconds: seconds,
  });
}

function setHeaders(reply: FastifyReply, global: Limit, group: Limit): void {
  // Of the two windows, the headers report the one with the smaller remaining quota. If the quotas are equal, they
  // report the one that ends later.
  const isGroupTighter =
    group.remaining === global.remaining
      ? group.resetSeconds > global.resetSeconds
      : group.remaining < global.remaining;
  const tighter = isGroupTighter ? group : global;
  reply.headers({
    'x-ratelimit-limit': tighter.limit,
    'x-ratelimit-remaining': tighter.remaining,
    'x-ratelimit-reset': tighter.resetSeconds,
    'ratelimit-policy': `${policyOf(global)}, ${policyOf(group)}`,
    ratelimit: `${remainderOf(global)}, ${remainderOf(group)}`,
  });
}

const policyOf = ({ name, limit, windowSeconds }: Limit) => `"${name}";q=${limit};w=${windowSeconds}`;
const remainderOf = ({ name, remaining, resetSeconds }: Limit) => `"${name}";r=${remaining};t=${resetSeconds}`;
