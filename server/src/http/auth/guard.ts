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

/** A key is looked at again before anything is done when the request has taken longer to arrive, or waited. Milliseconds. */
const lookAgainMs = 500;

type GiveBack = (reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key the request carries; set by the guard on every endpoint that needs one. */
    identity: KeyIdentity;
    /** What the handler's queries may use; set together with `identity`. */
    ctx: UserContext;
    /**
     * Sets `identity` and `ctx` from the request's key.
     * @throws ApiError INVALID_API_KEY; RATE_LIMIT_EXCEEDED after too many failures of its address
     */
    identify(): Promise<void>;
    /**
     * Looks at its key again, where it took long until its turn came: it may have been revoked, or narrowed, since.
     * @throws ApiError INVALID_API_KEY, INSUFFICIENT_SCOPE
     */
    confirm(reply: FastifyReply): Promise<void>;
    /** Takes the request from the limits of its key. @throws ApiError RATE_LIMIT_EXCEEDED */
    takeRequest(reply: FastifyReply): Promise<void>;
    /** Puts back what the request took from the limits of its key: for one that is refused before it did anything. */
    giveBack: GiveBack;
    /** What may be told of its key to whoever sends it, and what is left of the key's limits. */
    describeKey(): Promise<KeyDetails & { limits: Limit[] }>;
  }
  interface FastifyContextConfig {
    /** The contract's entry of the route; absent on the pages that are no part of the API. */
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
 * Lets a request on to its handler: key, then both rate limits, then scope (docs/decisions/errors.md), as the
 * contract says of the route. One hook for every endpoint, so none can be without.
 */
export async function addGuard(
  app: FastifyInstance,
  { keys, lastUsed, store, limits, onLimited, services }: GuardOptions,
): Promise<void> {
  app.decorateRequest('identity');
  app.decorateRequest('ctx');
  const limiter = await createRateLimiter(app, store, limits, onLimited);

  async function authenticate(request: FastifyRequest): Promise<KeyIdentity> {
    return valid(await keys.find(keyOf(request.raw), () => limiter.checkFailures(request)));
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
    const [facts, limits] = await Promise.all([keys.describe(this.identity), limiter.look(this)]);
    return { ...facts, limits };
  });

  app.decorateRequest('confirm', async function (reply) {
    if (reply.elapsedTime < lookAgainMs) return;
    checkScope(valid(await keys.findAgain(this.identity)), this.routeOptions.config.tsRestRoute.metadata.scope);
  });

  app.addHook('onRequest', async (request, reply) => {
    const scope = request.routeOptions.config.tsRestRoute?.metadata.scope ?? null;
    if (scope === null) return;

    await request.identify();
    await request.takeRequest(reply);

    checkScope(request.identity, scope);
  });
}

/** Doesn't say which: that would help to guess keys. */
const invalid = 'The API key is invalid, expired or revoked. Send the complete key, or create a new one.';

/** @throws ApiError INVALID_API_KEY */
function valid(identity: KeyIdentity | undefined): KeyIdentity {
  if (identity === undefined) throw invalidKey(invalid);
  return identity;
}

/** @throws ApiError INSUFFICIENT_SCOPE */
function checkScope({ scopes }: KeyIdentity, scope: Endpoint['metadata']['scope']): void {
  if (scope === null || scope === 'any' || scopes.has(scope)) return;
  throw new ApiError('INSUFFICIENT_SCOPE', `This API key lacks the scope ${scope}. Use a key that has it.`);
}
