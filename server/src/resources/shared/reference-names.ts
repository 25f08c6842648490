import { type Endpoint, placesIn, type ResourceKind, resourceKindOf } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import type { Names } from './display-names.ts';

/*
 * Adds names to the ids in a response, for agents and for pages. Without names, a reader of `assigneeId 2` would have to
 * look up the user.
 */

/** The kinds of ids in responses, by the name of their field. The schemas of the responses declare the kinds. */
const kindsOfFields = new Map(
  Object.values(contract)
    .flatMap((endpoints) => Object.values(endpoints as Record<string, Endpoint>))
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap((schema) => placesIn(schema, resourceKindOf))
    .map(({ kind, path }) => [path.findLast((name) => !/^(\*|from|to)$/.test(name)), kind]),
);

const groups: Partial<Record<ResourceKind, keyof Names>> = { user: 'users', team: 'teams', ticket: 'tickets' };

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
    const group = groups[kindsOfFields.get(field) ?? 'category'];
    return group === undefined ? value : change(group, value);
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
