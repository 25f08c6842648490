import type { Endpoint, Limit } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { KeyDetails } from '../../auth/api-keys/key-details.ts';
import type { KeyIdentity, KeyLookup } from '../../auth/api-keys/key-lookup.ts';
import type { LastUsed } from '../../auth/api-keys/last-used.ts';
import type { Services, UserContext } from '../../resources/shared/context.ts';
import { ApiError } from '../../shared/errors.ts';
import type { RateLimitStore } from '../rate-limit/rate-limit-windows.ts';
import { createRateLimiter, type RateLimits } from '../rate-limit/rate-limiter.ts';
import { invalidKey, keyOf } from './api-key-header.ts';

/**
 * If a request took longer to arrive or waited longer, its key is looked up again before the handler runs.
 * Milliseconds.
 */
const recheckAfterMs = 500;

type GiveBack = (reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The owner of the API key; set by the guard on every endpoint that requires a key. */
    identity: KeyIdentity;
    /** What the handler needs to run queries; set together with `identity`. */
    ctx: UserContext;
    /**
     * Sets `identity` and `ctx` from the API key of the request.
     * @throws ApiError INVALID_API_KEY; RATE_LIMIT_EXCEEDED after too many failures from the same address
     */
    identify(): Promise<void>;
    /**
     * Looks up the key again if the request waited for a long time: the key may have been revoked or lost a scope.
     * @throws ApiError INVALID_API_KEY, INSUFFICIENT_SCOPE
     */
    confirm(reply: FastifyReply): Promise<void>;
    /** Counts the request in the rate limits of its key. @throws ApiError RATE_LIMIT_EXCEEDED */
    takeRequest(reply: FastifyReply): Promise<void>;
    /** Refunds the request to the rate limits of its key, if it is rejected before it has any effect. */
    giveBack: GiveBack;
    /** Returns the details of the key that its holder may see, and the remaining quota of its rate limits. */
    describeKey(): Promise<KeyDetails & { limits: Limit[] }>;
  }
  interface FastifyContextConfig {
    /** The contract's entry of the route; absent on pages outside the API. */
    tsRestRoute: Endpoint;
  }
}

export interface GuardOptions {
  keys: KeyLookup;
  lastUsed: LastUsed;
  store: RateLimitStore;
  limits: RateLimits;
  /** Called for each request beyond the limits of its key, with the exceeded windows. */
  onLimited?: ((windows: ('global' | 'group')[]) => void) | undefined;
  services: Services;
}

/**
 * Authenticates each request, applies both rate limits and checks the scope, in this order (docs/decisions/errors.md).
 * The contract defines the scope of each route. One hook covers every endpoint, so no endpoint can lack the check.
 */
export async function addGuard(
  app: FastifyInstance,
  { keys, lastUsed, store, limits, onLimited, services }: GuardOptions,
): Promise<void> {
  app.decorateRequest('identity');
  app.decorateRequest('ctx');
  const limiter = await createRateLimiter(app, store, limits, onLimited);

  async function authenticate(request: FastifyRequest): Promise<KeyIdentity> {
    return requireIdentity(await keys.find(keyOf(request.raw), () => limiter.checkFailures(request)));
  }

  app.decorateRequest('identify', async function () {
    const identity = await authenticate(this).catch(async (error) => {
      if (error instanceof ApiError && error.code === 'INVALID_API_KEY') await limiter.countFailure(this);
      throw error;
    });
    this.identity = identity;
    this.ctx = { ...services, db: identity.db, userId: identity.userId, keyId: identity.keyId };
    lastUsed.touch(identity);
  });

  app.decorateRequest('takeRequest', function (reply) {
    return limiter.consume(this, reply);
  });

  app.decorateRequest('giveBack', function (reply) {
    return limiter.refund(this, reply);
  });

  app.decorateRequest('describeKey', async function () {
    const [details, limits] = await Promise.all([keys.describe(this.identity), limiter.look(this)]);
    return { ...details, limits };
  });

  app.decorateRequest('confirm', async function (reply) {
    if (reply.elapsedTime < recheckAfterMs) return;
    checkScope(
      requireIdentity(await keys.findAgain(this.identity)),
      this.routeOptions.config.tsRestRoute.metadata.scope,
    );
  });

  app.addHook('onRequest', async (request, reply) => {
    const scope = request.routeOptions.config.tsRestRoute?.metadata.scope ?? null;
    if (scope === null) return;

    await request.identify();
    await request.takeRequest(reply);

    checkScope(request.identity, scope);
  });
}

/** Doesn't name the reason, because that would help an attacker to guess keys. */
const invalidKeyMessage = 'The API key is invalid, expired or revoked. Send the complete key, or create a new one.';

/** @throws ApiError INVALID_API_KEY */
function requireIdentity(identity: KeyIdentity | undefined): KeyIdentity {
  if (identity === undefined) throw invalidKey(invalidKeyMessage);
  return identity;
}

/** @throws ApiError INSUFFICIENT_SCOPE */
function checkScope({ scopes }: KeyIdentity, scope: Endpoint['metadata']['scope']): void {
  if (scope === null || scope === 'any' || scopes.has(scope)) return;
  throw new ApiError('INSUFFICIENT_SCOPE', `This API key lacks the scope ${scope}. Use a key that has it.`);
}
