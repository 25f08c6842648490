import type { Endpoint } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { type AppRoute, validateResponse } from '@ts-rest/core';
import { initServer, type RequestValidationError } from '@ts-rest/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { ApiError } from '../shared/errors.ts';
import type { TenantLimiter } from '../shared/tenant-limiter.ts';
import { detailsOf, type Issue, unknownField, validationError } from '../shared/validation.ts';
import { activities } from './activities/handlers.ts';
import { articles } from './articles/handlers.ts';
import { assets } from './assets/handlers.ts';
import { comments } from './comments/handlers.ts';
import { deliveries } from './deliveries/handlers.ts';
import { type Kept, respondOnce, type StoredResponse } from './idempotency/idempotency.ts';
import { links } from './links/handlers.ts';
import { me } from './me/handlers.ts';
import { ping } from './ping/handlers.ts';
import { projects } from './projects/handlers.ts';
import { tasks } from './tasks/handlers.ts';
import { keptNewTickets } from './tickets/bulk-write.ts';
import { tickets } from './tickets/handlers.ts';
import { users } from './users/handlers.ts';
import { webhooks } from './webhooks/handlers.ts';
import { keptNewWebhook } from './webhooks/queries.ts';

/** The endpoints with responses that are too large to store completely or that contain a secret. */
const storageFormats = new Map<AppRoute, Kept>([
  [contract.tickets.createMany, keptNewTickets],
  [contract.webhooks.create, keptNewWebhook],
]);

/** Registers every endpoint of the contract with its handler. Rejects requests that violate the contract. */
export async function addResources(app: FastifyInstance, limiter: TenantLimiter): Promise<void> {
  const server = initServer();
  const resources = {
    ping,
    me,
    tickets,
    comments,
    links,
    assets,
    articles,
    activities,
    projects,
    tasks,
    users,
    webhooks,
    deliveries,
  };
  const router = server.router(contract, wrapHandlers(resources, limiter));
  await app.register(server.plugin(router), {
    logInitialization: false,
    jsonQuery: false,
    requestValidationErrorHandler: (error, { routeOptions }) => {
      throw requestError(error, routeOptions.config.tsRestRoute);
    },
  });
}

interface Input {
  request: FastifyRequest;
  reply: FastifyReply;
  appRoute: AppRoute;
}

type Handler = (input: Input) => Promise<StoredResponse>;

/** Wraps every handler with the behavior that all endpoints share. The innermost wrapper validates the response. */
function wrapHandlers<Resources extends object>(resources: Resources, limiter: TenantLimiter): Resources {
  const wrap = (handler: Handler) => addEtagHeader(limited(idempotent(validated(handler)), limiter));
  const ofResource = (handlers: object) => mapValues(handlers, (handler) => wrap(handler as Handler));
  return mapValues(resources, (handlers) => ofResource(handlers as object)) as Resources;
}

/** Makes a handler validate its response against the contract before the transaction commits. */
function validated(handler: Handler): Handler {
  return async (input) => {
    const response = await handler(input);
    return validateResponse({ appRoute: input.appRoute, response }) as StoredResponse;
  };
}

/** Adds support for `Idempotency-Key` to the handler of a POST endpoint. */
function idempotent(handler: Handler): Handler {
  return (input) => {
    const { appRoute } = input;
    return appRoute.method === 'POST' ? respondOnce(input, handler, storageFormats.get(appRoute)) : handler(input);
  };
}

/**
 * Applies the tenant's concurrency limit to a handler. Then checks the API key again, because it may have been revoked
 * while the request was queued or its body was arriving.
 */
function limited(handler: Handler, limiter: TenantLimiter): Handler {
  return (input) => {
    const { request, reply } = input;
    if (request.identity === undefined) return handler(input);
    return limiter.run(request.identity.tenantId, async () => {
      await request.confirm(reply);
      return handler(input);
    });
  };
}

/** Makes a handler add the resource's ETag to its response. `no-cache` makes clients revalidate stored copies. */
function addEtagHeader(handler: Handler): Handler {
  return async (input) => {
    const response = await handler(input);
    const { etag } = response.body.data as { etag?: string };
    if (etag !== undefined) input.reply.headers({ etag, 'cache-control': 'private, no-cache' });
    return response;
  };
}

function mapValues(object: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function requestError({ pathParams, headers, query, body }: RequestValidationError, route: Endpoint): ApiError {
  const known = { query: fieldsOf(route.query), body: fieldsOf('body' in route ? route.body : undefined) };
  return validationError([
    ...detailsOf(pathParams?.issues ?? [], 'is not a part of this path'),
    ...detailsOf(headers?.issues ?? [], 'is not a header of this request'),
    ...detailsOf(parameterIssues(query?.issues ?? []), 'is not a parameter of this endpoint', known.query),
    ...detailsOf(body?.issues ?? [], unknownField, known.body),
  ]);
}

function fieldsOf(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/**
 * Shortens the path of each issue to the name of the query parameter. An index in the path would confuse clients that
 * send only one value.
 */
function parameterIssues(issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, path: issue.path?.slice(0, 1) }));
}
