import { AsyncLocalStorage } from 'node:async_hooks';
import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit';
import { groups, type Limit } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { agentMessages, type RateLimitStore, type Taken, type Window } from './rate-limit-store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What was taken for the request from the windows of its key. */
    taken: Taken | undefined;
  }
}

export interface RateLimiter {
  /**
   * Takes a request from both windows of its key, or from neither and throws RATE_LIMIT_EXCEEDED
   * (spec §8, docs/decisions/rate-limits.md). Sets the headers on the reply either way.
   */
  take(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Puts back what was taken for a request that is refused for another reason, and tells so in the headers. */
  giveBack(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Every window of the request's key as it stands; nothing is taken from any. */
  look(request: FastifyRequest): Promise<Limit[]>;
}

/** @param onRefused told of each request that is refused, and by which windows */
export async function createRateLimiter(
  app: FastifyInstance,
  store: RateLimitStore,
  windowSeconds: number,
  onRefused?: (windows: ('global' | 'group')[]) => void,
): Promise<RateLimiter> {
  // The plugin asks its store for one window and hands nothing else on: the two go beside it.
  const asked = new AsyncLocalStorage<FastifyRequest>();

  class PluginStore implements FastifyRateLimitStore {
    incr(key: string, done: Parameters<FastifyRateLimitStore['incr']>[1]): void {
      const request = asked.getStore() as FastifyRequest;
      store.take(key).then((taken) => {
        request.taken = taken;
        // What the plugin makes of it, nobody reads.
        done(null, { current: 0, ttl: 0 });
      }, done);
    }

    child(): this {
      return this;
    }
  }

  app.decorateRequest('taken');
  await app.register(rateLimit, { global: false, store: PluginStore, keyGenerator: keyOf });
  const takeFromBoth = app.createRateLimit();

  return {
    async take(request, reply) {
      await asked.run(request, () => takeFromBoth(request));
      const taken = request.taken as Taken;
      setHeaders(reply, taken, windowSeconds);
      if (taken.isTaken) return;
      onRefused?.((['global', 'group'] as const).filter((window) => taken[window].remaining === 0));
      throw exceeded(taken, windowSeconds);
    },

    async giveBack(request, reply) {
      if (!request.taken?.isTaken) return;
      request.taken = await store.giveBack(keyOf(request), request.taken);
      setHeaders(reply, request.taken, windowSeconds);
    },

    async look({ identity }) {
      const windows = await store.look(windowKey(identity), groups);
      return windows.map(({ name, limit, remaining, resetSeconds }) => {
        return { name, limit, remaining, resetSeconds, windowSeconds };
      });
    },
  };
}

function keyOf({ identity, routeOptions }: FastifyRequest): string {
  return `${windowKey(identity)}:${routeOptions.config.tsRestRoute?.metadata.group ?? agentMessages}`;
}

/** What the windows of a key are kept by. */
function windowKey({ tenantId, keyId }: FastifyRequest['identity']): string {
  return `${tenantId}:${keyId}`;
}

/** The window with less left or, where that is the same, the one that opens later. */
function tighterOf({ global, group }: Taken): Window {
  const isGroup =
    group.remaining < global.remaining ||
    (group.remaining === global.remaining && group.resetSeconds >= global.resetSeconds);
  return isGroup ? group : global;
}

function exceeded({ global, group }: Taken, windowSeconds: number): ApiError {
  const exhausted = [global, group].filter(({ remaining }) => remaining === 0);
  const seconds = Math.max(...exhausted.map(({ resetSeconds }) => resetSeconds));
  const used = exhausted.map(({ name, limit }) => {
    const what = name === 'global' ? 'all endpoints' : `${name} endpoints`;
    return `This key has used its ${limit} requests per ${windowSeconds} seconds on ${what}.`;
  });
  return new ApiError('RATE_LIMIT_EXCEEDED', `${used.join(' ')} Try again in ${seconds} seconds.`, {
    retryAfterSeconds: seconds,
  });
}

function setHeaders(reply: FastifyReply, taken: Taken, windowSeconds: number): void {
  const tighter = tighterOf(taken);
  const windows = [taken.global, taken.group];
  reply.headers({
    'x-ratelimit-limit': tighter.limit,
    'x-ratelimit-remaining': tighter.remaining,
    'x-ratelimit-reset': tighter.resetSeconds,
    'ratelimit-policy': windows.map(({ name, limit }) => `"${name}";q=${limit};w=${windowSeconds}`).join(', '),
    ratelimit: windows
      .map(({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`)
      .join(', '),
  });
}
