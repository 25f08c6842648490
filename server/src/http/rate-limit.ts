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

  async function readWindows(request: FastifyRequest, group: Group, increment: boolean): Promise<[Window, Window]> {
    const read = async (name: string, limit: number, take: typeof overall): Promise<Window> => {
      const state = await take(request, { increment });
      if (state.isAllowed) throw new Error('No key is on an allow list.');
      return { name, limit, remaining: state.remaining, resetSeconds: state.ttlInSeconds || windowSeconds };
    };
    return [await read('global', limits.global, overall), await read(group, limits.group, grouped)];
  }

  async function take(request: FastifyRequest, reply: FastifyReply, group: Group): Promise<void> {
    const before = await readWindows(request, group, false);
    const exhausted = before.filter((window) => window.remaining === 0);
    if (exhausted.length === 0) {
      setHeaders(reply, await readWindows(request, group, true), windowSeconds);
      return;
    }
    setHeaders(reply, before, windowSeconds);
    const seconds = Math.max(...exhausted.map((window) => window.resetSeconds));
    throw new ApiError(
      'RATE_LIMIT_EXCEEDED',
      `${describe(exhausted, windowSeconds)} Try again in ${seconds} seconds.`,
      {
        retryAfterSeconds: seconds,
      },
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
