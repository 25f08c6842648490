import {
  type Link,
  type LinkDirection,
  type LinkQuery,
  type LinkType,
  maxLinks,
  type NewLink,
  type TicketReference,
  type TicketType,
} from '@itsm-api/contract';
import { sql, tenant } from '../../../database/client/sql.ts';
import { oneAsJson } from '../../../database/client/statements.ts';
import { invalidField, notFound, requireRow } from '../../../shared/errors.ts';
import { serializeId, serializeTimestamp } from '../../../shared/serialize.ts';
import { type Context, type Transaction, transaction } from '../../shared/context.ts';
import { noSuchTicket } from '../../shared/foreign-keys.ts';
import { type Page, slicePage } from '../../shared/lists.ts';
import { formatTicketNumber } from '../../shared/ticket-number.ts';
import { resolveTicketId } from '../../shared/ticket-reference.ts';
import { presentTicket } from '../presenter.ts';
import { lockTickets, type TicketRow } from '../sql.ts';
import { writeChanges } from '../ticket-update.ts';

type Row = Omit<Link, 'ticketNumber'> & { ticketType: TicketType; number: number };

/** Selects all links of a ticket, which are at most `maxLinks`. Each direction has its own index. */
const selectLinks = oneAsJson<{ ticketId: number }, { links: Row[] | null }>(
  ({ ticketId }) => sql`SELECT (
      SELECT json_agg(link ORDER BY link.id DESC) FROM (
        SELECT l.id, l.type, l.direction, o.id AS "ticketId", o.type AS "ticketType", o.number, l.created_at AS "createdAt"
        FROM (
          SELECT id, type, 'OUTGOING' AS direction, target_id AS other_id, created_at FROM ticket_links
          WHERE tenant_id = ${tenant} AND ticket_id = ${ticketId}
          UNION ALL
          SELECT id, type, 'INCOMING', ticket_id, created_at FROM ticket_links
          WHERE tenant_id = ${tenant} AND target_id = ${ticketId}
        ) AS l JOIN tickets o ON o.tenant_id = ${tenant} AND o.id = l.other_id
      ) AS link) AS links
    FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ${ticketId}`,
);

/** Returns all links of a ticket, newest first. @throws ApiError NOT_FOUND if the ticket doesn't exist */
async function findLinks({ db }: Context, ticketId: number): Promise<Link[]> {
  const found = requireRow(await db.$sql(selectLinks, { ticketId }), 'ticket');
  return (found.links ?? []).map(({ ticketType, number, createdAt, ...link }) => ({
    ...link,
    ticketNumber: formatTicketNumber(ticketType, number),
    createdAt: serializeTimestamp(createdAt),
  }));
}

/** Returns a page of a ticket's links, newest first. @throws ApiError NOT_FOUND if the ticket doesn't exist */
export async function listLinks(context: Context, reference: TicketReference, query: LinkQuery): Promise<Page<Link>> {
  return slicePage(query, await findLinks(context, await resolveTicketId(context, reference)));
}

/**
 * Links a ticket to another ticket. Changes both tickets, and emits `ticket.updated` for both
 * (docs/decisions/tickets.md).
 * @throws ApiError NOT_FOUND if the ticket doesn't exist; INVALID_REFERENCE if the other ticket doesn't exist;
 * VALIDATION_ERROR if both are the same ticket, if the link exists, or if a ticket already has `maxLinks` links
 */
export function createLink(context: Context, reference: TicketReference, input: NewLink): Promise<Link> {
  return transaction(context, async (context) => {
    const { type, ticketId } = input;
    const [ticket, other] = await lockBoth(context, [await resolveTicketId(context, reference), ticketId]);
    if (ticket === undefined) throw notFound('ticket');
    if (other === undefined) throw invalidField('INVALID_REFERENCE', 'ticketId', noSuchTicket);
    await checkLink(context, { type, ticket, other });
    const createdAt = context.now();
    const data = { type, ticketId: ticket.id, targetId: other.id, createdAt };
    const { id } = await context.db.ticketLink.create({ data });
    await changeBoth(context, { ticket, other, type, direction: 'OUTGOING' }, 1);
    return {
      id: serializeId(id),
      type,
      direction: 'OUTGOING',
      ticketId: other.id,
      ticketNumber: formatTicketNumber(other.type, other.number),
      createdAt: createdAt.toISOString(),
    };
  });
}

/** Locks the tickets that exist, and returns them in the order of the ids. */
async function lockBoth({ db }: Context, ids: readonly number[]): Promise<(TicketRow | undefined)[]> {
  const rows = await lockTickets(db, ids);
  return ids.map((id) => rows.find((row) => row.id === id));
}

/** Rejects a link that is not allowed. The caller must lock both tickets. @throws ApiError VALIDATION_ERROR */
async function checkLink(
  context: Context & Transaction,
  { type, ticket, other }: { type: LinkType; ticket: TicketRow; other: TicketRow },
): Promise<void> {
  const reject = (message: string) => invalidField('VALIDATION_ERROR', 'ticketId', message);
  if (ticket.id === other.id) throw reject('must be another ticket than the ticket in the path');
  const isSame = (link: Link) =>
    link.type === type && link.ticketId === other.id && (type === 'RELATES_TO' || link.direction === 'OUTGOING');
  if ((await findLinks(context, ticket.id)).some(isSame)) throw reject('already has a link of this type');
  if (ticket.linkCount >= maxLinks)
    throw reject(`can't be linked, because the ticket in the path has ${maxLinks} links`);
  if (other.linkCount >= maxLinks) throw reject(`must be a ticket with fewer than ${maxLinks} links`);
}

/**
 * Deletes a link of a ticket, in either direction. Changes both tickets, and emits `ticket.updated` for both.
 * @throws ApiError NOT_FOUND if the ticket doesn't exist or doesn't have the link
 */
export function deleteLink(context: Context, reference: TicketReference, linkId: number): Promise<Link> {
  return transaction(context, async (context) => {
    const id = await resolveTicketId(context, reference);
    const link = (await findLinks(context, id)).find((each) => each.id === linkId);
    if (link === undefined) throw notFound('link');
    const [ticket, other] = (await lockBoth(context, [id, link.ticketId])) as [TicketRow, TicketRow];
    const { count } = await context.db.ticketLink.deleteMany({ where: { id: linkId } });
    if (count === 0) throw notFound('link');
    await changeBoth(context, { ...link, ticket, other }, -1);
    return link;
  });
}

/** Changes the `linkCount` of both tickets, and records the created or deleted link in their activity and events. */
async function changeBoth(
  context: Context & Transaction,
  { ticket, other, type, direction }: { ticket: TicketRow; other: TicketRow; type: LinkType; direction: LinkDirection },
  added: 1 | -1,
): Promise<void> {
  const opposite = direction === 'OUTGOING' ? 'INCOMING' : 'OUTGOING';
  const change = (row: TicketRow, linked: TicketRow, direction: LinkDirection) => {
    const { linkCount, dueAtSet } = row;
    const after = { ...presentTicket(row), linkCount: linkCount + added };
    const link = { type, direction, ticketNumber: formatTicketNumber(linked.type, linked.number) };
    const links = added === 1 ? { from: null, to: link } : { from: link, to: null };
    return { after, dueAtSet, changes: { linkCount: { from: linkCount, to: after.linkCount }, links } };
  };
  await writeChanges(context, [change(ticket, other, direction), change(other, ticket, opposite)]);
}
