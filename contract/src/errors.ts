import * as z from 'zod';

/**
 * Every error code of the API, its HTTP status and when it is answered (spec §7, docs/decisions/errors.md).
 * The one place where a code meets a status: the server's error handler, the OpenAPI document and the tests read it.
 */
export const errors = {
  VALIDATION_ERROR: {
    status: 400,
    when: 'A field, query parameter or path id is wrong; `details` names each.',
    remedy: 'Correct what `details` names. The same request again is refused again.',
  },
  INVALID_JSON: {
    status: 400,
    when: 'The body is not JSON, or is empty where one is needed.',
    remedy: 'Send a JSON object, and all of it.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 400,
    when: 'The body is of another content type than JSON in UTF-8.',
    remedy: 'Send `Content-Type: application/json`, and no `Content-Encoding`.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 400,
    when: 'The body, a header, or the nesting or values of the JSON are over the limit.',
    remedy: 'Send less in one request; the message names the limit.',
  },
  INVALID_TRANSITION: {
    status: 400,
    when: 'The state cannot change as asked; the message names the allowed states.',
    remedy: 'Read the resource again, and choose a state that can follow its own.',
  },
  INVALID_REFERENCE: {
    status: 400,
    when: 'An id in the body names nothing in this workspace.',
    remedy: 'Look the id up in the lists. A user who is named anew must be active.',
  },
  QUERY_TOO_BROAD: {
    status: 400,
    when: 'The list takes too long to find; the message says how to narrow it.',
    remedy: 'Narrow the list: ask for a shorter time, or for fewer values.',
  },
  INVALID_API_KEY: {
    status: 401,
    when: 'The API key is missing, malformed, unknown, expired or revoked.',
    remedy: 'Send the key as it was shown when it was made, in one header; or make a new one.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    when: 'The API key lacks the scope; the message names it.',
    remedy: 'Make a key that has the scope.',
  },
  NOT_FOUND: {
    status: 404,
    when: 'There is no such route, method or row.',
    remedy: 'Check path and method, and whether the id is one of this workspace.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 400,
    when: 'The `Idempotency-Key` has been used for another request: another path, or another body.',
    remedy: 'Send the request that it was used for again as it was, or this one with a new key.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    when: 'A request with this `Idempotency-Key` is still being answered; `retryAfterSeconds` tells when to ask again.',
    remedy: 'Wait so long, then send the same again, with the same key.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    when: '`If-Match` names no `ETag` that the resource has now: it has been changed meanwhile. Nothing was done.',
    remedy: 'Read the resource again, look whether the change is still right, and send it with the new `ETag`.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    when: 'A rate limit is exceeded; `retryAfterSeconds` tells how long to wait.',
    remedy: 'Wait so long, then send the same again. Nothing was done.',
  },
  INTERNAL_ERROR: {
    status: 500,
    when: 'Something failed on our side; `requestId` helps us to find out what. `Retry-After`, where it stands, tells when to try again.',
    remedy: 'Try again later what only reads. After a write, look first whether it was done.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    when: 'The server is starting. It did not process the request.',
    remedy: 'Wait for the number of seconds in `Retry-After`, then retry any request, including writes.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** What is to be known of a code: its status, when it is answered, and what the caller does then. */
interface ErrorEntry {
  status: 400 | 401 | 403 | 404 | 409 | 412 | 429 | 500 | 503;
  when: string;
  remedy: string;
}

export type ErrorCode = keyof typeof errors;

export const ErrorCode = z
  .enum(Object.keys(errors) as [ErrorCode, ...ErrorCode[]])
  .meta({ id: 'ErrorCode', description: 'What went wrong, for programs.', example: 'VALIDATION_ERROR' });

/** The page on which the server says what each code means; `/docs/errors#NOT_FOUND` leads to one. */
export const errorDocsPath = '/docs/errors';

/**
 * Returns the address of the page that explains a code.
 * @param publicUrl the origin of the server; without it the address is a path
 */
export function docsOf(code: ErrorCode, publicUrl = ''): string {
  return `${publicUrl.replace(/\/$/, '')}${errorDocsPath}#${code}`;
}

export const ErrorDocs = z.string().meta({
  description: 'The page that explains the code and its remedy: a URL, or a path if the server has no `PUBLIC_URL`.',
});

export const ErrorDetail = z
  .object({
    path: z.string().meta({ description: 'The field, query parameter or path parameter, with dots into its parts.' }),
    message: z.string().meta({ description: 'What is wrong there, to be read after the name.' }),
  })
  .meta({
    id: 'ErrorDetail',
    description: 'What is wrong in one place of the request.',
    example: { path: 'title', message: 'is required' },
  });
export type ErrorDetail = z.output<typeof ErrorDetail>;

export const ErrorMessage = z.string().meta({ description: 'What was wrong and what would be right, for people.' });

export const ErrorDetails = z.array(ErrorDetail).max(20).meta({
  description: 'Each thing that is wrong, the first ones found; absent where it is no field.',
});

/** The body of every answer that is not a success (spec §7). */
export const ErrorEnvelope = z
  .object({
    success: z.literal(false).meta({ description: 'What was asked for was not done.' }),
    error: z
      .object({
        code: ErrorCode,
        message: ErrorMessage,
        retryAfterSeconds: z.int().min(1).optional().meta({
          description: 'On RATE_LIMIT_EXCEEDED, IDEMPOTENCY_IN_PROGRESS and SERVICE_UNAVAILABLE: seconds to wait.',
        }),
        details: ErrorDetails.optional(),
        docs: ErrorDocs,
        requestId: z.string().meta({
          description: "Names the request in the server's log; also in the `x-request-id` header.",
        }),
      })
      .meta({ description: 'Why not.' }),
  })
  // Without an example: tools that mock the API would show it in place of those of each response.
  .meta({ id: 'ErrorEnvelope', description: 'The envelope of every error.' });
export type ErrorEnvelope = z.output<typeof ErrorEnvelope>;
