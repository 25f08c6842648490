import * as z from 'zod';

/**
 * The name of the request header for the idempotency key, in lower case, because Node.js converts header names to lower
 * case.
 */
export const idempotencyKeyHeader = 'idempotency-key';

/**
 * The name of the response header that marks a stored response. If a request repeats an idempotency key, the server
 * returns the stored response.
 */
export const replayedHeader = 'idempotent-replayed';

/** How long the server stores the response for an idempotency key, in hours. */
export const idempotencyHours = 24;

const error = 'must be 1 to 255 printable ASCII characters';

const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, error)
  .meta({
    description:
      'Makes retries safe: if the first request succeeded, a retry returns its response and has no further effect. ' +
      `Use a unique value such as a UUID. It is valid only with the same API key, for ${idempotencyHours} hours.`,
    example: '3f0c2a4e-8d4b-4c0e-9a52-6f1d2f0b7c11',
  });

/** The request headers of every POST endpoint, in the form that ts-rest expects. */
export const idempotencyHeaders = { [idempotencyKeyHeader]: IdempotencyKey.optional() };
