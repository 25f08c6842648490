import type { TicketType } from '@itsm-api/contract';
import { queryOne, tenantQuery } from '../../database/client/raw-sql.ts';
import { formatTicketNumber } from '../tickets/ticket-number.ts';
import type { Context } from './context.ts';

/** The display names of users and tickets, by id. */
export interface Names {
  users: ReadonlyMap<number, string>;
  tickets: ReadonlyMap<number, string>;
}

const selectNames = tenantQuery(`SELECT
  (SELECT json_agg(json_build_array(u.id, u.name)) FROM users u WHERE u.tenant_id = $1 AND u.id = ANY ($2::bigint[])) AS users,
  (SELECT json_agg(json_build_array(t.id, t.type, t.number)) FROM tickets t
    WHERE t.tenant_id = $1 AND t.id = ANY ($3::bigint[])) AS tickets`);

interface Row {
  users: [id: number, name: string][] | null;
  tickets: [id: number, type: TicketType, number: number][] | null;
}

/** Looks up user names and ticket numbers in one database round trip. */
export async function findNames(
  { db }: Pick<Context, 'db'>,
  ids: { users: readonly number[]; tickets: readonly number[] },
): Promise<Names> {
  const row = await queryOne<Row>(db, selectNames, [ids.users, ids.tickets]);
  const tickets = row?.tickets ?? [];
  return {
    users: new Map(row?.users),
    tickets: new Map(tickets.map(([id, type, number]) => [id, formatTicketNumber(type, number)])),
  };
}
