import type { Endpoint, Limit } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkAddress } from '../../auth/api-keys/allowed-networks.ts';
import type { KeyDetails } from '../../auth/api-keys/key-details.ts';
import type { KeyIdentity, KeyLookup } from '../../auth/api-keys/key-lookup.ts';
import type { LastUsed } from '../../auth/api-keys/last-used.ts';
import type { Services, UserContext } from '../../resources/shared/context.ts';
import { ApiError, maintenanceError } from '../../shared/errors.ts';
import type { RateLimitStore } from '../rate-limit/rate-limit-windows.ts';
import { createRateLimiter, type RateLimits } from '../rate-limit/rate-limiter.ts';
import { invalidKey, keyOf } from './api-key-header.ts';

/** If a request is older than this number of milliseconds, `confirm` looks up its API key again. */
const recheckAfterMs = 500;

/** What a request does with the data of the tenant. During maintenance, the server can still accept reads. */
type Access = 'read' | 'write';

type RefundRateLimit = (reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The owner of the API key. The authentication hook sets `identity` for every endpoint that requires an API key.
     */
    identity: KeyIdentity;
    /** The context for database queries. The authentication hook sets `ctx` together with `identity`. */
    ctx: UserContext;
    /**
     * Sets `identity` and `ctx` from the API key of the request.
     * @throws ApiError INVALID_API_KEY; SERVICE_UNAVAILABLE if the maintenance of the tenant stops this access;
     * ADDRESS_NOT_ALLOWED; or RATE_LIMIT_EXCEEDED after too many failed authentications from one IP address
     */
    identify(access: Access): Promise<void>;
    /**
     * Looks up the API key again and sets `identity`, if the request is older than `recheckAfterMs`. An administrator
     * may have revoked the key or removed a scope since the first lookup, or maintenance of the tenant may have begun.
     * @throws ApiError INVALID_API_KEY, SERVICE_UNAVAILABLE, ADDRESS_NOT_ALLOWED, INSUFFICIENT_SCOPE
     */
    confirm(reply: FastifyReply): Promise<void>;
    /** Counts the request toward the rate limits of its API key. @throws ApiError RATE_LIMIT_EXCEEDED */
    takeRequest(reply: FastifyReply): Promise<void>;
    /**
     * Removes the request from the rate limit counts of its API key. Call this method if the server rejects a request
     * before it changes anything.
     */
    refundRateLimit: RefundRateLimit;
    /** Returns the details of the request's API key and the remaining quota for each of the key's rate limits. */
    describeKey(): Promise<KeyDetails & { limits: Limit[] }>;
  }
  interface FastifyContextConfig {
    /** The contract endpoint that the route implements. Undefined for pages outside the API. */
    tsRestRoute: Endpoint;
  }
}

export interface GuardOptions {
  keys: KeyLookup;
  lastUsed: LastUsed;
  store: RateLimitStore;
  limits: RateLimits;
  /** Called for each request that exceeds a rate limit of its API key. The argument contains the exceeded windows. */
  onLimited?: ((windows: ('global' | 'group')[]) => void) | undefined;
  services: Services;
}

/**
 * Adds a hook that authenticates each request, checks the client's IP address, applies the rate limits and then checks
 * the scope (docs/decisions/errors.md). The contract defines the scope for each endpoint. One hook checks all
 * endpoints, so no endpoint can skip the check.
 */
export async function addGuard(
  app: FastifyInstance,
  { keys, lastUsed, store, limits, onLimited, services }: GuardOptions,
): Promise<void> {
  app.decorateRequest('identity');
  app.decorateRequest('ctx');
  const limiter = await createRateLimiter(app, store, limits, onLimited);

  async function authenticate(request: FastifyRequest, access: Access): Promise<KeyIdentity> {
    return requireIdentity(await keys.find(keyOf(request.raw), () => limiter.checkFailures(request)), access);
  }

  app.decorateRequest('identify', async function (access) {
    const identity = await authenticate(this, access).catch(async (error) => {
      if (error instanceof ApiError && error.code === 'INVALID_API_KEY') await limiter.countFailure(this);
      throw error;
    });
    this.identity = identity;
    this.ctx = {
      ...services,
      db: identity.db,
      userId: identity.userId,
      keyId: identity.keyId,
      isImport: identity.isImport,
      hasFieldRules: identity.hasFieldRules,
      from: () => ({ address: this.ip, userAgent: this.headers['user-agent'] ?? '' }),
    };
    try {
      checkAddress(identity.networks, this);
    } catch (error) {
      await limiter.countFailure(this);
      throw error;
    }
    lastUsed.touch(identity, this);
  });

  app.decorateRequest('takeRequest', function (reply) {
    return limiter.consume(this, reply);
  });

  app.decorateRequest('refundRateLimit', function (reply) {
    return limiter.refund(this, reply);
  });

  app.decorateRequest('describeKey', async function () {
    const [details, limits] = await Promise.all([keys.describe(this.identity), limiter.readAll(this)]);
    return { ...details, limits };
  });

  app.decorateRequest('confirm', async function (reply) {
    if (reply.elapsedTime < recheckAfterMs) return;
    const identity = requireIdentity(await keys.findAgain(this.identity), accessOf(this));
    checkAddress(identity.networks, this);
    checkScope(identity, this.routeOptions.config.tsRestRoute);
    this.identity = identity;
  });

  app.addHook('onRequest', async (request, reply) => {
    const route: Endpoint | undefined = request.routeOptions.config.tsRestRoute;
    if (route === undefined || route.metadata.scope === null) return;

    await request.identify(accessOf(request));
    await request.takeRequest(reply);

    checkScope(request.identity, route);
  });
}

/**
 * The message doesn't say whether the key is unknown, expired or revoked. That information would help an attacker guess
 * API keys.
 */
const invalidKeyMessage = 'The API key is invalid, expired or revoked. Send the complete key, or create a new one.';

/** Returns the access of a request to an endpoint. */
function accessOf({ method }: FastifyRequest): Access {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write';
}

/**
 * Returns the given identity.
 * @throws ApiError INVALID_API_KEY if the identity is undefined, or SERVICE_UNAVAILABLE if the maintenance of its tenant
 * stops this access
 */
function requireIdentity(identity: KeyIdentity | undefined, access: Access): KeyIdentity {
  if (identity === undefined) throw invalidKey(invalidKeyMessage);
  if (access === 'read' ? identity.isUnavailable : identity.isInMaintenance) throw maintenanceError();
  return identity;
}

/** Checks that an API key has the scope of an endpoint, and may do more than propose. @throws ApiError INSUFFICIENT_SCOPE */
function checkScope({ scopes, isProposing }: KeyIdentity, { method, metadata }: Endpoint): void {
  const { scope, proposable } = metadata;
  if (scope === null || scope === 'any') return;
  if (!scopes.has(scope)) {
    throw new ApiError('INSUFFICIENT_SCOPE', `This API key lacks the scope ${scope}. Use a key that has it.`);
  }
  if (!isProposing || method === 'GET') return;
  const advice =
    proposable === undefined
      ? "This operation can't be proposed. Use another key."
      : `Send \`POST /proposals\` with the \`operation\` ${proposable}, its \`params\` and \`body\`, and a \`reason\`.`;
  throw new ApiError('INSUFFICIENT_SCOPE', `This API key can only propose changes. ${advice}`);
}
