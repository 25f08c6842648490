import { rateLimits } from '../limits.ts';
import type { Header, Reference } from './types.ts';

const { global, group, windowSeconds } = rateLimits;
const seconds = { type: 'integer', minimum: 0 };

const rateLimitHeaders: Record<string, Header> = {
  'X-RateLimit-Limit': {
    description: 'How many requests the tighter of the two windows allows.',
    schema: { type: 'integer', minimum: 1 },
    example: group,
  },
  'X-RateLimit-Remaining': {
    description: 'How many requests the tighter window still allows.',
    schema: seconds,
    example: group - 3,
  },
  'X-RateLimit-Reset': {
    description: 'Seconds until the tighter window opens again.',
    schema: seconds,
    example: 31,
  },
  'RateLimit-Policy': {
    description:
      'Both windows: `q` requests in `w` seconds, over all endpoints and in the group (IETF RateLimit fields).',
    schema: { type: 'string' },
    example: `"global";q=${global};w=${windowSeconds}, "tickets";q=${group};w=${windowSeconds}`,
  },
  RateLimit: {
    description: 'Both windows: `r` requests are left, for `t` seconds (IETF RateLimit fields).',
    schema: { type: 'string' },
    example: `"global";r=${global - 3};t=31, "tickets";r=${group - 3};t=31`,
  },
};

/** Every header that an answer may carry, by its name. */
export const headers: Record<string, Header> = {
  'x-request-id': {
    description:
      "Names the request in the server's log. It is the request's own `x-request-id` where that is 1 to 64 of " +
      '`A-Z a-z 0-9 _ -`, else a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
    example: '01994f6a8d9c7e0f8a2b3c4d5e6f7a8b',
  },
  ...rateLimitHeaders,
  'Retry-After': {
    description: 'Seconds to wait before the next request; the same as `retryAfterSeconds` in the body.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 17,
  },
  'Idempotent-Replayed': {
    description:
      'Whether this was answered before, to the first request with this `Idempotency-Key`; absent where not.',
    required: false,
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  ETag: {
    description: 'Names the state that the resource is in, for `If-Match` and `If-None-Match`.',
    required: true,
    schema: { type: 'string' },
    example: '"7-mi7d2ls0"',
  },
  'WWW-Authenticate': {
    description: 'The scheme that would be right.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
};

interface Kind {
  /** Whether the endpoint needs a key: limits are told wherever it was valid. */
  keyed: boolean;
  /** Whether it may be an answer that was given before. */
  replayable?: boolean;
  /** Whether a success has an ETag. */
  versioned?: boolean;
}

/** The headers of an answer with this status. */
export function headersOf(
  status: number,
  { keyed, replayable = false, versioned = false }: Kind,
): Record<string, Reference> {
  const names = [
    'x-request-id',
    ...(versioned && status < 400 ? ['ETag'] : []),
    ...(keyed && status !== 401 && status !== 503 ? Object.keys(rateLimitHeaders) : []),
    ...(replayable ? ['Idempotent-Replayed'] : []),
    ...(status === 409 || status === 429 || status === 503 ? ['Retry-After'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
