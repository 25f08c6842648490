import { errors, Id } from '@itsm-api/contract';
import * as z from 'zod';
import { join, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { dynamic, rows } from '../../database/client/statements.ts';
import { clientClosed } from '../../shared/request-lifecycle.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
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
 * more requests match.
 */
export async function listRequests(
  { db }: Usable,
  { key, error, since, until }: RequestFilter,
  { take, after, keyIds }: Extent,
): Promise<{ data: LoggedRequest[]; next: string | undefined }> {
  const keys = key === undefined ? keyIds : keyIds === undefined || keyIds.includes(key) ? [key] : [];
  const rows = await db.$sql(selectList({ keys, error, since, until, after, limit: take + 1 }));
  const last = rows.length > take ? rows[take - 1] : undefined;
  return { data: rows.slice(0, take).map(presentRequest), next: last && `${last.at.getTime()}-${last.id}` };
}

/** Returns the requests with the given request id, newest first. Clients can send the same id several times. */
export async function findRequests(
  { db }: Usable,
  requestId: string,
  { keyIds }: Pick<Extent, 'keyIds'> = {},
): Promise<LoggedRequest[]> {
  const rows = await db.$sql(selectByRequestId, { requestId, keyIds: keyIds ?? null });
  return rows.map(presentRequest);
}

/** Counts the requests of the tenant in a time range, by minute, whether the log keeps them or not. */
export async function countRequests(
  { db }: Usable,
  { since, until }: Pick<RequestFilter, 'since' | 'until'>,
): Promise<RequestCounts> {
  const [counts] = await db.$sql(countByMinute, { since: since ?? null, until: until ?? null });
  return counts ?? { successes: 0, errors: 0, rateLimited: 0 };
}

/** A row as pg returns it. */
interface LoggedRow extends Omit<LoggedRequest, 'at' | 'keyId'> {
  at: Date;
  id: bigint;
  keyId: bigint;
}

/** The maximum number of requests with the same request id that `findRequests` returns. */
const maxFound = 100;

const columns = sql`at, id, request_id AS "requestId", key_id AS "keyId", method, path, status,
  error_code AS "errorCode", milliseconds, address`;

const selectByRequestId = rows<{ requestId: string; keyIds: readonly number[] | null }, LoggedRow>(
  ({ requestId, keyIds }) => sql`
  SELECT ${columns} FROM request_log
  WHERE tenant_id = ${tenant} AND request_id = ${requestId}
    AND (${keyIds}::bigint[] IS NULL OR key_id = ANY (${keyIds}::bigint[]))
  ORDER BY at DESC, id DESC LIMIT ${maxFound}`,
);

const countByMinute = rows<{ since: Date | null; until: Date | null }, RequestCounts>(
  ({ since, until }) => sql`
  SELECT coalesce(sum(successes), 0)::float8 AS successes, coalesce(sum(errors), 0)::float8 AS errors,
    coalesce(sum(rate_limited), 0)::float8 AS "rateLimited"
  FROM request_log_minutes
  WHERE tenant_id = ${tenant} AND at >= coalesce(${since}::timestamptz, '-infinity')
    AND at < coalesce(${until}::timestamptz, 'infinity')`,
);

/**
 * The setting that makes PostgreSQL read the newest entries from the index. PostgreSQL assumes that the tenant, the API key and
 * the status of a request are independent of each other, so it expects few requests of a key. It would therefore read
 * and sort all requests of each key.
 */
const withoutBitmaps = { enable_bitmapscan: 'off' };

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
function selectList({ keys, error, since, until, after, limit }: ListOptions) {
  return dynamic<LoggedRow>(() => {
    const conditions = [sql`tenant_id = ${tenant}`, sql`key_id = k.key_id`, sql`status = k.status`];
    if (error === 'any') conditions.push(sql`k.status >= 400`);
    else if (error !== undefined) {
      conditions.push(sql`k.status = ${statusOf(error)}::smallint`, sql`error_code = ${error}::text`);
    }
    if (since !== undefined) conditions.push(sql`at >= ${since}::timestamptz`);
    if (until !== undefined) conditions.push(sql`at < ${until}::timestamptz`);
    if (after !== undefined) {
      const [at, id] = after.split('-');
      conditions.push(sql`(at, id) < (${new Date(Number(at))}::timestamptz, ${id}::bigint)`);
    }
    const newest = (from: Sql, count: number) => sql`
      SELECT k.key_id, k.status, r.at, r.id FROM ${from} k, LATERAL (
        SELECT at, id FROM request_log WHERE ${join(conditions, ' AND ')} ORDER BY at DESC, id DESC LIMIT ${count}
      ) r ORDER BY r.at DESC, r.id DESC LIMIT ${limit}`;
    return sql`
      WITH RECURSIVE ${loggedKeys(keys && sql`${keys}::bigint[]`)},
        recent_keys AS (${newest(sql`logged_keys`, 1)}), positions AS (${newest(sql`recent_keys`, limit)})
      SELECT ${columns} FROM positions JOIN request_log USING (key_id, status, at, id)
      WHERE tenant_id = ${tenant} ORDER BY at DESC, id DESC`;
  }, withoutBitmaps);
}

function statusOf(error: LoggedErrorCode): number {
  return error === 'CLIENT_DISCONNECTED' ? clientClosed : errors[error].status;
}

function presentRequest({ id: _, at, keyId, ...request }: LoggedRow): LoggedRequest {
  return { ...request, at: serializeTimestamp(at), keyId: serializeId(keyId) };
}
