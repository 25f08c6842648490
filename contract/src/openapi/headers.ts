import { authenticationChallenge } from '../errors.ts';
import { maxInt32 } from '../fields.ts';
import { rateLimits } from '../limits.ts';
import type { Header, Reference } from './types.ts';

const { global, group, windowSeconds } = rateLimits;
const int32 = { type: 'integer', format: 'int32', maximum: maxInt32 };

const rateLimitHeaders: Record<string, Header> = {
  'X-RateLimit-Limit': {
    description:
      'The number of requests allowed per window. Two rate limits apply: the global limit and the limit of the ' +
      'endpoint group. The `X-RateLimit` headers describe the limit with fewer requests left.',
    schema: { ...int32, minimum: 1 },
    example: group,
  },
  'X-RateLimit-Remaining': {
    description: 'The number of requests left in the current window, for the limit that `X-RateLimit-Limit` shows.',
    schema: { ...int32, minimum: 0 },
    example: group - 3,
  },
  'X-RateLimit-Reset': {
    description: 'The number of seconds until the current window ends, for the limit that `X-RateLimit-Limit` shows.',
    schema: { ...int32, minimum: 0 },
    example: 31,
  },
  'RateLimit-Policy': {
    description:
      'The global limit and the limit of the endpoint group: `q` requests per `w` seconds (IETF RateLimit fields).',
    schema: { type: 'string' },
    example: `"global";q=${global};w=${windowSeconds}, "tickets";q=${group};w=${windowSeconds}`,
  },
  RateLimit: {
    description:
      'The remaining quota of both rate limits: `r` requests in the next `t` seconds (IETF RateLimit fields).',
    schema: { type: 'string' },
    example: `"global";r=${global - 3};t=31, "tickets";r=${group - 3};t=31`,
  },
};

/** The OpenAPI descriptions of all response headers, by header name. */
export const headers: Record<string, Header> = {
  'x-request-id': {
    description:
      'Identifies the request in the server log. The server uses the `x-request-id` of the request if it has 1 to 64 ' +
      'characters of `A-Z a-z 0-9 _ -`. Otherwise, the server creates a new value.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
    example: '01994f6a8d9c7e0f8a2b3c4d5e6f7a8b',
  },
  ...rateLimitHeaders,
  'Retry-After': {
    description: 'The number of seconds to wait before you retry. Equals `retryAfterSeconds` in the body, if present.',
    required: true,
    schema: { ...int32, minimum: 1 },
    example: 17,
  },
  'Idempotent-Replayed': {
    description: 'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  ETag: {
    description: 'The version of the resource, for `If-Match` and `If-None-Match`.',
    required: true,
    schema: { type: 'string' },
    example: '"7-mi7d2ls0"',
  },
  'Content-Disposition': {
    description: '`attachment`, and the name of the file (RFC 6266, RFC 8187).',
    required: true,
    schema: { type: 'string' },
    example: `attachment; filename="vpn-client.log"; filename*=UTF-8''vpn-client.log`,
  },
  'WWW-Authenticate': {
    description: 'The required authentication scheme, and the name of the API as `realm` (RFC 6750).',
    required: true,
    schema: { type: 'string', const: authenticationChallenge },
    example: authenticationChallenge,
  },
};

/** Describes the deprecation headers of a response. Returns undefined if the response has no such headers. */
export function describeDeprecation(
  values: { deprecation: string; sunset: string } | undefined,
): Record<string, Header> | undefined {
  return (
    values && {
      Deprecation: {
        description: 'When the endpoint or one of its fields was deprecated, as `@` and Unix seconds (RFC 9745).',
        required: true,
        schema: { type: 'string' },
        example: values.deprecation,
      },
      Sunset: {
        description: 'When the endpoint or the field can be removed, as an HTTP date (RFC 8594).',
        required: true,
        schema: { type: 'string' },
        example: values.sunset,
      },
    }
  );
}

interface Kind {
  /** Whether the endpoint requires an API key. If it does, its responses can contain rate limit headers. */
  keyed: boolean;
  /** Whether the server can return a stored response for a repeated idempotency key. */
  replayable?: boolean;
  /** Whether a successful response has an ETag. */
  versioned?: boolean;
  /** Whether the body of a successful response is a file. */
  isFile?: boolean;
  /** Whether each response with the status 409, 429 or 503 has a `Retry-After`. */
  hasRetryAfter?: boolean;
}

/** Returns the OpenAPI headers of a response with the given HTTP status. */
export function headersOf(
  status: number,
  { keyed, replayable = false, versioned = false, isFile = false, hasRetryAfter = true }: Kind,
): Record<string, Reference> {
  const names = [
    'x-request-id',
    ...(versioned && status < 400 ? ['ETag'] : []),
    ...(isFile ? ['Content-Disposition'] : []),
    ...(keyed && status !== 401 && status !== 503 ? Object.keys(rateLimitHeaders) : []),
    ...(replayable ? ['Idempotent-Replayed'] : []),
    ...(hasRetryAfter && (status === 409 || status === 429 || status === 503) ? ['Retry-After'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
