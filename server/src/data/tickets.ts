import type { TicketType } from './generated/enums.ts';
import { rawClient, type TenantClient } from './tenant.ts';

/**
 * The next number of a ticket of this type, from 1 per tenant and type. The row stays locked until the transaction
 * ends, so numbers have no gaps and none is given twice (docs/decisions/tickets.md).
 */
export async function takeTicketNumber(db: TenantClient, type: TicketType): Promise<number> {
  const rows = await rawClient(db).$queryRaw<[{ last: number }]>`
    INSERT INTO ticket_numbers (tenant_id, type, last) VALUES (${db.$tenantId}, ${type}::"TicketType", 1)
    ON CONFLICT (tenant_id, type) DO UPDATE SET last = ticket_numbers.last + 1
    RETURNING last`;
  return rows[0].last;
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
