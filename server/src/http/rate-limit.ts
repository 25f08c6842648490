import rateLimit from '@fastify/rate-limit';
import type { Group } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';

export interface RateLimits {
  /** Requests per key and window, over all. */
  global: number;
  /** Requests per key and window in one group. */
  group: number;
  windowSeconds: number;
}

/** One window as it stands for a key. */
interface Window {
  name: string;
  limit: number;
  remaining: number;
  /** The request that was just taken is over the limit. */
  exceeded: boolean;
  resetSeconds: number;
}

/** Keys whose windows are kept at once. */
const keysKept = 100_000;

/**
 * Takes a request from both windows of its key, or from neither and throws RATE_LIMIT_EXCEEDED
 * (spec §8, docs/decisions/rate-limits.md). Sets the headers on the reply either way.
 */
export async function createRateLimiter(app: FastifyInstance, limits: RateLimits) {
  await app.register(rateLimit, { global: false });
  const { windowSeconds } = limits;

  function limiter(max: number, keyGenerator: (request: FastifyRequest) => string) {
    // `cache` is missing in the package's types; without it 5,000 keys are kept.
    const options = { max, timeWindow: windowSeconds * 1000, cache: keysKept, keyGenerator };
    return app.createRateLimit(options);
  }
  const overall = limiter(limits.global, ({ identity }) => String(identity.keyId));
  const grouped = limiter(limits.group, ({ identity, routeOptions }) => {
    return `${identity.keyId} ${routeOptions.config.tsRestRoute.metadata.group}`;
  });

  async function look(name: string, limiter: typeof overall, request: FastifyRequest): Promise<Window> {
    return windowOf(name, await limiter(request, { increment: false }));
  }

  async function takeFrom(name: string, limiter: typeof overall, request: FastifyRequest): Promise<Window> {
    return windowOf(name, await limiter(request));
  }

  function windowOf(name: string, state: Awaited<ReturnType<typeof overall>>): Window {
    if (state.isAllowed) throw new Error('No key is on an allow list.');
    const { max: limit, remaining, isExceeded: exceeded } = state;
    return { name, limit, remaining, exceeded, resetSeconds: state.ttlInSeconds || windowSeconds };
  }

  async function take(request: FastifyRequest, reply: FastifyReply, group: Group): Promise<void> {
    const groupBefore = await look(group, grouped, request);
    const groupHasRoom = groupBefore.remaining > 0;
    // Taking from an exhausted window changes nothing: it stays so until its end.
    const all = await (groupHasRoom ? takeFrom : look)('global', overall, request);
    if (groupHasRoom && !all.exceeded) {
      setHeaders(reply, [all, await takeFrom(group, grouped, request)], windowSeconds);
      return;
    }
    setHeaders(reply, [all, groupBefore], windowSeconds);
    const exhausted = [all, groupBefore].filter((window) => window.remaining === 0);
    const seconds = Math.max(...exhausted.map((window) => window.resetSeconds));
    throw new ApiError(
      'RATE_LIMIT_EXCEEDED',
      `${describe(exhausted, windowSeconds)} Try again in ${seconds} seconds.`,
      { retryAfterSeconds: seconds },
    );
  }

  // Reading and taking are several steps: one request at a time, or two could take the last place.
  let turn: Promise<void> = Promise.resolve();
  return (request: FastifyRequest, reply: FastifyReply, group: Group): Promise<void> => {
    const mine = turn.then(() => take(request, reply, group));
    turn = mine.catch(() => undefined);
    return mine;
  };
}

function describe(exhausted: Window[], windowSeconds: number): string {
  return exhausted
    .map(({ name, limit }) => {
      const what = name === 'global' ? 'all endpoints' : `${name} endpoints`;
      return `This key has used its ${limit} requests per ${windowSeconds} seconds on ${what}.`;
    })
    .join(' ');
}

function setHeaders(reply: FastifyReply, windows: [Window, Window], windowSeconds: number): void {
  const [overall, group] = windows;
  const tighter = group.remaining <= overall.remaining ? group : overall;
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
