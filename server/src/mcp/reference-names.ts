import type { Names } from '../resources/shared/display-names.ts';

/*
 * Adds names to the ids in a tool result. Without names, an agent that reads `assigneeId 2` would have to request the
 * user.
 */

/** Names of fields that contain a user id or a list of user ids. */
const ofUsers = new Set([
  'assigneeId',
  'requesterId',
  'managerId',
  'assignedToId',
  'authorId',
  'userId',
  'watcherUserIds',
]);

/** Names of fields that contain a team id or a list of team ids. */
const ofTeams = new Set(['teamId', 'teamIds']);

/** Names of fields that contain a ticket id. */
const ofTickets = new Set(['parentId', 'ticketId']);

/** The ids of users, teams and tickets in a response. */
export type ReferencedIds = Record<keyof Names, Set<number>>;

/** Finds all ids of users, teams and tickets in a response, at any depth. */
export function findReferencedIds(response: unknown): ReferencedIds {
  const ids: ReferencedIds = { users: new Set(), teams: new Set(), tickets: new Set() };
  mapIds('', response, (kind, id) => ids[kind].add(id));
  return ids;
}

/** Adds the name after each id in the value of a field. For example, `2` becomes `2 Jonas Weber`. */
export function withNames(field: string, value: unknown, known: Names): unknown {
  return mapIds(field, value, (kind, id) => {
    const name = known[kind].get(id);
    return name === undefined ? id : `${id} ${name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name}`;
  });
}

const maxNameLength = 60;

/**
 * Replaces each id in a value with the result of `change`. Skips custom fields, because a custom field can have the
 * same name as an id field.
 */
function mapIds(field: string, value: unknown, change: (kind: keyof ReferencedIds, id: number) => unknown): unknown {
  if (typeof value === 'number') {
    if (ofUsers.has(field)) return change('users', value);
    if (ofTeams.has(field)) return change('teams', value);
    return ofTickets.has(field) ? change('tickets', value) : value;
  }
  if (typeof value !== 'object' || value === null || field === 'customFields') return value;
  if (Array.isArray(value)) return value.map((each) => mapIds(field, each, change));
  const mapped: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    // In an activity, `from` and `to` contain the old and new values of a field.
    const name = key === 'from' || key === 'to' ? field : key;
    mapped[key] = mapIds(name, (value as Record<string, unknown>)[key], change);
  }
  return mapped;
}
