import * as z from 'zod';

/** The header that names a request, in lower case, as Node.js has it. */
export const idempotencyKeyHeader = 'idempotency-key';

/** The header of an answer that was given before. */
export const replayedHeader = 'idempotent-replayed';

/** How long an answer is kept under its key. Hours. */
export const idempotencyHours = 24;

const error = 'must be 1 to 255 printable ASCII characters';

const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, error)
  .meta({
    description:
      'Names this request, so that it may be sent again: one that succeeded is answered as it was and done only once. ' +
      `Any text of your own that you use once, such as a UUID; kept ${idempotencyHours} hours for each API key.`,
    example: '3f0c2a4e-8d4b-4c0e-9a52-6f1d2f0b7c11',
  });

/** The headers that every POST takes, as ts-rest has them. */
export const idempotencyHeaders = { [idempotencyKeyHeader]: IdempotencyKey.optional() };
