import type { Names } from '../resources/shared/display-names.ts';

/*
 * Adds names to ids. Otherwise, an agent that reads `assigneeId 2` would request the user next.
 */

/** Fields with user ids or lists of user ids. */
const ofUsers = new Set([
  'assigneeId',
  'requesterId',
  'managerId',
  'assignedToId',
  'authorId',
  'userId',
  'watcherUserIds',
]);

/** Fields with ticket ids. */
const ofTickets = new Set(['parentId', 'ticketId']);

/** The ids in a response. */
export interface ReferencedIds {
  users: Set<number>;
  tickets: Set<number>;
}

/** Returns the ids in a response at any depth. */
export function referredIn(response: unknown): ReferencedIds {
  const ids: ReferencedIds = { users: new Set(), tickets: new Set() };
  mapIds('', response, (kind, id) => ids[kind].add(id));
  return ids;
}

/** Returns the value of a field with names next to its ids, such as `2 Jonas Weber`. */
export function withNames(field: string, value: unknown, known: Names): unknown {
  return mapIds(field, value, (kind, id) => {
    const name = known[kind].get(id);
    return name === undefined ? id : `${id} ${name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name}`;
  });
}

const maxNameLength = 60;

/** Maps the ids of a value. Skips custom fields, because the workspace defines their names. */
function mapIds(field: string, value: unknown, change: (kind: keyof ReferencedIds, id: number) => unknown): unknown {
  if (typeof value === 'number') {
    if (ofUsers.has(field)) return change('users', value);
    return ofTickets.has(field) ? change('tickets', value) : value;
  }
  if (typeof value !== 'object' || value === null || field === 'customFields') return value;
  if (Array.isArray(value)) return value.map((each) => mapIds(field, each, change));
  const mapped: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    // `from` and `to` of an activity contain values of the changed field.
    const name = key === 'from' || key === 'to' ? field : key;
    mapped[key] = mapIds(name, (value as Record<string, unknown>)[key], change);
  }
  return mapped;
}
