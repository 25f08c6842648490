import type { Changes, Ticket } from '@itsm-api/contract';
import { type Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { type Bound, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { tenantLockStatement } from '../../database/row-lock.ts';
import { type ActorContext, type ActorIds, actorIdsOf } from '../../shared/actor.ts';
import { type HasSubscribers, querySubscribers } from '../../webhooks/outbox/emit.ts';
import { insertActivity, shortened } from '../activities/record.ts';
import { nextNumber, numberTickets, reserveNumbers, type TicketCounts } from '../shared/ticket-number.ts';
import { columnsOf, ticketValues, type WrittenBy } from './columns.ts';
import { affectsDates, type DateUpdate, keepDates, newDueDate, recomputeDates, selectTargets } from './due-date.ts';
import { nextUpdatedAt, type TicketRow, type TicketValues, toTicketRow } from './sql.ts';

/*
 * Creates and updates tickets with their activities. One statement can write many tickets.
 */

/** The columns that the server sets for a new ticket. The database sets all other columns. */
export type NewTicketRow = Pick<TicketRow, WrittenBy<'INSERT'> | 'dueAt'> & {
  /** Whether an import creates the ticket, so that no target applies to it. */
  imported: boolean;
};

const inserted = columnsOf('INSERT');
const updated = columnsOf('UPDATE');

/** A row with a written ticket. */
type WrittenRow = { ticket: TicketValues };

/**
 * Inserts tickets. The statement first increases the tenant's sequence by the number of
 * tickets. The tickets get the next ordinals and numbers.
 */
const insert = rows<ActorIds & TicketCounts & { tickets: string; createdAt: string; priorities: string[] }, WrittenRow>(
  (given) => sql`
  WITH sequence AS (${reserveNumbers(given, selectTargets(given))}
  ), t AS (
    INSERT INTO tickets (id, tenant_id, ordinal, number, due_at, first_response_due_at, imported, ${inserted.targets})
    SELECT nextval('tickets_id_seq'), ${tenant}, sequence.total + place, ${nextNumber},
      CASE WHEN "dueAtSet" THEN "dueAt" ELSE ${newDueDate('dueAt', given.priorities)} END,
      CASE WHEN NOT imported THEN ${newDueDate('firstResponseDueAt', given.priorities)} END, imported, ${inserted.values}
    FROM sequence, json_to_recordset(${given.tickets}::json) AS given (place int, "positionInType" int,
      "dueAt" timestamptz, imported boolean, ${inserted.definitions})
    RETURNING *
  ), activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'CREATED',
    rows: sql`t`,
    at: sql`updated_at`,
    userId: given.userId,
    keyId: given.keyId,
    changes: sql`'{}'`,
  })})
  SELECT ${ticketValues} AS ticket FROM t ORDER BY ordinal`,
);

/** The actor of a change, and the database client that writes the change. */
export interface Writer extends ActorContext {
  db: TenantClient;
  now(): Date;
}

/**
 * Returns the statement that inserts tickets, including its parameters. All tickets to which targets apply have the same
 * creation time, because only imports set it.
 */
function toInsertStatement(writer: Writer, tickets: readonly NewTicketRow[]) {
  const { positioned, counts } = numberTickets(tickets);
  const createdAt = (tickets[0] as NewTicketRow).createdAt;
  const priorities = [...new Set(tickets.map(({ priority }) => priority))];
  const given = { tickets: JSON.stringify(positioned), createdAt, priorities, ...counts, ...actorIdsOf(writer) };
  return writer.db.$bind(insert, given);
}

/**
 * The written tickets. `hasSubscribers` is true if an active webhook subscription includes the event type of the
 * change.
 */
interface WriteResult {
  tickets: TicketRow[];
  hasSubscribers: boolean;
}

/**
 * Inserts tickets. Assigns the next ordinals and, for each ticket type, the next numbers. Returns
 * the tickets in the given order. The tenant's sequence is locked until the commit, so that ordinals and ids have the
 * same order.
 */
export async function insertTickets(writer: Writer, tickets: readonly NewTicketRow[]): Promise<WriteResult> {
  const [, written, subscribers] = await writer.db.$pipeline([
    tenantLockStatement(writer.db, 'ticketSequence'),
    toInsertStatement(writer, tickets),
    querySubscribers(writer.db, 'ticket.created'),
  ]);
  return toWriteResult(written, subscribers, tickets.length);
}

/** Builds the statement that updates tickets. */
function buildUpdate<Input extends object>(
  recordset: (given: Parameter) => Sql,
  isGiven: (given: Record<keyof Input, Parameter>) => Sql,
  dates: DateUpdate,
) {
  return rows<Input & ActorIds & { changed: string }, WrittenRow>(
    (given) => sql`
  WITH t AS (
    UPDATE tickets SET ${updated.assignments}, updated_at = ${nextUpdatedAt(sql`given."updatedAt"`)}${dates.assignments}
    FROM ${recordset(given.changed)} AS given (id bigint, "updatedAt" timestamptz, changes jsonb,
       "dueAt" timestamptz, "firstResponseDueAt" timestamptz, ${updated.definitions}) ${dates.from}
    WHERE tickets.tenant_id = ${tenant} AND ${isGiven(given)}
    RETURNING tickets.*, given.changes ${dates.changes} AS changes
  ), activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'UPDATED',
    rows: sql`t`,
    at: sql`updated_at`,
    userId: given.userId,
    keyId: given.keyId,
    changes: sql`changes`,
  })})
  SELECT ${ticketValues} AS ticket FROM t`,
  );
}

/**
 * Builds the statements that update one or several tickets. Most updates change one ticket. The statement for one ticket
 * doesn't join a recordset, so it takes a tenth less time. If `version` isn't null, it updates the ticket only if it
 * has this version.
 */
const buildUpdates = (dates: DateUpdate) => ({
  one: buildUpdate<{ id: number; version: number | null }>(
    (given) => sql`json_to_record(${given}::json)`,
    ({ id, version }) => sql`tickets.id = ${id} AND tickets.version = coalesce(${version}::int, tickets.version)`,
    dates,
  ),
  many: buildUpdate<{ ids: number[] }>(
    (given) => sql`json_to_recordset(${given}::json)`,
    // The condition on `ids` makes PostgreSQL look up the tickets by index, regardless of the planner's estimates.
    ({ ids }) => sql`tickets.id = ANY (${ids}::bigint[]) AND tickets.id = given.id`,
    dates,
  ),
});

const updates = { recomputeDates: buildUpdates(recomputeDates), keepDates: buildUpdates(keepDates) };

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
  writer: Writer,
  changed: readonly ChangedTicket[],
  version: number | null,
): Bound<WrittenRow> {
  const updatedAt = writer.now();
  const given = changed.map(({ after, dueAtSet, changes }) => {
    return { ...after, dueAtSet, updatedAt, changes: shortened(changes) };
  });
  const { db } = writer;
  const by = actorIdsOf(writer);
  const { one, many } = updates[changed.some(({ changes }) => affectsDates(changes)) ? 'recomputeDates' : 'keepDates'];
  const [first] = given;
  if (first === undefined || given.length > 1)
    return db.$bind(many, { ids: given.map(({ id }) => id), changed: JSON.stringify(given), ...by });
  return db.$bind(one, { id: first.id, version, changed: JSON.stringify(first), ...by });
}

/**
 * Updates tickets. The caller must lock the tickets, unless it sets `version`. Resolves to the written tickets in no
 * particular order.
 * @param version the expected version of a single ticket; if the actual version differs, nothing is written
 */
export async function changeTickets(
  writer: Writer,
  changed: readonly ChangedTicket[],
  version: number | null = null,
): Promise<WriteResult> {
  const [written, subscribers] = await writer.db.$pipeline([
    toUpdateStatement(writer, changed, version),
    querySubscribers(writer.db, 'ticket.updated'),
  ]);
  const count = version === null ? changed.length : written.length;
  return toWriteResult(written, subscribers, count);
}

function toWriteResult(written: WrittenRow[], [subscribers]: HasSubscribers[], count: number): WriteResult {
  if (subscribers === undefined) throw new Error('The query for subscribers returned no row.');
  if (written.length !== count) throw new Error('Not all tickets were written.');
  return { tickets: written.map(({ ticket }) => toTicketRow(ticket)), ...subscribers };
}
