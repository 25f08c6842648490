import * as z from 'zod';
import { Count, Id } from './fields.ts';

/**
 * Maps each error code of the API to its HTTP status, condition and remedy (spec §7, docs/decisions/errors.md). The
 * error handler, the OpenAPI document and the tests read this table. No other module maps error codes to statuses.
 */
export const errors = {
  VALIDATION_ERROR: {
    status: 400,
    when: 'The request is invalid. `details` lists the invalid fields and parameters, at most 20.',
    remedy:
      'Correct the problems that the message and `details` describe, then send the request again. ' +
      'Unless the message says to retry, an unchanged request fails again.',
  },
  INVALID_JSON: {
    status: 400,
    when: 'The body is not valid JSON, or a required body is empty.',
    remedy: 'Send a complete JSON object as the body.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 400,
    when: 'The body is not JSON in UTF-8, or it is compressed.',
    remedy: 'Send the body with `Content-Type: application/json` and without `Content-Encoding`.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 400,
    when: 'The body or a header is too large, or the JSON has too many values or nested levels.',
    remedy: 'Send less data in each request. The message states the limit.',
  },
  INVALID_TRANSITION: {
    status: 400,
    when:
      "The status can't change to the requested value. " +
      'The message lists the allowed values, says that the current status is final, or gives the reason why the policy for ' +
      'changes forbids it now.',
    remedy:
      'Get the resource again, and choose a status that is allowed after its current status. ' +
      'If the current status is final, create a new resource. ' +
      'If the policy for changes forbids the status, wait for the approvals and the planned window.',
  },
  INVALID_REFERENCE: {
    status: 400,
    when: 'An id, ticket number or email address in the body matches no resource of this workspace, or it identifies an inactive user.',
    remedy: 'Look up the id with a list endpoint. You can assign or add only active users.',
  },
  EXTERNAL_ID_EXISTS: {
    status: 400,
    when: 'Another resource of the same type has this `externalId`. `details` contains the `id` of that resource.',
    remedy:
      'If you repeat an import, continue with the resource in `details`, because it already exists. ' +
      'Otherwise, choose a different `externalId`.',
  },
  QUOTA_EXCEEDED: {
    status: 400,
    when: 'The attachments of the workspace would need more bytes than its quota allows.',
    remedy: 'Delete attachments that the workspace no longer needs, or ask the operator of the server for more space.',
  },
  QUERY_TOO_BROAD: {
    status: 400,
    when: 'The list query takes too long. The message says how to narrow it.',
    remedy: 'Narrow the query: add a filter, use fewer filter values, or choose a shorter time range.',
  },
  INVALID_API_KEY: {
    status: 401,
    when: 'The API key is missing, malformed, unknown, expired or revoked.',
    remedy:
      'Send the complete API key in one header, exactly as shown when the key was created. ' +
      'If the key expired or was revoked, create a new key.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    when: 'The API key lacks the required scope. The message names the scope.',
    remedy: 'Create an API key that has this scope.',
  },
  ADDRESS_NOT_ALLOWED: {
    status: 403,
    when: "The API key isn't allowed from the IP address of the client. The message contains the address.",
    remedy:
      'Send the request from one of the allowed networks of the API key, ' +
      'or ask an administrator to allow the network of the address.',
  },
  NOT_FOUND: {
    status: 404,
    when: "The path and method match no endpoint, or the resource doesn't exist in this workspace.",
    remedy: 'Check the path, the method and the id. The id must be from the workspace of the API key.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 400,
    when: 'The `Idempotency-Key` was already used for a request with a different path, body or file type.',
    remedy: 'To retry the first request, send it unchanged. To send a different request, use a new `Idempotency-Key`.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    when: 'A request with the same `Idempotency-Key` is still in progress.',
    remedy: 'Wait for `retryAfterSeconds` seconds, then send the same request with the same `Idempotency-Key`.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    when: "`If-Match` doesn't match the current `ETag`: the resource has changed. No changes were made.",
    remedy: 'Get the resource again, check that your change still applies, and retry with the new `ETag`.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    when: 'The client sent too many requests in a time window, or too many concurrent requests.',
    remedy: 'Wait for `retryAfterSeconds` seconds, then retry. The server did not process the request.',
  },
  INTERNAL_ERROR: {
    status: 500,
    when: 'An unexpected error occurred on the server.',
    remedy:
      'You can retry a read. If `Retry-After` is present, wait that number of seconds first. ' +
      'Retry a write only with the same `Idempotency-Key`, or after you check that the write had no effect. ' +
      'If the error persists, look up the `requestId` in the request log, and report it to the operator of the server.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    when: 'The server is starting, or the workspace is in maintenance. The server did not process the request.',
    remedy:
      'Wait for the number of seconds in `Retry-After`, then retry. All requests are safe to retry, including writes. ' +
      'If an upload or a download gets no `Retry-After`, only the operator of the server can solve the problem.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** The HTTP status, the condition and the remedy of an error code. */
interface ErrorEntry {
  status: 400 | 401 | 403 | 404 | 409 | 412 | 429 | 500 | 503;
  when: string;
  remedy: string;
}

export type ErrorCode = keyof typeof errors;

export const ErrorCode = z.enum(Object.keys(errors) as [ErrorCode, ...ErrorCode[]]).meta({
  id: 'ErrorCode',
  description: 'The kind of error. Use this code, not the message, in programs.',
  example: 'VALIDATION_ERROR',
});

/**
 * The path of the page that documents all error codes. The anchor of an error code is the code itself:
 * `/docs/errors#NOT_FOUND`.
 */
export const errorDocsPath = '/docs/errors';

/**
 * Returns the URL of the documentation for an error code.
 * @param publicUrl the server's origin; if it is empty, the result is only a path
 */
export function docsOf(code: ErrorCode, publicUrl = ''): string {
  return `${publicUrl.replace(/\/$/, '')}${errorDocsPath}#${code}`;
}

export const ErrorDocs = z.string().meta({
  description:
    'The URL of the page that explains the error code and how to correct the error. ' +
    'If the operator has not set `PUBLIC_URL`, the value is only a path.',
});

export const ErrorDetail = z
  .object({
    path: z.string().meta({
      description: 'The name of the field or parameter. In a nested path, dots separate the names: `tickets.0.title`.',
    }),
    message: z.string().meta({
      description: 'What is wrong with the field or parameter. To form a sentence, put `path` before this text.',
    }),
    id: Id.optional().meta({
      description: 'The existing resource that has the value. Present only with EXTERNAL_ID_EXISTS.',
    }),
  })
  .meta({
    id: 'ErrorDetail',
    description: 'One invalid field or parameter of the request.',
    example: { path: 'title', message: 'is required' },
  });
export type ErrorDetail = z.output<typeof ErrorDetail>;

export const ErrorMessage = z.string().meta({ description: 'Text for people: what is wrong and how to correct it.' });

export const ErrorDetails = z.array(ErrorDetail).max(20).meta({
  description: 'The invalid fields and parameters, at most 20. Absent if the error concerns no field or parameter.',
});

/** The header `WWW-Authenticate` of 401 responses (RFC 6750 §3). */
export const authenticationChallenge = 'Bearer realm="ITSM Public API"';

/** The body of every error response (spec §7). */
export const ErrorEnvelope = z
  .object({
    success: z.literal(false).meta({ description: 'The request failed.' }),
    error: z
      .object({
        code: ErrorCode,
        message: ErrorMessage,
        retryAfterSeconds: Count.min(1)
          .optional()
          .meta({
            description:
              'The number of seconds to wait before you retry. ' +
              'Present with RATE_LIMIT_EXCEEDED, IDEMPOTENCY_IN_PROGRESS and, except for some uploads and downloads, ' +
              'SERVICE_UNAVAILABLE.',
          }),
        details: ErrorDetails.optional(),
        docs: ErrorDocs,
        requestId: z.string().meta({
          description:
            'Identifies the request in the request log at `/developer/requests` and in the server log. ' +
            'The `x-request-id` header has the same value.',
        }),
      })
      .meta({ description: 'The error.' }),
  })
  // The schema has no example, because API mocking tools would return it instead of the response examples.
  .meta({ id: 'ErrorEnvelope', description: 'The body of every error response.' });
export type ErrorEnvelope = z.output<typeof ErrorEnvelope>;
