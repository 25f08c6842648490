import { contract, type Endpoint } from '@itsm-api/contract';
import { type AppRoute, validateResponse } from '@ts-rest/core';
import { initServer, type RequestValidationError } from '@ts-rest/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { ApiError } from '../shared/errors.ts';
import { etagOf } from '../shared/etag.ts';
import type { TenantLimiter } from '../shared/tenant-limiter.ts';
import { detailsOf, type Issue, unknownField, validationError } from '../shared/validation.ts';
import { activities } from './activities/handlers.ts';
import { assets } from './assets/handlers.ts';
import { comments } from './comments/handlers.ts';
import { deliveries } from './deliveries/handlers.ts';
import { type Kept, respondOnce, type StoredResponse } from './idempotency/idempotency.ts';
import { me } from './me/handlers.ts';
import { ping } from './ping/handlers.ts';
import { projects } from './projects/handlers.ts';
import { tasks } from './tasks/handlers.ts';
import { keptNewTickets } from './tickets/bulk-create.ts';
import { tickets } from './tickets/handlers.ts';
import { users } from './users/handlers.ts';
import { webhooks } from './webhooks/handlers.ts';
import { keptNewWebhook } from './webhooks/queries.ts';

/** What is stored under an `Idempotency-Key` of answers that are too large, or have a secret. */
const kept = new Map<AppRoute, Kept>([
  [contract.tickets.createMany, keptNewTickets],
  [contract.webhooks.create, keptNewWebhook],
]);

/** Registers every endpoint of the contract with its handler; what the contract finds wrong is thrown as ApiError. */
export async function addResources(app: FastifyInstance, fairUse: TenantLimiter): Promise<void> {
  const server = initServer();
  const resources = { ping, me, tickets, comments, assets, activities, projects, tasks, users, webhooks, deliveries };
  const router = server.router(contract, wrapped(resources, fairUse));
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

/** Every handler with what holds for all of them, from the inside out. */
function wrapped<Resources extends object>(resources: Resources, fairUse: TenantLimiter): Resources {
  const wrap = (handler: Handler) => tagged(inItsTurn(once(asPromised(handler)), fairUse));
  const ofResource = (handlers: object) => mapValues(handlers, (handler) => wrap(handler as Handler));
  return mapValues(resources, (handlers) => ofResource(handlers as object)) as Resources;
}

/** Has a handler's answer hold what the contract says and no more; one that doesn't fit fails before it is committed. */
function asPromised(handler: Handler): Handler {
  return async (input) => {
    const response = await handler(input);
    const etag = etagOf(response.body.data as object);
    return { ...(validateResponse({ appRoute: input.appRoute, response }) as StoredResponse), etag };
  };
}

/** Has a POST that carries an `Idempotency-Key` answered once. */
function once(handler: Handler): Handler {
  return (input) => {
    const { appRoute } = input;
    return appRoute.method === 'POST' ? respondOnce(input, handler, kept.get(appRoute)) : handler(input);
  };
}

/**
 * Has a handler that asks for a tenant's data run in a place of that tenant's, until it has its answer. Until it got one, and
 * until its body was there, its key may have been revoked.
 */
function inItsTurn(handler: Handler, fairUse: TenantLimiter): Handler {
  return (input) => {
    const { request, reply } = input;
    if (request.identity === undefined) return handler(input);
    return fairUse.run(request.identity.tenantId, async () => {
      await request.confirm(reply);
      return handler(input);
    });
  };
}

/** Has a resource's answer say in which state it is: who keeps it asks whether it still holds, and nobody does for others. */
function tagged(handler: Handler): Handler {
  return async (input) => {
    const answer = await handler(input);
    if (answer.etag !== undefined) input.reply.headers({ etag: answer.etag, 'cache-control': 'private, no-cache' });
    return answer;
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

/** The issues of a query by parameter: the position of a value in a filter means nothing to a caller who sent one value. */
function parameterIssues(issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, path: issue.path?.slice(0, 1) }));
}
