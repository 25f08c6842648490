import type { Changes, Ticket } from '@itsm-api/contract';
import { queryPipelined, type Statement } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { tenantLockStatement } from '../../database/row-lock.ts';
import type { Acting } from '../../shared/actor.ts';
import { querySubscribers } from '../../webhooks/outbox/emit.ts';
import { insertActivity, shortened, timestampChange } from '../activities/record.ts';
import { columnsOf, ownColumns, type WrittenBy } from './columns.ts';
import { dueByTarget } from './due-date.ts';
import { nextUpdatedAt, type TicketRow } from './sql.ts';
import { nextNumber, numberTickets, reserveNumbers } from './ticket-number.ts';

/*
 * Creates and updates tickets with their watchers and activities. One statement can write many tickets.
 */

/** The columns that the server sets for a new ticket. The database sets all other columns. */
export type NewTicketRow = Pick<TicketRow, WrittenBy<'INSERT'> | 'dueAt' | 'watcherUserIds'>;

const inserted = columnsOf('INSERT');
const updated = columnsOf('UPDATE');

/**
 * Builds the statement that inserts tickets. The statement first increases the tenant's sequence by the number of
 * tickets. The tickets get the next ordinals and numbers.
 *
 * - $1, $3 to $7: the parameters of `reserveNumbers`
 * - $2: the tickets as JSON, each with its position in the batch and its position among tickets of the same type
 * - $8, $9: the user and the API key of the request, or null
 */
const buildInsert = ({ watched }: { watched: boolean }) => `
  WITH sequence AS (${reserveNumbers}
  ), given AS MATERIALIZED (
    SELECT nextval('tickets_id_seq') AS id, sequence.total + place AS ordinal,
      ${nextNumber} AS number, resolution_targets, given.*
    FROM sequence, json_to_recordset($2::json) AS given (place int, "placeOfType" int, "watcherUserIds" bigint[],
      "dueAt" timestamptz, ${inserted.definitions})
  ), t AS (
    INSERT INTO tickets (id, tenant_id, ordinal, number, due_at, ${inserted.targets})
    SELECT id, $1, ordinal, number, CASE WHEN "dueAtSet" THEN "dueAt"
      ELSE ${dueByTarget({ createdAt: '"createdAt"', priority: 'priority', targets: 'resolution_targets' })} END,
      ${inserted.values}
    FROM given ORDER BY ordinal
    RETURNING *
  )${
    watched
      ? `, watcher AS (
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id) SELECT $1, id, unnest("watcherUserIds") FROM given
  )`
      : ''
  }, activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'CREATED',
    tenantId: '$1',
    rows: 'given',
    at: '"updatedAt"',
    userId: '$8',
    keyId: '$9',
    changes: "'{}'",
  })})
  SELECT to_json(ticket) AS ticket FROM (
    SELECT ${ownColumns}, (SELECT "watcherUserIds" FROM given WHERE given.id = t.id) FROM t ORDER BY ordinal) AS ticket`;

/**
 * The statements that insert tickets with and without watchers. Most tickets have no watchers, and the statement
 * without watchers is faster.
 */
const insert = { watched: buildInsert({ watched: true }), unwatched: buildInsert({ watched: false }) };

/** The actor of a change, and the database client that writes the change. */
export interface Writer extends Acting {
  db: TenantClient;
}

/** Returns the statement that inserts tickets, including its parameters. */
function toInsertStatement({ db, userId, keyId }: Writer, tickets: readonly NewTicketRow[]): Statement {
  const { positioned, counts } = numberTickets(tickets);
  const values = [db.$tenantId, JSON.stringify(positioned), ...counts, userId ?? null, keyId ?? null];
  const text = tickets.some(({ watcherUserIds }) => watcherUserIds.length > 0) ? insert.watched : insert.unwatched;
  return { text, values };
}

/**
 * The written tickets. `hasSubscribers` is true if an active webhook subscription includes the event type of the
 * change.
 */
interface Written {
  tickets: TicketRow[];
  hasSubscribers: boolean;
}

/**
 * Inserts tickets with their watchers. Assigns the next ordinals and, for each ticket type, the next numbers. Returns
 * the tickets in the given order. The tenant's sequence is locked until the commit, so that ordinals and ids have the
 * same order.
 */
export async function insertTickets(writer: Writer, tickets: readonly NewTicketRow[]): Promise<Written> {
  const [, rows = [], subscribers = []] = await queryPipelined(writer.db, [
    tenantLockStatement(writer.db, 'ticketSequence'),
    toInsertStatement(writer, tickets),
    querySubscribers(writer.db, 'ticket.created'),
  ]);
  return toWritten(rows, subscribers, tickets.length);
}

/** The due date by the target of a new priority. `given` contains the new values. */
const dueByNewPriority = dueByTarget({
  createdAt: 'created_at',
  priority: 'given.priority',
  targets: '(SELECT resolution_targets FROM ticket_sequences s WHERE s.tenant_id = $1)',
});

/**
 * The statements that update one or several tickets. Most updates change one ticket. The statements for one ticket
 * don't join a recordset, so they take a tenth less time.
 */
const updates = {
  one: buildUpdate({ given: 'json_to_record($3::json)', id: 'tickets.id = $2' }),
  oneAsRead: buildUpdate({ given: 'json_to_record($3::json)', id: 'tickets.id = $2 AND tickets.version = $6' }),
  many: buildUpdate({
    given: 'json_to_recordset($3::json)',
    // The condition on `$2` makes PostgreSQL look up the tickets by index, regardless of the planner's estimates.
    id: 'tickets.id = ANY ($2::bigint[]) AND tickets.id = given.id',
  }),
};

/**
 * Builds the statement that updates tickets. If the priority changes and no request set the due date, also changes the
 * due date. PostgreSQL reads the targets only in this case.
 *
 * - $1: the tenant
 * - $2: the ids, or the id of a single ticket
 * - $3: the new values as JSON
 * - $4, $5: the user and the API key of the request, or null
 * - $6: the expected version of a single ticket, for `oneAsRead`
 */
function buildUpdate({ given, id }: { given: string; id: string }): string {
  return `
  WITH t AS (
    UPDATE tickets SET ${updated.assignments}, updated_at = ${nextUpdatedAt('given."updatedAt"')},
      due_at = CASE WHEN given."dueAtSet" OR given.priority = tickets.priority THEN given."dueAt"
        ELSE ${dueByNewPriority} END
    FROM ${given} AS given (id bigint, "updatedAt" timestamptz, "watcherUserIds" bigint[], changes jsonb,
      "dueAt" timestamptz, ${updated.definitions})
    WHERE tenant_id = $1 AND ${id}
    RETURNING tickets.*, given."watcherUserIds", CASE WHEN due_at IS NOT DISTINCT FROM given."dueAt"
      THEN given.changes ELSE given.changes || ${timestampChange('dueAt', 'given."dueAt"', 'due_at')} END AS changes
  ), activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'UPDATED',
    tenantId: '$1',
    rows: 't',
    at: 'updated_at',
    userId: '$4',
    keyId: '$5',
    changes: 'changes',
  })})
  SELECT to_json(ticket) AS ticket FROM (SELECT ${ownColumns}, t."watcherUserIds" FROM t) AS ticket`;
}

/**
 * SQL that replaces the watchers of tickets. $1 is the tenant, $2 contains the ticket ids, and $3 the new watchers as
 * JSON.
 */
const updateWatchers = `
  WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($3::json) AS given (id bigint, "watcherUserIds" bigint[])
  ), removed AS (
    DELETE FROM ticket_watchers w USING given WHERE w.tenant_id = $1 AND w.ticket_id = ANY ($2::bigint[])
      AND w.ticket_id = given.id AND w.user_id <> ALL (given."watcherUserIds")
  )
  INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
  SELECT $1, id, unnest("watcherUserIds") FROM given ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`;

/** A ticket after a change, and the changed fields. */
interface ChangedTicket {
  after: Ticket;
  /** Whether this or an earlier request set `dueAt`. */
  dueAtSet: boolean;
  changes: Changes;
}

/**
 * Returns the statement that updates locked tickets. If `version` is set, the statement updates one ticket without a
 * lock, but only if the ticket still has this version.
 */
function toUpdateStatement(
  { db, userId, keyId }: Writer,
  changed: readonly ChangedTicket[],
  version?: number,
): Statement {
  // Uses the clock of this process, as Prisma does for other tables.
  const updatedAt = new Date();
  const given = changed.map(({ after, dueAtSet, changes }) => {
    return { ...after, dueAtSet, updatedAt, changes: shortened(changes) };
  });
  const [ids, rows] = given.length === 1 ? [given[0]?.id, given[0]] : [toIds(changed), given];
  const values = [db.$tenantId, ids, JSON.stringify(rows), userId ?? null, keyId ?? null];
  if (version !== undefined) return { text: updates.oneAsRead, values: [...values, version] };
  return { text: given.length === 1 ? updates.one : updates.many, values };
}

/**
 * Updates tickets and their watchers. The caller must lock the tickets, unless it sets `version`. Resolves to the
 * written tickets in no particular order.
 * @param version the expected version of a single ticket; if the actual version differs, nothing is written; the change
 * must not include watchers
 */
export async function changeTickets(
  writer: Writer,
  changed: readonly ChangedTicket[],
  version?: number,
): Promise<Written> {
  const statements = [
    ...toWatcherStatements(writer.db, changed),
    toUpdateStatement(writer, changed, version),
    querySubscribers(writer.db, 'ticket.updated'),
  ];
  const [rows = [], subscribers = []] = (await queryPipelined(writer.db, statements)).slice(-2);
  const count = version === undefined ? changed.length : rows.length;
  return toWritten(rows, subscribers, count);
}

/**
 * Returns the statement that replaces the watchers. Returns an empty list if no watchers change, which is the most
 * frequent case.
 */
function toWatcherStatements(db: TenantClient, changed: readonly ChangedTicket[]): Statement[] {
  const rewatched = changed.filter(({ changes }) => 'watcherUserIds' in changes);
  if (rewatched.length === 0) return [];
  const given = rewatched.map(({ after: { id, watcherUserIds } }) => ({ id, watcherUserIds }));
  return [{ text: updateWatchers, values: [db.$tenantId, toIds(rewatched), JSON.stringify(given)] }];
}

function toIds(changed: readonly ChangedTicket[]): number[] {
  return changed.map(({ after }) => after.id);
}

function toWritten(rows: object[], [subscribers]: object[], count: number): Written {
  if (subscribers === undefined) throw new Error('The query for subscribers returned no row.');
  return { tickets: toTickets(rows, count), ...(subscribers as { hasSubscribers: boolean }) };
}

function toTickets(rows: object[], count: number): TicketRow[] {
  if (rows.length !== count) throw new Error('Not all tickets were written.');
  return (rows as { ticket: TicketRow }[]).map(({ ticket }) => ticket);
}
