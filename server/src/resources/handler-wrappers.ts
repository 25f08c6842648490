import { acceptsEmails, type Binary, type Endpoint, referencesIn } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { type AppRoute, validateResponse as validateAgainstContract } from '@ts-rest/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../shared/errors.ts';
import type { TenantLimiter } from '../shared/limiters/tenant-limiter.ts';
import type { TransferLimiter } from '../shared/limiters/transfer-limiter.ts';
import { upsertFormat } from './assets/upsert.ts';
import { respondOnce, type StorageFormat, type StoredResponse } from './idempotency/idempotency.ts';
import { proposalFormat } from './proposals/queries.ts';
import { hasEmailAddress, replaceReferences } from './request-references.ts';
import {
  attachOrDelete,
  checkUpload,
  onceClosed,
  openFile,
  readUploadHeaders,
  receiveUpload,
} from './tickets/attachments/file-transfer.ts';
import type { AttachmentFile } from './tickets/attachments/queries.ts';
import { newTicketsFormat } from './tickets/bulk-creation.ts';
import { newWebhookFormat } from './webhooks/webhook-management.ts';

/*
 * The behavior that all endpoints share. The guard (http/auth/guard.ts) has already checked the API key, the scope and
 * the rate limits, and ts-rest has validated the request.
 */

/** The limits that endpoints share with the developer area. */
export interface Limiters {
  limiter: TenantLimiter;
  transfers: TransferLimiter;
}

interface Input {
  request: FastifyRequest;
  reply: FastifyReply;
  appRoute: AppRoute;
  params?: unknown;
  query?: unknown;
  body?: unknown;
}

export type Handler = (input: Input) => Promise<StoredResponse>;

/** Adds behavior to a handler. */
type Wrapper = (handler: Handler, limiters: Limiters, route: Endpoint) => Handler;

/**
 * The wrappers of the endpoints whose request body or response body is a file or a document, and of all other
 * endpoints. A request passes them in this order, and its response in the reverse order.
 */
const wrappers: Record<Binary | 'none', Wrapper[]> = {
  none: [
    addEtagHeader,
    limitConcurrency,
    requireUsersReadForEmails,
    replayIdempotent,
    resolveReferences,
    validateResponse,
  ],
  request: [addEtagHeader, receiveFile, limitConcurrency, replayIdempotent, validateResponse],
  response: [sendFile, limitConcurrency],
  document: [limitConcurrency],
};

/** Wraps a handler with the behavior that its endpoint needs. */
export function wrapHandler(handler: Handler, route: Endpoint, limiters: Limiters): Handler {
  return wrappers[route.metadata.binary ?? 'none'].reduceRight(
    (wrapped, wrap) => wrap(wrapped, limiters, route),
    handler,
  );
}

/** The endpoints with responses that are too large to store completely, or that contain a secret or copies of texts. */
const storageFormats = new Map<AppRoute, StorageFormat>([
  [contract.tickets.createMany, newTicketsFormat],
  [contract.assets.upsertMany, upsertFormat],
  [contract.webhooks.create, newWebhookFormat],
  [contract.proposals.create, proposalFormat],
]);

/**
 * Makes a handler run after the file in the request has been stored. Checks the request before it reads the file. The
 * concurrency limit applies to the check and to the handler, but not while the file arrives.
 */
function receiveFile(handler: Handler, limiters: Limiters): Handler {
  const { transfers } = limiters;
  const check = limitConcurrency(checkUpload, limiters);
  return async (input) => {
    const { request, reply } = input;
    readUploadHeaders(request, reply);
    const release = transfers.acquire(request.identity.tenantId, 'uploads');
    try {
      await check(input);
      const file = await receiveUpload(input);
      request.storedFile = file;
      return await attachOrDelete(request.ctx, file, () => handler(input));
    } finally {
      release();
    }
  };
}

/** Sends the content of the attachment that a handler returns. No limit of requests applies while the content is sent. */
function sendFile(handler: Handler, { transfers }: Limiters): Handler {
  return async (input) => {
    const { request, reply } = input;
    onceClosed({ request, reply }, transfers.acquire(request.identity.tenantId, 'downloads'));
    const response = await handler(input);
    const file = response.body as unknown as AttachmentFile;
    return { ...response, body: (await openFile(input, file)) as never };
  };
}

/** Makes a handler validate its response against the contract before the transaction commits. */
function validateResponse(handler: Handler): Handler {
  return async (input) => {
    const response = await handler(input);
    return validateAgainstContract({ appRoute: input.appRoute, response }) as StoredResponse;
  };
}

/** Adds support for `Idempotency-Key` to the handler of a POST endpoint. */
function replayIdempotent(handler: Handler): Handler {
  return (input) => {
    const { appRoute } = input;
    return appRoute.method === 'POST' ? respondOnce(input, handler, storageFormats.get(appRoute)) : handler(input);
  };
}

/**
 * Makes a handler reject requests with an email address if the API key can't read users. Otherwise, the key could find
 * out who is a user.
 */
function requireUsersReadForEmails(handler: Handler, _limiters: Limiters, route: Endpoint): Handler {
  if (!acceptsEmails(route)) return handler;
  const places = referencesIn(route);
  return async (input) => {
    if (hasEmailAddress(input, places) && !input.request.identity.scopes.has('users:read')) {
      const message =
        'This API key lacks the scope users:read, so it can only send the ids of users, not their email addresses. ' +
        'Use a key that has the scope.';
      throw new ApiError('INSUFFICIENT_SCOPE', message);
    }
    return handler(input);
  };
}

/** Makes a handler get ids instead of email addresses and ticket numbers. */
function resolveReferences(handler: Handler, _limiters: Limiters, route: Endpoint): Handler {
  const places = referencesIn(route);
  if (places.every(({ path: [part] }) => part === 'params')) return handler;
  return async (input) => handler(await replaceReferences(input.request.ctx, input, places));
}

/**
 * Applies the tenant's concurrency limit to a handler. Then checks the API key again, because it may have been revoked
 * while the request was queued or its body was arriving.
 */
function limitConcurrency<HandlerInput extends Input, Result>(
  handler: (input: HandlerInput) => Promise<Result>,
  { limiter }: Limiters,
): (input: HandlerInput) => Promise<Result> {
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
