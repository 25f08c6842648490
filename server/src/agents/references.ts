import type { Names } from '../resources/names.ts';

/*
 * Names beside ids: an agent that reads `assigneeId 2` would ask for the user next, and pay for it.
 */

/** Fields that hold ids of users, or lists of them. */
const ofUsers = new Set([
  'assigneeId',
  'requesterId',
  'managerId',
  'assignedToId',
  'authorId',
  'userId',
  'watcherUserIds',
]);

/** Fields that hold ids of tickets. */
const ofTickets = new Set(['parentId', 'ticketId']);

/** Ids that an answer names. */
export interface Referred {
  users: Set<number>;
  tickets: Set<number>;
}

/** The ids that an answer names, wherever they stand in it. */
export function referredIn(value: unknown): Referred {
  const referred: Referred = { users: new Set(), tickets: new Set() };
  mapIds(value, '', (kind, id) => {
    referred[kind].add(id);
    return id;
  });
  return referred;
}

/** An answer with what is known of its ids beside them, such as `2 Jonas Weber`. */
export function withNames(value: unknown, known: Names): unknown {
  return mapIds(value, '', (kind, id) => {
    const name = known[kind].get(id);
    return name === undefined ? id : `${id} ${name.length > longestName ? `${name.slice(0, longestName)}…` : name}`;
  });
}

const longestName = 60;

/** Custom fields are the workspace's own: a name there says nothing. */
function mapIds(value: unknown, name: string, change: (kind: keyof Referred, id: number) => unknown): unknown {
  if (name === 'customFields') return value;
  if (Array.isArray(value)) return value.map((each) => mapIds(each, name, change));
  if (typeof value === 'object' && value !== null) {
    // What changed in a field is that field, before and after.
    const nameOf = (key: string) => (key === 'from' || key === 'to' ? name : key);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapIds(each, nameOf(key), change)]));
  }
  if (typeof value !== 'number') return value;
  if (ofUsers.has(name)) return change('users', value);
  return ofTickets.has(name) ? change('tickets', value) : value;
}
