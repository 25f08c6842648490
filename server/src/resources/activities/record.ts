import { isDeepStrictEqual } from 'node:util';
import { type ActivityAction, activityTextLength, type Changes, type CustomFields } from '@itsm-api/contract';
import { queryRows } from '../../database/client/raw-sql.ts';
import type { Context } from '../shared/context.ts';

/*
 * Activity is written with what it tells of: in the same statement where that is one of our own, else in the same
 * transaction (docs/decisions/tickets.md).
 */

/** What activity is kept of. */
export type Recorded = 'TICKET' | 'ASSET';

/** What was done, and in SQL: to which rows, when, by whom and what changed. */
interface Insertion {
  resource: Recorded;
  action: ActivityAction;
  tenantId: string;
  /** What may stand behind FROM, and has an `id`: a row of activity for each. */
  rows: string;
  /** Expressions, over `rows` where they like. */
  at: string;
  userId: string;
  keyId: string;
  changes: string;
}

/** The INSERT of activity, for a WITH beside the statement that writes the rows, or by itself. */
export function insertActivity({ resource, action, tenantId, rows, at, userId, keyId, changes }: Insertion): string {
  return `INSERT INTO activities (tenant_id, resource, resource_id, action, at, actor_user_id, actor_key_id, changes)
    SELECT ${tenantId}::bigint, '${resource}', id, '${action}', ${at}, ${userId}::bigint, ${keyId}::bigint, ${changes}
    FROM ${rows}`;
}

/** The same thing that was done to some rows. */
interface Deed {
  resource: Recorded;
  ids: number[];
  action: ActivityAction;
  changes?: Changes;
}

/** Writes activity in a statement of its own, in the transaction that is under way. */
export async function record(context: Context, { resource, ids, action, changes = {} }: Deed): Promise<void> {
  const { db, now, userId = null, keyId = null } = context;
  const text = insertActivity({
    resource,
    action,
    tenantId: '$1',
    rows: 'unnest($2::bigint[]) AS t (id)',
    at: '$3::timestamptz',
    userId: '$4',
    keyId: '$5',
    changes: '$6::jsonb',
  });
  const values = [db.$tenantId, ids, now(), userId, keyId, JSON.stringify(shortened(changes))];
  await queryRows(db, { text, values });
}

/**
 * Changes as they are kept, so that a history is not many times its resource: of long texts the beginning, and of custom
 * fields those that differ, which share the length of one text.
 */
export function shortened(changes: Changes): Changes {
  const short = Object.entries(changes).map(([name, { from, to }]) => {
    if (name === 'customFields') return [name, shortenedFields(from as CustomFields, to as CustomFields)];
    return [name, { from: cut(from, activityTextLength), to: cut(to, activityTextLength) }];
  });
  return Object.fromEntries(short);
}

function shortenedFields(from: CustomFields, to: CustomFields): { from: CustomFields; to: CustomFields } {
  const names = Object.keys({ ...from, ...to }).filter((name) => !isDeepStrictEqual(from[name], to[name]));
  const length = Math.floor(activityTextLength / names.length);
  const kept = (fields: CustomFields) =>
    Object.fromEntries(
      names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, cutField(fields[name], length)]),
    ) as CustomFields;
  return { from: kept(from), to: kept(to) };
}

/** A list that is too long is kept as text: the beginning of its JSON. */
function cutField(value: unknown, length: number): unknown {
  if (!Array.isArray(value)) return cut(value, length);
  const json = JSON.stringify(value);
  return json.length > length ? cut(json, length) : value;
}

function cut(value: unknown, length: number): unknown {
  if (typeof value !== 'string' || value.length <= length) return value;
  return `${value.slice(0, length).toWellFormed()}…`;
}
