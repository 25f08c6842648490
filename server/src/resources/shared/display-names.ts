import type { Context } from './context.ts';
import { formatTicketNumber } from './ticket-number.ts';

/** The display names of users, teams and tickets, by id. */
export interface Names {
  users: ReadonlyMap<number, string>;
  teams: ReadonlyMap<number, string>;
  tickets: ReadonlyMap<number, string>;
}

/** Looks up the names of users and teams, and ticket numbers. */
export async function findNames(
  { db }: Pick<Context, 'db'>,
  ids: Record<keyof Names, readonly number[]>,
): Promise<Names> {
  const withIds = (some: readonly number[]) => ({ where: { id: { in: [...some] } } });
  const [users, teams, tickets] = await Promise.all([
    db.user.findMany({ ...withIds(ids.users), select: { id: true, name: true } }),
    db.team.findMany({ ...withIds(ids.teams), select: { id: true, name: true } }),
    db.ticket.findMany({ ...withIds(ids.tickets), select: { id: true, type: true, number: true } }),
  ]);
  return {
    users: new Map(users.map(({ id, name }) => [Number(id), name])),
    teams: new Map(teams.map(({ id, name }) => [Number(id), name])),
    tickets: new Map(tickets.map(({ id, type, number }) => [Number(id), formatTicketNumber(type, number)])),
  };
}
