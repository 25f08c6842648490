import type { Changes } from '@itsm-api/contract';
import { sql, tenant } from '../../database/client/sql.ts';
import { command, rows } from '../../database/client/statements.ts';
import { chunksOf } from '../shared/chunks.ts';
import type { Context, Transaction } from '../shared/context.ts';
import { type RedactedRows, redactChanges, redactCopy } from './redacted-copy.ts';

/**
 * Redacts the copies of tickets, comments and attachments: in the activity, in events that wait for their delivery or
 * are kept, and in responses that are stored for an `Idempotency-Key`. Also deletes what receivers responded to such an
 * event, because a response can contain the event, and removes the claims of its deliveries. The caller has locked the
 * tickets.
 */
export async function redactCopies(context: Context & Transaction, rows: RedactedRows): Promise<void> {
  await redactActivities(context, rows);
  await redactEvents(context, rows);
  await redactStoredResponses(context, rows);
}

async function redactActivities({ db }: Context, { tickets, attachments }: RedactedRows): Promise<void> {
  const found = await db.$sql(selectActivities, { ticketIds: [...tickets.keys()] });
  const changed = found.flatMap(({ id, ticketId, changes }) => {
    const isRedacted = tickets.get(Number(ticketId))?.isRedacted ?? false;
    const after = JSON.stringify(redactChanges(changes, { isRedacted, attachments }));
    return after === JSON.stringify(changes) ? [] : [{ id, ticketId, after }];
  });
  await db.$sql(updateActivities, {
    ids: changed.map(({ id }) => id),
    ticketIds: changed.map(({ ticketId }) => ticketId),
    changes: changed.map(({ after }) => after),
  });
}

const selectActivities = rows<{ ticketIds: number[] }, { id: bigint; ticketId: bigint; changes: Changes }>(
  ({ ticketIds }) => sql`SELECT id, resource_id AS "ticketId", changes FROM activities
    WHERE tenant_id = ${tenant} AND resource = 'TICKET' AND resource_id = ANY (${ticketIds}::bigint[])
      AND changes ?| ARRAY['title', 'description', 'resolution', 'customFields', 'attachments']`,
);

const updateActivities = command<{ ids: bigint[]; ticketIds: bigint[]; changes: string[] }>(
  ({ ids, ticketIds, changes }) => sql`UPDATE activities a SET changes = given.changes::jsonb
    FROM unnest(${ids}::bigint[], ${ticketIds}::bigint[], ${changes}::text[]) AS given (id, ticket_id, changes)
    WHERE a.tenant_id = ${tenant} AND a.resource = 'TICKET' AND a.resource_id = given.ticket_id AND a.id = given.id`,
);

/** The number of events that one statement reads. A statement must end before the statement timeout. */
const eventsPerBatch = 5000;

/** The number of events that one statement reads and writes with their bodies. A body can have more than 100 KiB. */
const bodiesPerBatch = 100;

/** Selects the ids of the next events of the tickets. The id of the ticket is near the beginning of the body. */
const nextEvents = rows<{ after: bigint; ticketIds: number[] }, { last: bigint | null; found: bigint[] }>(
  ({ after, ticketIds }) => sql`WITH page AS MATERIALIZED (
    SELECT id, body FROM events WHERE tenant_id = ${tenant} AND id > ${after} ORDER BY id LIMIT ${eventsPerBatch}
  )
  SELECT (SELECT max(id) FROM page) AS last, ARRAY(SELECT id FROM page
    WHERE substring(left(body, 500) FROM '"ticket":\\{"id":(\\d+),')::bigint = ANY (${ticketIds}::bigint[])) AS found`,
);

const selectBodies = rows<{ ids: bigint[] }, { id: bigint; body: string }>(
  ({ ids }) => sql`SELECT id, body FROM events WHERE tenant_id = ${tenant} AND id = ANY (${ids}::bigint[])`,
);

/**
 * Removes the claims of deliveries. A worker that is sending such a delivery can't record its result, which can contain
 * the event, so the delivery is sent again when its lease expires. Locks the rows in the order of `recordResults`.
 */
const removeClaims = command<{ eventIds: bigint[] }>(
  ({ eventIds }) => sql`WITH pending AS MATERIALIZED (
    SELECT id FROM deliveries
    WHERE tenant_id = ${tenant} AND event_id = ANY (${eventIds}::bigint[]) AND state = 'PENDING'
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE deliveries d SET claim = NULL FROM pending WHERE d.tenant_id = ${tenant} AND d.id = pending.id`,
);

const updateEvents = command<{ ids: bigint[]; bodies: string[] }>(
  ({ ids, bodies }) => sql`WITH given AS MATERIALIZED (
    SELECT * FROM unnest(${ids}::bigint[], ${bodies}::text[]) AS given (id, body)
  ), attempt AS (
    UPDATE delivery_attempts a SET answer = NULL, public_answer = NULL
    FROM given JOIN deliveries d ON d.tenant_id = ${tenant} AND d.event_id = given.id
    WHERE a.tenant_id = ${tenant} AND a.delivery_id = d.id
  )
  UPDATE events e SET body = given.body FROM given WHERE e.tenant_id = ${tenant} AND e.id = given.id`,
);

async function redactEvents({ db }: Context, redacted: RedactedRows): Promise<void> {
  const ticketIds = [...redacted.tickets.keys()];
  for (let after: bigint | null = 0n; after !== null; ) {
    const [page]: { last: bigint | null; found: bigint[] }[] = await db.$sql(nextEvents, { after, ticketIds });
    for (const ids of chunksOf(page?.found ?? [], bodiesPerBatch)) {
      const events = await db.$sql(selectBodies, { ids });
      const changed = events.flatMap(({ id, body }) => redactJson(body, redacted, (text) => ({ id, body: text })));
      const eventIds = changed.map(({ id }) => id);
      await db.$sql(removeClaims, { eventIds });
      await db.$sql(updateEvents, { ids: eventIds, bodies: changed.map(({ body }) => body) });
    }
    after = page?.last ?? null;
  }
}

/** The number of stored responses that one statement searches completely. A response of 1 MiB takes 4 ms. */
const responsesPerBatch = 1000;

interface ResponseKey {
  keyId: string;
  key: string;
}

/** A page of stored responses: the last key, or null at the end, and the responses that contain one of the ids. */
interface ResponsePage {
  last: ResponseKey | null;
  found: (ResponseKey & { answer: string })[] | null;
}

const nextResponses = rows<ResponseKey & { pattern: string }, ResponsePage>(
  ({ keyId, key, pattern }) => sql`WITH page AS MATERIALIZED (
    SELECT key_id, key, answer FROM idempotency_keys
    WHERE tenant_id = ${tenant} AND (key_id, key) > (${keyId}::bigint, ${key})
    ORDER BY key_id, key LIMIT ${responsesPerBatch}
  )
  SELECT (SELECT json_build_object('keyId', key_id::text, 'key', key) FROM page ORDER BY key_id DESC, key DESC LIMIT 1)
    AS last, (SELECT json_agg(json_build_object('keyId', key_id::text, 'key', key, 'answer', answer)) FROM page
      WHERE answer ~ ${pattern}) AS found`,
);

const updateResponse = command<ResponseKey & { text: string }>(
  ({ keyId, key, text }) => sql`UPDATE idempotency_keys SET answer = ${text}
    WHERE tenant_id = ${tenant} AND key_id = ${keyId}::bigint AND key = ${key}`,
);

async function redactStoredResponses({ db }: Context, redacted: RedactedRows): Promise<void> {
  const { tickets, comments, attachments } = redacted;
  // An approval contains the id of its ticket.
  const pattern = `"(id|ticketId)":(${[...tickets.keys(), ...comments, ...attachments].join('|')})[,}]`;
  for (let after: ResponseKey | null = { keyId: '0', key: '' }; after !== null; ) {
    const [page]: ResponsePage[] = await db.$sql(nextResponses, { ...after, pattern });
    for (const { keyId, key, answer } of page?.found ?? []) {
      for (const text of redactJson(answer, redacted, (text) => text)) {
        await db.$sql(updateResponse, { keyId, key, text });
      }
    }
    after = page?.last ?? null;
  }
}

/** Redacts a JSON document. Returns an empty list if it contains nothing to redact. */
function redactJson<Result>(json: string, rows: RedactedRows, toResult: (json: string) => Result): Result[] {
  const redacted = JSON.stringify(redactCopy(JSON.parse(json), rows));
  return redacted === json ? [] : [toResult(redacted)];
}
