import { Id } from '@itsm-api/contract';
import * as z from 'zod';
import { hashKey } from '../auth/api-keys/key-format.ts';
import { identifier, join, type Parameter, sql, tenant } from '../database/client/sql.ts';
import { command } from '../database/client/statements.ts';
import type { TenantClient } from '../database/client/tenant-client.ts';
import { parseDuration } from '../shared/duration.ts';
import { notFound } from '../shared/errors.ts';

/*
 * Moves the stored times of one row back, so that tests don't wait until a ticket is overdue or a key has expired
 * (docs/decisions/test-server.md).
 */

const Duration = z.string().transform((text, { addIssue }) => {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  addIssue({ code: 'custom', message: 'must be a duration such as 30m, 2h or 3d' });
  return z.NEVER;
});

/** The schema of a row to age, and of the duration by which its times move back. */
export const Aging = z
  .strictObject({
    ticket: Id.optional(),
    apiKey: z.string().optional(),
    delivery: Id.optional(),
    idempotencyKey: z.string().optional(),
    by: Duration,
  })
  .refine(({ by: _, ...row }) => Object.keys(row).length === 1, {
    error: 'must contain one of ticket, apiKey, delivery and idempotencyKey',
  });
export type Aging = z.output<typeof Aging>;

/** The stored times that move back. The guide lists them. */
const storedTimes = {
  ticket: [
    ...['created_at', 'updated_at', 'due_at', 'first_responded_at', 'resolved_at', 'closed_at'],
    ...['planned_start_at', 'planned_end_at', 'first_response_due_at', 'paused_since'],
  ],
  apiKey: ['created_at', 'expires_at', 'last_used_at'],
  // Also `next_attempt_at`, except during an attempt. It is then the end of the worker's lease, which must not expire.
  delivery: ['created_at', 'settled_at'],
  idempotencyKey: ['created_at'],
};

interface Target<Name> {
  name: Name;
  milliseconds: number;
}

const earlier = (column: string, milliseconds: Parameter) =>
  sql`${identifier(column)} - ${milliseconds}::bigint * interval '1 millisecond'`;

const moveBack = (columns: string[], milliseconds: Parameter) =>
  join(columns.map((column) => sql`${identifier(column)} = ${earlier(column, milliseconds)}`));

const ageTicket = command<Target<number>>(
  ({ name, milliseconds }) => sql`UPDATE tickets SET ${moveBack(storedTimes.ticket, milliseconds)}
    WHERE tenant_id = ${tenant} AND id = ${name}`,
);

const ageKey = command<Target<Buffer>>(
  ({ name, milliseconds }) => sql`UPDATE api_keys SET ${moveBack(storedTimes.apiKey, milliseconds)}
    WHERE tenant_id = ${tenant} AND hash = ${name}`,
);

const ageDelivery = command<Target<number>>(
  ({ name, milliseconds }) => sql`UPDATE deliveries SET ${moveBack(storedTimes.delivery, milliseconds)},
      next_attempt_at = CASE WHEN claim IS NULL THEN ${earlier('next_attempt_at', milliseconds)} ELSE next_attempt_at END
    WHERE tenant_id = ${tenant} AND id = ${name}`,
);

const ageIdempotencyKey = command<Target<string>>(
  ({ name, milliseconds }) => sql`
    UPDATE idempotency_keys SET ${moveBack(storedTimes.idempotencyKey, milliseconds)}
    WHERE tenant_id = ${tenant} AND key = ${name}`,
);

/** Moves the stored times of a row back. @throws ApiError NOT_FOUND if the workspace has no such row */
export async function age(db: TenantClient, { by: milliseconds, ...row }: Aging): Promise<void> {
  const { ticket, apiKey, delivery, idempotencyKey } = row;
  const expectRow = (count: number, resource: string, reference: string) => {
    if (count === 0) throw notFound(resource, reference);
  };
  if (ticket !== undefined) expectRow(await db.$sql(ageTicket, { name: ticket, milliseconds }), 'ticket', 'id');
  if (apiKey !== undefined) expectRow(await db.$sql(ageKey, { name: hashKey(apiKey), milliseconds }), 'API key', 'key');
  if (delivery !== undefined) expectRow(await db.$sql(ageDelivery, { name: delivery, milliseconds }), 'delivery', 'id');
  if (idempotencyKey !== undefined)
    expectRow(await db.$sql(ageIdempotencyKey, { name: idempotencyKey, milliseconds }), 'idempotency key', 'key');
}
