import type { Changes, Ticket } from '@itsm-api/contract';
import { queryPipelined, type Statement } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { guardOf } from '../../database/row-lock.ts';
import type { Acting } from '../../shared/actor.ts';
import { querySubscribers } from '../../webhooks/outbox/emit.ts';
import { insertActivity, shortened } from '../activities/record.ts';
import { movedOn, ownColumns, type TicketRow } from './sql.ts';

/*
 * Tickets are made and changed with their watchers and activity in one statement, many as well as one.
 */

/** What a new ticket is made from; the rest is the database's. */
export type NewTicketRow = Pick<
  TicketRow,
  | 'title'
  | 'description'
  | 'type'
  | 'priority'
  | 'category'
  | 'categoryConfigId'
  | 'requesterId'
  | 'assigneeId'
  | 'parentId'
  | 'customFields'
  | 'createdAt'
  | 'watcherUserIds'
>;

/**
 * Makes tickets. Their ordinals and numbers follow those given out so far, which the tenant's sequence tells when it has been
 * moved on by all of them at once.
 *
 * - $1: the tenant
 * - $2: the tickets as JSON, each with its place among them and among those of its type
 * - $3 to $7: how many they are, and how many incidents, problems, changes and service requests
 * - $8, $9: the user and the key that make them, or null
 */
const insertOf = ({ watched }: { watched: boolean }) => `
  WITH sequence AS (
    INSERT INTO ticket_sequences AS s (tenant_id, total, incident, problem, change, service_request)
    VALUES ($1::bigint, $3::int, $4::int, $5::int, $6::int, $7::int)
    ON CONFLICT (tenant_id) DO UPDATE SET total = s.total + EXCLUDED.total, incident = s.incident + EXCLUDED.incident,
      problem = s.problem + EXCLUDED.problem, change = s.change + EXCLUDED.change,
      service_request = s.service_request + EXCLUDED.service_request
    RETURNING s.total - $3::int AS total, s.incident - $4::int AS incident, s.problem - $5::int AS problem,
      s.change - $6::int AS change, s.service_request - $7::int AS service_request
  ), given AS MATERIALIZED (
    SELECT nextval('tickets_id_seq') AS id, sequence.total + place AS ordinal,
      "placeOfType" + CASE type WHEN 'INCIDENT' THEN incident WHEN 'PROBLEM' THEN problem WHEN 'CHANGE' THEN change
        ELSE service_request END AS number, given.*
    FROM sequence, json_to_recordset($2::json) AS given (place int, "placeOfType" int, title text, description text,
      type text, priority text, category text, "categoryConfigId" text, "requesterId" bigint, "assigneeId" bigint,
      "parentId" bigint, "customFields" jsonb, "createdAt" timestamptz, "watcherUserIds" bigint[])
  ), t AS (
    INSERT INTO tickets (id, tenant_id, ordinal, type, number, title, description, priority, category,
      category_config_id, requester_id, assignee_id, parent_id, custom_fields, created_at, updated_at)
    SELECT id, $1, ordinal, type, number, title, description, priority, category, "categoryConfigId", "requesterId",
      "assigneeId", "parentId", "customFields", "createdAt", "createdAt"
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
    at: '"createdAt"',
    userId: '$8',
    keyId: '$9',
    changes: "'{}'",
  })})
  SELECT to_json(ticket) AS ticket FROM (
    SELECT ${ownColumns}, (SELECT "watcherUserIds" FROM given WHERE given.id = t.id) FROM t ORDER BY ordinal) AS ticket`;

/** Most tickets are made without watchers, and what would write none takes its time, too. */
const insert = { watched: insertOf({ watched: true }), unwatched: insertOf({ watched: false }) };

/** Who writes, and where. */
export interface Writer extends Acting {
  db: TenantClient;
}

/** Returns the statement that inserts tickets. */
function insertion({ db, userId, keyId }: Writer, tickets: readonly NewTicketRow[]): Statement {
  const ofType = { INCIDENT: 0, PROBLEM: 0, CHANGE: 0, SERVICE_REQUEST: 0 };
  const placed = tickets.map((ticket, index) => {
    ofType[ticket.type] += 1;
    return { ...ticket, place: index + 1, placeOfType: ofType[ticket.type] };
  });
  const counts = [tickets.length, ofType.INCIDENT, ofType.PROBLEM, ofType.CHANGE, ofType.SERVICE_REQUEST];
  const values = [db.$tenantId, JSON.stringify(placed), ...counts, userId ?? null, keyId ?? null];
  const text = tickets.some(({ watcherUserIds }) => watcherUserIds.length > 0) ? insert.watched : insert.unwatched;
  return { text, values };
}

/** Tickets as they were written, and whether somebody wants to be told. */
interface Written {
  tickets: TicketRow[];
  isWanted: boolean;
}

/**
 * Makes tickets with their watchers, the next ordinals and the next numbers of their types, and answers them in their
 * order. The tenant's sequence stays locked until the transaction is committed, which keeps ordinals and ids in one order.
 */
export async function insertTickets(writer: Writer, tickets: readonly NewTicketRow[]): Promise<Written> {
  const [, rows = [], asked = []] = await queryPipelined(writer.db, [
    guardOf(writer.db, 'ticketSequence'),
    insertion(writer, tickets),
    querySubscribers(writer.db, 'ticket.created'),
  ]);
  return written(rows, asked, tickets.length);
}

/** What PostgreSQL does to join the one ticket of most requests to what is given takes a tenth of the statement. */
const updates = {
  one: updateOf({ given: 'json_to_record($3::json)', id: 'tickets.id = $2' }),
  oneAsRead: updateOf({ given: 'json_to_record($3::json)', id: 'tickets.id = $2 AND tickets.version = $6' }),
  many: updateOf({
    given: 'json_to_recordset($3::json)',
    // The ids have the index asked whatever the planner expects.
    id: 'tickets.id = ANY ($2::bigint[]) AND tickets.id = given.id',
  }),
};

/**
 * Changes tickets. $1: the tenant; $2: their ids, or the one; $3: what they are to be, as JSON; $4, $5: the user and the key
 * that change them, or null; $6: the version that the one is to be in still.
 */
function updateOf({ given, id }: { given: string; id: string }): string {
  return `
  WITH t AS (
    UPDATE tickets SET title = given.title, description = given.description, status = given.status,
      priority = given.priority, category = given.category, category_config_id = given."categoryConfigId",
      assignee_id = given."assigneeId", parent_id = given."parentId", custom_fields = given."customFields",
      resolution = given.resolution, resolved_at = given."resolvedAt", closed_at = given."closedAt",
      updated_at = ${movedOn('given."updatedAt"')}
    FROM ${given} AS given (id bigint, title text, description text, status text, priority text, category text,
      "categoryConfigId" text, "assigneeId" bigint, "parentId" bigint, "customFields" jsonb, resolution text,
      "resolvedAt" timestamptz, "closedAt" timestamptz, "updatedAt" timestamptz, "watcherUserIds" bigint[], changes jsonb)
    WHERE tenant_id = $1 AND ${id}
    RETURNING tickets.*, given."watcherUserIds", given.changes
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

/** Changes the watchers of tickets: $2 has the tickets' ids, $3 is JSON with those who are to watch each. */
const updateWatchers = `
  WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($3::json) AS given (id bigint, "watcherUserIds" bigint[])
  ), removed AS (
    DELETE FROM ticket_watchers w USING given WHERE w.tenant_id = $1 AND w.ticket_id = ANY ($2::bigint[])
      AND w.ticket_id = given.id AND w.user_id <> ALL (given."watcherUserIds")
  )
  INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
  SELECT $1, id, unnest("watcherUserIds") FROM given ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`;

/** A ticket as it is to be, and what differs from before. */
interface ChangedTicket {
  after: Ticket;
  changes: Changes;
}

/** The statement that changes tickets which the transaction has locked, or one that is still in a version. */
function changing({ db, userId, keyId }: Writer, changed: readonly ChangedTicket[], version?: number): Statement {
  // As Prisma sets it elsewhere.
  const updatedAt = new Date();
  const given = changed.map(({ after, changes }) => ({ ...after, updatedAt, changes: shortened(changes) }));
  const [ids, rows] = given.length === 1 ? [given[0]?.id, given[0]] : [idsOf(changed), given];
  const values = [db.$tenantId, ids, JSON.stringify(rows), userId ?? null, keyId ?? null];
  if (version !== undefined) return { text: updates.oneAsRead, values: [...values, version] };
  return { text: given.length === 1 ? updates.one : updates.many, values };
}

/**
 * Changes tickets that the transaction has locked, and their watchers. Resolves to them as they were written, in no order.
 * @param version of a single ticket that isn't locked, and whose watchers stay: where it is in another one, none is written
 */
export async function changeTickets(
  writer: Writer,
  changed: readonly ChangedTicket[],
  version?: number,
): Promise<Written> {
  const statements = [
    ...watcherChanges(writer.db, changed),
    changing(writer, changed, version),
    querySubscribers(writer.db, 'ticket.updated'),
  ];
  const [rows = [], asked = []] = (await queryPipelined(writer.db, statements)).slice(-2);
  const count = version === undefined ? changed.length : rows.length;
  return written(rows, asked, count);
}

/** The statement that changes watchers, where some change: most patches leave them as they are. */
function watcherChanges(db: TenantClient, changed: readonly ChangedTicket[]): Statement[] {
  const rewatched = changed.filter(({ changes }) => 'watcherUserIds' in changes);
  if (rewatched.length === 0) return [];
  const given = rewatched.map(({ after: { id, watcherUserIds } }) => ({ id, watcherUserIds }));
  return [{ text: updateWatchers, values: [db.$tenantId, idsOf(rewatched), JSON.stringify(given)] }];
}

function idsOf(changed: readonly ChangedTicket[]): number[] {
  return changed.map(({ after }) => after.id);
}

function written(rows: object[], [asked]: object[], count: number): Written {
  if (asked === undefined) throw new Error('Nobody told whether the change is wanted.');
  return { tickets: ticketsOf(rows, count), ...(asked as { isWanted: boolean }) };
}

function ticketsOf(rows: object[], count: number): TicketRow[] {
  if (rows.length !== count) throw new Error('Not all tickets were written.');
  return (rows as { ticket: TicketRow }[]).map(({ ticket }) => ticket);
}
