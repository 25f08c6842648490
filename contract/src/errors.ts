import * as z from 'zod';

/**
 * Every error code of the API, its HTTP status and when it is answered (spec §7, docs/decisions/errors.md).
 * The one place where a code meets a status: the server's error handler, the OpenAPI document and the tests read it.
 */
export const errors = {
  VALIDATION_ERROR: { status: 400, when: 'A field, query parameter or path id is wrong; `details` names each.' },
  INVALID_JSON: { status: 400, when: 'The body is not JSON, or is empty where one is needed.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 400, when: 'The body is of another content type than JSON in UTF-8.' },
  PAYLOAD_TOO_LARGE: {
    status: 400,
    when: 'The body, a header, or the nesting or values of the JSON are over the limit.',
  },
  INVALID_TRANSITION: { status: 400, when: 'The state cannot change as asked; the message names the allowed states.' },
  INVALID_REFERENCE: { status: 400, when: 'An id in the body names nothing in this workspace.' },
  QUERY_TOO_BROAD: { status: 400, when: 'The list takes too long to find; the message says how to narrow it.' },
  INVALID_API_KEY: { status: 401, when: 'The API key is missing, malformed, unknown, expired or revoked.' },
  INSUFFICIENT_SCOPE: { status: 403, when: 'The API key lacks the scope; the message names it.' },
  NOT_FOUND: { status: 404, when: 'There is no such route, method or row.' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 400,
    when: 'The `Idempotency-Key` has been used for another request: another path, or another body.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    when: 'A request with this `Idempotency-Key` is still being answered; `retryAfterSeconds` tells when to ask again.',
  },
  RATE_LIMIT_EXCEEDED: { status: 429, when: 'A rate limit is exceeded; `retryAfterSeconds` tells how long to wait.' },
  INTERNAL_ERROR: {
    status: 500,
    when: 'Something failed on our side; `requestId` helps us to find out what. `Retry-After`, where it stands, tells when to try again.',
  },
} as const satisfies Record<string, { status: 400 | 401 | 403 | 404 | 409 | 429 | 500; when: string }>;

export type ErrorCode = keyof typeof errors;

export const ErrorCode = z
  .enum(Object.keys(errors) as [ErrorCode, ...ErrorCode[]])
  .meta({ id: 'ErrorCode', description: 'What went wrong, for programs.', example: 'VALIDATION_ERROR' });

export const ErrorDetail = z
  .object({
    path: z.string().meta({ description: 'The field, query parameter or path parameter, with dots into its parts.' }),
    message: z.string(),
  })
  .meta({ id: 'ErrorDetail', example: { path: 'title', message: 'is required' } });
export type ErrorDetail = z.output<typeof ErrorDetail>;

/** The body of every answer that is not a success (spec §7). */
export const ErrorEnvelope = z
  .object({
    success: z.literal(false),
    error: z.object({
      code: ErrorCode,
      message: z.string().meta({ description: 'What was wrong and what would be right, for people.' }),
      retryAfterSeconds: z
        .int()
        .min(1)
        .optional()
        .meta({ description: 'On RATE_LIMIT_EXCEEDED and IDEMPOTENCY_IN_PROGRESS: seconds to wait.' }),
      details: z.array(ErrorDetail).max(20).optional().meta({ description: 'At most 20, the first ones found.' }),
      requestId: z.string().meta({ description: 'Also in the `x-request-id` header.' }),
    }),
  })
  .meta({
    id: 'ErrorEnvelope',
    description: 'The envelope of every error.',
    example: {
      success: false,
      error: {
        code: 'VALIDATION_ERROR',
        message: 'title is required',
        details: [{ path: 'title', message: 'is required' }],
        requestId: '01994f6a8d9c7e0f8a2b3c4d5e6f7a8b',
      },
    },
  });
export type ErrorEnvelope = z.output<typeof ErrorEnvelope>;
