import type { TicketType } from '@itsm-api/contract';
import { Prisma, type Ticket } from '../../database/generated/client.ts';
import { type Statement, selectRows } from '../../database/statements.ts';
import { noSubscriber } from '../../database/subscribers.ts';
import { rawClient, type TenantClient } from '../../database/tenant-client.ts';

/*
 * Tickets in SQL. Prisma would take a round trip for each of the count, the page and its watchers, in snapshots of
 * their own; here each is one statement (docs/decisions/totals.md). Every statement filters by tenant itself.
 * Tickets come as JSON, which costs the server half of what rows of twenty columns do.
 */

/** A column as Prisma reads it, or as it is in JSON. */
type Stored<Column> = Column extends bigint ? bigint | number : Column extends Date ? Date | string : Column;

/** A ticket with its watchers, ascending. */
export type TicketRow = { [Name in Exclude<keyof Ticket, 'tenantId' | 'ordinal'>]: Stored<Ticket[Name]> } & {
  watcherUserIds: (bigint | number)[];
};

/** What a new ticket is made from; the rest is the database's. */
export type NewTicketRow = Pick<
  Ticket,
  | 'title'
  | 'description'
  | 'type'
  | 'priority'
  | 'category'
  | 'categoryConfigId'
  | 'requesterId'
  | 'assigneeId'
  | 'parentId'
> & { customFields: object; at: Date };

/** The columns of a TicketRow from `t`, without the watchers. */
const ownColumns = `
  t.id, t.type, t.number, t.title, t.description, t.status, t.priority, t.category,
  t.category_config_id AS "categoryConfigId", t.requester_id AS "requesterId", t.assignee_id AS "assigneeId",
  t.parent_id AS "parentId", t.custom_fields AS "customFields", t.resolution, t.resolved_at AS "resolvedAt",
  t.closed_at AS "closedAt", t.created_at AS "createdAt", t.updated_at AS "updatedAt"`;

/** The columns of a TicketRow from the table tickets as `t`. */
export const columns = `${ownColumns},
  ARRAY(SELECT w.user_id FROM ticket_watchers w WHERE w.tenant_id = t.tenant_id AND w.ticket_id = t.id
    ORDER BY w.user_id) AS "watcherUserIds"`;

const selectOne = `SELECT (SELECT to_json(ticket) FROM (
  SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND t.id = $2) AS ticket) AS ticket`;

/** One ticket of the tenant. */
export async function selectTicket(db: TenantClient, id: number): Promise<TicketRow | undefined> {
  const statement: Statement = { text: selectOne, values: [db.$tenantId, id], kind: 'quick' };
  const [row] = await selectRows<{ ticket: TicketRow | null }>(rawClient(db), statement);
  return row?.ticket ?? undefined;
}

/**
 * Locks one ticket until the end of the transaction, and reads it as it then is. `heard` tells whether anybody
 * subscribes to its changes. Resolves to undefined when the tenant has no such ticket.
 */
export async function lockTicket(
  db: TenantClient,
  id: number,
): Promise<{ ticket: TicketRow; heard: boolean } | undefined> {
  const tenantId = db.$tenantId;
  const statement = Prisma.sql`
    SELECT (SELECT to_json(ticket) FROM (SELECT ${Prisma.raw(columns)}) AS ticket) AS ticket,
      NOT ${noSubscriber(tenantId, 'ticket.updated')} AS heard,
      t.xmin = (SELECT seen.xmin FROM tickets seen WHERE seen.tenant_id = t.tenant_id AND seen.id = t.id) AS fresh
    FROM tickets t WHERE t.tenant_id = ${tenantId} AND t.id = ${id}
    FOR NO KEY UPDATE OF t`;
  const read = () => selectRows<{ ticket: TicketRow; heard: boolean; fresh: boolean }>(rawClient(db), statement);
  const [row] = await read();
  if (row === undefined || row.fresh) return row;
  // Where another change had to be waited for, the ticket is that change's and its watchers are older. Now it is ours.
  const [again] = await read();
  return again;
}

/**
 * Makes a ticket with its watchers, the next ordinal and the next number of its type, unless somebody subscribes to
 * `ticket.created` and `evenIfSubscribed` is false: then nothing is done, and undefined is answered. One statement,
 * so one transaction. The sequence stays locked until it is committed, which keeps ordinals and ids in one order.
 */
export async function insertTicket(
  db: TenantClient,
  ticket: NewTicketRow,
  { watcherUserIds, evenIfSubscribed }: { watcherUserIds: number[]; evenIfSubscribed: boolean },
): Promise<TicketRow | undefined> {
  const tenantId = db.$tenantId;
  const ofType = (type: TicketType) => Number(ticket.type === type);
  const statement = Prisma.sql`
    WITH sequence AS (
      INSERT INTO ticket_sequences AS s (tenant_id, total, incident, problem, change, service_request)
      SELECT ${tenantId}::bigint, 1, ${ofType('INCIDENT')}::int, ${ofType('PROBLEM')}::int, ${ofType('CHANGE')}::int,
        ${ofType('SERVICE_REQUEST')}::int
      WHERE ${evenIfSubscribed} OR ${noSubscriber(tenantId, 'ticket.created')}
      ON CONFLICT (tenant_id) DO UPDATE SET total = s.total + 1, incident = s.incident + EXCLUDED.incident,
        problem = s.problem + EXCLUDED.problem, change = s.change + EXCLUDED.change,
        service_request = s.service_request + EXCLUDED.service_request
      RETURNING total, ${Prisma.raw(ticket.type.toLowerCase())} AS number
    ), t AS (
      INSERT INTO tickets (id, tenant_id, ordinal, type, number, title, description, priority, category,
        category_config_id, requester_id, assignee_id, parent_id, custom_fields, created_at, updated_at)
      SELECT nextval('tickets_id_seq'), ${tenantId}, sequence.total, ${ticket.type}, sequence.number,
        ${ticket.title}, ${ticket.description}, ${ticket.priority}, ${ticket.category},
        ${ticket.categoryConfigId}, ${ticket.requesterId}, ${ticket.assigneeId}, ${ticket.parentId},
        ${JSON.stringify(ticket.customFields)}::jsonb, ${ticket.at}::timestamptz, ${ticket.at}::timestamptz
      FROM sequence
      RETURNING *
    ), watcher AS (
      INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
      SELECT t.tenant_id, t.id, unnest(${watcherUserIds}::bigint[]) FROM t
    )
    SELECT to_json(ticket) AS ticket FROM (
      SELECT ${Prisma.raw(ownColumns)}, ${watcherUserIds}::bigint[] AS "watcherUserIds" FROM t) AS ticket`;
  const [row] = await selectRows<{ ticket: TicketRow }>(rawClient(db), statement);
  return row?.ticket;
}

/** Whether `ancestorId` is the ticket itself or stands above `ticketId` in the tree of parents. */
export async function isSelfOrAncestor(db: TenantClient, ancestorId: number, ticketId: number): Promise<boolean> {
  const rows = await rawClient(db).$queryRaw<unknown[]>`
    WITH RECURSIVE chain (id, parent_id) AS (
      SELECT id, parent_id FROM tickets WHERE tenant_id = ${db.$tenantId} AND id = ${ticketId}
      UNION
      SELECT t.id, t.parent_id FROM tickets t JOIN chain c ON t.tenant_id = ${db.$tenantId} AND t.id = c.parent_id
    )
    SELECT 1 FROM chain WHERE id = ${ancestorId}`;
  return rows.length > 0;
}
