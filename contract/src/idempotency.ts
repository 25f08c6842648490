import * as z from 'zod';

/** The request header with the idempotency key, in lower case, as Node.js returns it. */
export const idempotencyKeyHeader = 'idempotency-key';

/** The response header that marks a repeated response. */
export const replayedHeader = 'idempotent-replayed';

/** How long the server keeps a response, in hours. */
export const idempotencyHours = 24;

const error = 'must be 1 to 255 printable ASCII characters';

const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, error)
  .meta({
    description:
      'Makes retries safe: if the first request succeeded, a retry returns its response and has no further effect. ' +
      `Use a unique value such as a UUID. It applies to this API key only and expires after ${idempotencyHours} hours.`,
    example: '3f0c2a4e-8d4b-4c0e-9a52-6f1d2f0b7c11',
  });

/** The headers of every POST, as ts-rest declares them. */
export const idempotencyHeaders = { [idempotencyKeyHeader]: IdempotencyKey.optional() };
