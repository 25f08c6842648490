import { isDeepStrictEqual } from 'node:util';
import { type ActivityAction, activityTextLength, type Changes, type CustomFields } from '@itsm-api/contract';
import { type Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { command } from '../../database/client/statements.ts';
import { type ActorIds, actorIdsOf } from '../../shared/actor.ts';
import type { Context } from '../shared/context.ts';

/*
 * Records activities in the transaction that makes the change (docs/decisions/tickets.md). If a raw SQL statement
 * writes the change, the same statement also records the activity. If Prisma writes the change, a separate statement
 * records the activity.
 */

/** The types of resources that have an activity log. */
export type ActivityResource = 'TICKET' | 'ASSET';

/** The parts of an INSERT statement for activities.  */
interface Insertion {
  resource: ActivityResource | Parameter;
  action: ActivityAction | Parameter;
  /**
   * A FROM item with the column `id`, which contains the ids of the changed resources. The statement inserts one
   * activity per row.
   */
  rows: Sql;
  /** The expressions `at`, `userId`, `keyId` and `changes` can use the columns of `rows`. */
  at: Sql;
  userId: Parameter;
  keyId: Parameter;
  changes: Sql;
}

/**
 * Builds an INSERT statement for activities. It can run alone, or in a WITH clause of the statement that writes the
 * changed rows.
 */
export function insertActivity({ resource, action, rows, at, userId, keyId, changes }: Insertion): Sql {
  return sql`INSERT INTO activities (tenant_id, resource, resource_id, action, at, actor_user_id, actor_key_id, changes)
    SELECT ${tenant}::bigint, ${resource}, id, ${action}, ${at}, ${userId}::bigint, ${keyId}::bigint, ${changes}
    FROM ${rows}`;
}

/** Builds SQL for the change of a timestamp, in the format of `Changes`. `from` and `to` are SQL expressions. */
export function timestampChange(field: string, from: Sql, to: Sql): Sql {
  const format = (at: Sql) => sql`to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return sql`jsonb_build_object(${field}, jsonb_build_object('from', ${format(from)}, 'to', ${format(to)}))`;
}

/** One action on one or more resources of one type. */
interface Action {
  resource: ActivityResource;
  ids: number[];
  action: ActivityAction;
  changes?: Changes;
}

/** The parameters of the statement that only records activities. */
interface ActivityParameters extends Pick<Action, 'resource' | 'action' | 'ids'>, ActorIds {
  at: Date;
  changes: string;
}

const recordOnly = command<ActivityParameters>(({ resource, action, ids, at, userId, keyId, changes }) =>
  insertActivity({
    ...{ resource, action, userId, keyId },
    rows: sql`unnest(${ids}::bigint[]) AS t (id)`,
    at: sql`${at}::timestamptz`,
    changes: sql`${changes}::jsonb`,
  }),
);

/** Inserts activities in a separate statement of the current transaction. */
export async function record(context: Context, { resource, ids, action, changes = {} }: Action): Promise<void> {
  const text = JSON.stringify(shortened(changes));
  const at = context.now();
  await context.db.$sql(recordOnly, { resource, action, ids, at, ...actorIdsOf(context), changes: text });
}

/**
 * Shortens changes for storage, so that a resource's history doesn't become much larger than the resource. Keeps only
 * the beginning of long texts, and only custom fields that differ. The total length of the custom fields is limited to
 * `activityTextLength`.
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

/**
 * Shortens the value of a custom field for storage. If a list is too long, replaces it with the beginning of its JSON.
 */
function cutField(value: unknown, length: number): unknown {
  if (!Array.isArray(value)) return cut(value, length);
  const json = JSON.stringify(value);
  return json.length > length ? cut(json, length) : value;
}

function cut(value: unknown, length: number): unknown {
  if (typeof value !== 'string' || value.length <= length) return value;
  return `${value.slice(0, length).toWellFormed()}…`;
}
