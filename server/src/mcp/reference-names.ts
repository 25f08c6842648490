import type { Names } from '../resources/shared/display-names.ts';

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
export interface ReferencedIds {
  users: Set<number>;
  tickets: Set<number>;
}

/** The ids that an answer names, wherever they stand in it. */
export function referredIn(answer: unknown): ReferencedIds {
  const referred: ReferencedIds = { users: new Set(), tickets: new Set() };
  mapIds('', answer, (kind, id) => referred[kind].add(id));
  return referred;
}

/** The value of a field with what is known of its ids beside them, such as `2 Jonas Weber`. */
export function withNames(field: string, value: unknown, known: Names): unknown {
  return mapIds(field, value, (kind, id) => {
    const name = known[kind].get(id);
    return name === undefined ? id : `${id} ${name.length > longestName ? `${name.slice(0, longestName)}…` : name}`;
  });
}

const longestName = 60;

/** Custom fields are the workspace's own: a name there says nothing. */
function mapIds(field: string, value: unknown, change: (kind: keyof ReferencedIds, id: number) => unknown): unknown {
  if (typeof value === 'number') {
    if (ofUsers.has(field)) return change('users', value);
    return ofTickets.has(field) ? change('tickets', value) : value;
  }
  if (typeof value !== 'object' || value === null || field === 'customFields') return value;
  if (Array.isArray(value)) return value.map((each) => mapIds(field, each, change));
  const mapped: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    // What changed in a field is that field, before and after.
    const name = key === 'from' || key === 'to' ? field : key;
    mapped[key] = mapIds(name, (value as Record<string, unknown>)[key], change);
  }
  return mapped;
}
