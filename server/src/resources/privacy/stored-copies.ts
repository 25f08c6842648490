import type { Changes } from '@itsm-api/contract';
import { queryRows } from '../../database/client/raw-sql.ts';
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
  const found = await queryRows<{ id: string; ticketId: string; changes: Changes }>(db, {
    text: `SELECT id, resource_id AS "ticketId", changes FROM activities
      WHERE tenant_id = $1 AND resource = 'TICKET' AND resource_id = ANY ($2::bigint[])
        AND changes ?| ARRAY['title', 'description', 'resolution', 'customFields', 'attachments']`,
    values: [db.$tenantId, [...tickets.keys()]],
  });
  const changed = found.flatMap(({ id, ticketId, changes }) => {
    const isRedacted = tickets.get(Number(ticketId))?.isRedacted ?? false;
    const after = JSON.stringify(redactChanges(changes, { isRedacted, attachments }));
    return after === JSON.stringify(changes) ? [] : [{ id, ticketId, after }];
  });
  await queryRows(db, {
    text: `UPDATE activities a SET changes = given.changes::jsonb
      FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS given (id, ticket_id, changes)
      WHERE a.tenant_id = $1 AND a.resource = 'TICKET' AND a.resource_id = given.ticket_id AND a.id = given.id`,
    values: [
      db.$tenantId,
      changed.map(({ id }) => id),
      changed.map(({ ticketId }) => ticketId),
      changed.map(({ after }) => after),
    ],
  });
}

/** The number of events that one statement reads. A statement must end before the statement timeout. */
const eventsPerBatch = 5000;

/** The number of events that one statement reads and writes with their bodies. A body can have more than 100 KiB. */
const bodiesPerBatch = 100;

/** Selects the ids of the next events of the tickets. The id of the ticket is near the beginning of the body. */
const nextEvents = `WITH page AS MATERIALIZED (
    SELECT id, body FROM events WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT ${eventsPerBatch}
  )
  SELECT (SELECT max(id) FROM page) AS last, ARRAY(SELECT id::text FROM page
    WHERE substring(left(body, 500) FROM '"ticket":\\{"id":(\\d+),')::bigint = ANY ($3::bigint[])) AS found`;

const selectBodies = 'SELECT id, body FROM events WHERE tenant_id = $1 AND id = ANY ($2::bigint[])';

/**
 * Removes the claims of deliveries. A worker that is sending such a delivery can't record its result, which can contain
 * the event, so the delivery is sent again when its lease expires. Locks the rows in the order of `recordResults`.
 */
const removeClaims = `WITH pending AS MATERIALIZED (
    SELECT id FROM deliveries WHERE tenant_id = $1 AND event_id = ANY ($2::bigint[]) AND state = 'PENDING'
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE deliveries d SET claim = NULL FROM pending WHERE d.tenant_id = $1 AND d.id = pending.id`;

const updateEvents = `WITH given AS MATERIALIZED (
    SELECT * FROM unnest($2::bigint[], $3::text[]) AS given (id, body)
  ), attempt AS (
    UPDATE delivery_attempts a SET answer = NULL, public_answer = NULL
    FROM given JOIN deliveries d ON d.tenant_id = $1 AND d.event_id = given.id
    WHERE a.tenant_id = $1 AND a.delivery_id = d.id
  )
  UPDATE events e SET body = given.body FROM given WHERE e.tenant_id = $1 AND e.id = given.id`;

async function redactEvents({ db }: Context, rows: RedactedRows): Promise<void> {
  for (let after: string | null = '0'; after !== null; ) {
    const [page]: { last: string | null; found: string[] }[] = await queryRows(db, {
      text: nextEvents,
      values: [db.$tenantId, after, [...rows.tickets.keys()]],
    });
    for (const ids of chunksOf(page?.found ?? [], bodiesPerBatch)) {
      const events = await queryRows<{ id: string; body: string }>(db, {
        text: selectBodies,
        values: [db.$tenantId, ids],
      });
      const changed = events.flatMap(({ id, body }) => redactJson(body, rows, (text) => ({ id, body: text })));
      const changedIds = changed.map(({ id }) => id);
      await queryRows(db, { text: removeClaims, values: [db.$tenantId, changedIds] });
      const values = [db.$tenantId, changedIds, changed.map(({ body }) => body)];
      await queryRows(db, { text: updateEvents, values });
    }
    after = page?.last ?? null;
  }
}

/** The number of stored responses that one statement searches completely. A response of 1 MiB takes 4 ms. */
const responsesPerBatch = 1000;

/** Selects the next stored responses that contain one of the ids. */
const nextResponses = `WITH page AS MATERIALIZED (
    SELECT key_id, key, answer FROM idempotency_keys WHERE tenant_id = $1 AND (key_id, key) > ($2::bigint, $3)
    ORDER BY key_id, key LIMIT ${responsesPerBatch}
  )
  SELECT (SELECT json_build_object('keyId', key_id::text, 'key', key) FROM page ORDER BY key_id DESC, key DESC LIMIT 1)
    AS last, (SELECT json_agg(json_build_object('keyId', key_id::text, 'key', key, 'answer', answer)) FROM page
      WHERE answer ~ $4) AS found`;

interface ResponseKey {
  keyId: string;
  key: string;
}

async function redactStoredResponses({ db }: Context, rows: RedactedRows): Promise<void> {
  const { tickets, comments, attachments } = rows;
  const pattern = `"id":(${[...tickets.keys(), ...comments, ...attachments].join('|')})[,}]`;
  for (let after: ResponseKey | null = { keyId: '0', key: '' }; after !== null; ) {
    const [page]: { last: ResponseKey | null; found: (ResponseKey & { answer: string })[] | null }[] = await queryRows(
      db,
      { text: nextResponses, values: [db.$tenantId, after.keyId, after.key, pattern] },
    );
    for (const { keyId, key, answer } of page?.found ?? []) {
      for (const text of redactJson(answer, rows, (text) => text)) {
        await queryRows(db, {
          text: 'UPDATE idempotency_keys SET answer = $4 WHERE tenant_id = $1 AND key_id = $2 AND key = $3',
          values: [db.$tenantId, keyId, key, text],
        });
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
