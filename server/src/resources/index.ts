import type { Endpoint } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { type AppRoute, validateResponse } from '@ts-rest/core';
import { initServer, type RequestValidationError } from '@ts-rest/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { ApiError } from '../shared/errors.ts';
import type { TenantLimiter } from '../shared/limiters/tenant-limiter.ts';
import type { TransferLimiter } from '../shared/limiters/transfer-limiter.ts';
import { detailsOf, type Issue, unknownField, validationError } from '../shared/validation.ts';
import { activities } from './activities/handlers.ts';
import { articles } from './articles/handlers.ts';
import { assets } from './assets/handlers.ts';
import {
  attachOrDelete,
  checkUpload,
  onceClosed,
  openFile,
  readUploadHeaders,
  receiveFile,
} from './attachments/file-transfer.ts';
import { attachments } from './attachments/handlers.ts';
import type { AttachmentFile } from './attachments/queries.ts';
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

/** The limits that endpoints share with the developer area. */
export interface Limiters {
  limiter: TenantLimiter;
  transfers: TransferLimiter;
}

/** Registers every endpoint of the contract with its handler. Rejects requests that violate the contract. */
export async function addResources(app: FastifyInstance, limiters: Limiters): Promise<void> {
  const server = initServer();
  const resources = {
    ping,
    me,
    tickets,
    comments,
    attachments,
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
  const wrapped = wrapHandlers(resources, limiters);
  /** Registers the endpoints whose request body is a file, or all other endpoints. */
  const register = (scope: FastifyInstance, { takesFile }: { takesFile: boolean }) => {
    const handlers = selectHandlers(wrapped, (route) => (route.metadata.binary === 'request') === takesFile);
    return scope.register(server.plugin(server.router(contract, handlers)), {
      logInitialization: false,
      jsonQuery: false,
      requestValidationErrorHandler: (error, { routeOptions }) => {
        throw requestError(error, routeOptions.config.tsRestRoute);
      },
    });
  };
  app.decorateRequest('storedFile', undefined);
  await register(app, { takesFile: false });
  await app.register(async (scope) => {
    // Leaves the body in the connection. `receiving` reads it after it has checked the request.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
    await register(scope, { takesFile: true });
  });
}

/** Returns the handlers of the endpoints that match a condition, by resource. */
function selectHandlers<Resources extends object>(
  resources: Resources,
  matches: (route: Endpoint) => boolean,
): Resources {
  return mapValues(resources, (handlers, resource) => {
    const entries = Object.entries(handlers as object).filter(([name]) => matches(getRoute(resource, name)));
    return Object.fromEntries(entries);
  }) as Resources;
}

function getRoute(resource: string, name: string): Endpoint {
  return (contract as unknown as Record<string, Record<string, Endpoint>>)[resource]?.[name] as Endpoint;
}

interface Input {
  request: FastifyRequest;
  reply: FastifyReply;
  appRoute: AppRoute;
  params?: unknown;
}

type Handler = (input: Input) => Promise<StoredResponse>;

/**
 * Wraps every handler with the behavior that all endpoints share. The innermost wrapper validates the response. An
 * endpoint with a file as a body has additional wrappers.
 */
function wrapHandlers<Resources extends object>(resources: Resources, limiters: Limiters): Resources {
  const wrap = (handler: Handler, { metadata }: Endpoint) => {
    if (metadata.binary === 'response') return sending(limited(handler, limiters), limiters);
    const work = limited(idempotent(validated(handler)), limiters);
    return addEtagHeader(metadata.binary === 'request' ? receiving(work, limiters) : work);
  };
  return mapValues(resources, (handlers, resource) =>
    mapValues(handlers as object, (handler, name) => wrap(handler as Handler, getRoute(resource, name))),
  ) as Resources;
}

/**
 * Makes a handler run after the file in the request has been stored. Checks the request before it reads the file. The
 * concurrency limit applies to the check and to the handler, but not while the file arrives.
 */
function receiving(handler: Handler, { limiter, transfers }: Limiters): Handler {
  const check = limited(checkUpload, { limiter });
  return async (input) => {
    const { request, reply } = input;
    readUploadHeaders(request, reply);
    const release = transfers.acquire(request.identity.tenantId, 'uploads');
    try {
      await check(input);
      const file = await receiveFile(input);
      request.storedFile = file;
      return await attachOrDelete(request.ctx, file, () => handler(input));
    } finally {
      release();
    }
  };
}

/** Sends the content of the attachment that a handler returns. No limit of requests applies while the content is sent. */
function sending(handler: Handler, { transfers }: Limiters): Handler {
  return async (input) => {
    const { request, reply } = input;
    onceClosed({ request, reply }, transfers.acquire(request.identity.tenantId, 'downloads'));
    const response = await handler(input);
    const file = response.body as unknown as AttachmentFile;
    return { ...response, body: (await openFile(input, file)) as never };
  };
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
function limited<Given extends Input, Result>(
  handler: (input: Given) => Promise<Result>,
  { limiter }: Pick<Limiters, 'limiter'>,
): (input: Given) => Promise<Result> {
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

function mapValues(object: object, change: (value: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
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
