import { errors, Id } from '@itsm-api/contract';
import * as z from 'zod';
import { queryPipelined, queryRows, type Statement } from '../../database/client/raw-sql.ts';
import { clientClosed } from '../../shared/request-lifecycle.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import { type LoggedErrorCode, loggedErrorCodes } from '../../usage/logged-error-codes.ts';
import { loggedKeys, type RequestCounts } from '../../usage/request-store.ts';
import type { Context } from '../shared/context.ts';

/*
 * Reads the request log (docs/decisions/request-log.md). The primary key contains the API key and the status before the
 * time. A list therefore merges the newest requests of several keys and statuses.
 */

/** A request in the request log. */
export interface LoggedRequest {
  /** When the response ended. */
  at: string;
  requestId: string;
  keyId: number;
  method: string;
  /** The path and the query, without the values of `q`, `email` and `name`. */
  path: string;
  status: number;
  /** The error code, or null if the request succeeded. */
  errorCode: string | null;
  milliseconds: number;
  /** The client's IP address. */
  address: string;
}

/** The schema for a filter of the request log. An empty filter matches all requests of the tenant. */
export const RequestFilter = z.strictObject({
  key: Id.optional(),
  /** An error code, or `any` for all failed requests. */
  error: z.enum(['any', ...loggedErrorCodes]).optional(),
  /** Selects requests that ended at or after this time. */
  since: z.date().optional(),
  /** Selects requests that ended before this time. */
  until: z.date().optional(),
});
export type RequestFilter = z.output<typeof RequestFilter>;

/** The schema of a position in a list of requests: the time in milliseconds since 1970, and an id. */
export const RequestPosition = z.string().regex(/^\d{1,15}-\d{1,18}$/, 'must be the position of a request');

/** Selects which of the matching requests to return. */
interface Extent {
  take: number;
  /** Limits the result to requests after this position in the list, which are older. */
  after?: string | undefined;
  /** Limits the result to requests of these API keys. Default: all keys of the tenant. */
  keyIds?: readonly number[] | undefined;
}

type Usable = Pick<Context, 'db'>;

/**
 * Returns the requests that match the filter, newest first. `next` is the position of the last one, or undefined if no
 * more requests match. Don't call this function within a transaction, because it changes a setting of the planner.
 */
export async function listRequests(
  { db }: Usable,
  { key, error, since, until }: RequestFilter,
  { take, after, keyIds }: Extent,
): Promise<{ data: LoggedRequest[]; next: string | undefined }> {
  const keys = key === undefined ? keyIds : keyIds === undefined || keyIds.includes(key) ? [key] : [];
  const statement = listStatement(db.$tenantId, { keys, error, since, until, after, limit: take + 1 });
  const [, found = []] = await queryPipelined(db, [{ text: avoidBitmaps, values: [] }, statement]);
  const rows = found as LoggedRow[];
  const last = rows.length > take ? rows[take - 1] : undefined;
  return { data: rows.slice(0, take).map(presentRequest), next: last && `${last.at.getTime()}-${last.id}` };
}

/** Returns the requests with the given request id, newest first. Clients can send the same id several times. */
export async function findRequests(
  { db }: Usable,
  requestId: string,
  { keyIds }: Pick<Extent, 'keyIds'> = {},
): Promise<LoggedRequest[]> {
  const rows = await queryRows<LoggedRow>(db, { text: findSql, values: [db.$tenantId, requestId, keyIds ?? null] });
  return rows.map(presentRequest);
}

/** Counts the requests of the tenant in a time range, by minute, whether the log keeps them or not. */
export async function countRequests(
  { db }: Usable,
  { since, until }: Pick<RequestFilter, 'since' | 'until'>,
): Promise<RequestCounts> {
  const values = [db.$tenantId, since ?? null, until ?? null];
  const [counts] = await queryRows<RequestCounts>(db, { text: countSql, values });
  return counts ?? { successes: 0, errors: 0, rateLimited: 0 };
}

/** A row as pg returns it. */
interface LoggedRow extends Omit<LoggedRequest, 'at' | 'keyId'> {
  at: Date;
  id: string;
  keyId: string;
}

/** The maximum number of requests with the same request id that `findRequests` returns. */
const maxFound = 100;

const columns = `at, id, request_id AS "requestId", key_id AS "keyId", method, path, status, error_code AS "errorCode",
  milliseconds, address`;

const findSql = `
  SELECT ${columns} FROM request_log
  WHERE tenant_id = $1 AND request_id = $2 AND ($3::bigint[] IS NULL OR key_id = ANY ($3::bigint[]))
  ORDER BY at DESC, id DESC LIMIT ${maxFound}`;

const countSql = `
  SELECT coalesce(sum(successes), 0)::float8 AS successes, coalesce(sum(errors), 0)::float8 AS errors,
    coalesce(sum(rate_limited), 0)::float8 AS "rateLimited"
  FROM request_log_minutes
  WHERE tenant_id = $1 AND at >= coalesce($2::timestamptz, '-infinity') AND at < coalesce($3::timestamptz, 'infinity')`;

/**
 * SQL that makes PostgreSQL read the newest entries from the index. PostgreSQL assumes that the tenant, the API key and
 * the status of a request are independent of each other, so it expects few requests of a key. It would therefore read
 * and sort all requests of each key.
 */
const avoidBitmaps = `SELECT set_config('enable_bitmapscan', 'off', true)`;

interface ListOptions extends Pick<RequestFilter, 'error' | 'since' | 'until'> {
  keys: readonly number[] | undefined;
  after: string | undefined;
  limit: number;
}

/**
 * Returns the statement that lists requests. First finds the newest request of each API key and status. Only the
 * `limit` pairs with the newest requests can have requests in the list, so PostgreSQL then reads at most `limit` index
 * entries of each of these pairs.
 */
function listStatement(tenantId: TenantId, { keys, error, since, until, after, limit }: ListOptions): Statement {
  const values: unknown[] = [tenantId, limit];
  const parameter = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const conditions = ['tenant_id = $1', 'key_id = k.key_id', 'status = k.status'];
  if (error === 'any') conditions.push('k.status >= 400');
  else if (error !== undefined) {
    conditions.push(`k.status = ${parameter(statusOf(error), 'smallint')}`);
    conditions.push(`error_code = ${parameter(error, 'text')}`);
  }
  if (since !== undefined) conditions.push(`at >= ${parameter(since, 'timestamptz')}`);
  if (until !== undefined) conditions.push(`at < ${parameter(until, 'timestamptz')}`);
  if (after !== undefined) {
    const [at, id] = after.split('-');
    conditions.push(`(at, id) < (${parameter(new Date(Number(at)), 'timestamptz')}, ${parameter(id, 'bigint')})`);
  }
  const logged = loggedKeys('$1', keys && parameter(keys, 'bigint[]'));
  const newest = (from: string, count: string) => `
    SELECT k.key_id, k.status, r.at, r.id FROM ${from} k, LATERAL (
      SELECT at, id FROM request_log WHERE ${conditions.join(' AND ')} ORDER BY at DESC, id DESC LIMIT ${count}
    ) r ORDER BY r.at DESC, r.id DESC LIMIT $2`;
  const text = `
    WITH RECURSIVE ${logged}, recent_keys AS (${newest('logged_keys', '1')}), positions AS (${newest('recent_keys', '$2')})
    SELECT ${columns} FROM positions JOIN request_log USING (key_id, status, at, id)
    WHERE tenant_id = $1 ORDER BY at DESC, id DESC`;
  return { text, values };
}

function statusOf(error: LoggedErrorCode): number {
  return error === 'CLIENT_DISCONNECTED' ? clientClosed : errors[error].status;
}

function presentRequest({ id: _, at, keyId, ...request }: LoggedRow): LoggedRequest {
  return { ...request, at: serializeTimestamp(at), keyId: serializeId(BigInt(keyId)) };
}
