import type { Pool } from '../database/client/pool.ts';
import { prepared } from '../database/client/raw-sql.ts';
import { notInMaintenance } from '../database/tenant-maintenance.ts';
import type { TenantId } from '../shared/tenant-id.ts';

/** The maximum number of requests per tenant and minute that the request log keeps. */
export interface RequestLimits {
  successes: number;
  errors: number;
}

export interface RequestCounts extends RequestLimits {
  /** The number of requests with the status 429. */
  rateLimited: number;
}

/** The number of requests of a tenant that this process has received in a minute. */
export interface MinuteTally extends RequestCounts {
  tenantId: TenantId;
  /** The start of the minute in milliseconds since 1970. */
  minute: number;
  /** The counts that the database already contains. */
  written: RequestCounts;
}

/** A completed request with an API key. */
export interface CompletedRequest {
  tenantId: TenantId;
  keyId: bigint;
  requestId: string;
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

/** A request that waits to be written. */
export interface PendingRequest extends Omit<CompletedRequest, 'tenantId'> {
  /** When the response ended, in milliseconds since 1970. */
  at: number;
  tally: MinuteTally;
  /** The position among the successes or the errors of the tally. The first request has the position 1. */
  position: number;
}

interface Batch {
  requests: readonly PendingRequest[];
  /** The tallies that have changed, including the tallies of all requests. */
  tallies: readonly MinuteTally[];
  limits: RequestLimits;
}

/**
 * Adds requests to the request log, and adds the counts of tenants and minutes. Uses one statement that several
 * processes can run concurrently. The statement skips a request if all processes together have already received
 * `limits` requests before it.
 */
export async function writeRequests(pool: Pool, { requests, tallies, limits }: Batch): Promise<void> {
  const text = (of: (request: PendingRequest) => string | null) => requests.map(of);
  const numbers = (of: (request: PendingRequest) => number | bigint) => toArray(requests, of);
  const values = [
    toArray(tallies, ({ tenantId }) => tenantId),
    toArray(tallies, ({ minute }) => minute),
    toArray(tallies, ({ successes, written }) => successes - written.successes),
    toArray(tallies, ({ errors, written }) => errors - written.errors),
    toArray(tallies, ({ rateLimited, written }) => rateLimited - written.rateLimited),
    limits.successes,
    limits.errors,
    numbers(({ tally }) => tally.tenantId),
    numbers(({ tally }) => tally.minute),
    numbers(({ at }) => at),
    numbers(({ errorCode, tally, position }) => (errorCode === null ? tally.successes : tally.errors) - position),
    numbers(({ keyId }) => keyId),
    numbers(({ milliseconds }) => Math.round(milliseconds)),
    numbers(({ status }) => status),
    text(({ method }) => method),
    text(({ errorCode }) => errorCode),
    text(({ requestId }) => requestId),
    text(({ path }) => path),
    text(({ address }) => address),
  ];
  await pool.query(prepared({ text: addRequests, values }));
}

/** Returns a PostgreSQL array of numbers as text. pg would escape each number. */
function toArray<Item>(items: readonly Item[], of: (item: Item) => number | bigint): string {
  return `{${items.map(of).join()}}`;
}

/**
 * The SQL statement that adds a batch. It inserts the counts in a fixed order. Otherwise, processes that write the same
 * rows could cause a deadlock. `later` is the number of requests that the process received after a request. The ids of
 * requests have the order of the batch, because a list sorts the requests of one millisecond by id.
 */
const addRequests = `
  WITH minutes AS (
    INSERT INTO request_log_minutes AS m (tenant_id, at, successes, errors, rate_limited)
    SELECT tenant_id, to_timestamp(minute / 1000), successes, errors, rate_limited
    FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::int[], $5::int[])
      AS c (tenant_id, minute, successes, errors, rate_limited)
      JOIN tenants t ON t.id = c.tenant_id AND ${notInMaintenance} ORDER BY tenant_id, minute
    ON CONFLICT (tenant_id, at) DO UPDATE SET successes = m.successes + excluded.successes,
      errors = m.errors + excluded.errors, rate_limited = m.rate_limited + excluded.rate_limited
    RETURNING tenant_id, at, successes, errors
  )
  INSERT INTO request_log (tenant_id, at, key_id, milliseconds, status, method, error_code, request_id, path, address)
  SELECT r.tenant_id, to_timestamp(r.at / 1000.0), key_id, milliseconds, status, method, error_code, request_id, path,
    address
  FROM unnest($8::bigint[], $9::bigint[], $10::bigint[], $11::int[], $12::bigint[], $13::int[], $14::smallint[],
    $15::text[], $16::text[], $17::text[], $18::text[], $19::text[]) WITH ORDINALITY
    AS r (tenant_id, minute, at, later, key_id, milliseconds, status, method, error_code, request_id, path, address, n)
  JOIN minutes m ON m.tenant_id = r.tenant_id AND m.at = to_timestamp(r.minute / 1000)
  WHERE CASE WHEN error_code IS NULL THEN m.successes - later <= $6 ELSE m.errors - later <= $7 END
  ORDER BY n`;

/**
 * Returns the common table expression `logged_keys (key_id, status)`, which contains the API keys in the request log of
 * a tenant, with each status of their requests. Needs `WITH RECURSIVE`. Looks up one pair after another in the primary
 * key, because PostgreSQL would read the whole index for `SELECT DISTINCT`.
 * @param tenant the SQL of the tenant id
 * @param keys the SQL of an array of API key ids; default: all keys
 */
export function loggedKeys(tenant: string, keys?: string): string {
  const first = (condition: string) => `(SELECT key_id, status FROM request_log
      WHERE tenant_id = ${tenant} ${condition} ORDER BY key_id, status LIMIT 1)`;
  const start = keys === undefined ? first('') : `unnest(${keys}) AS k (id), LATERAL ${first('AND key_id = k.id')}`;
  const next =
    keys === undefined ? '(key_id, status) > (k.key_id, k.status)' : 'key_id = k.key_id AND status > k.status';
  return `logged_keys (key_id, status) AS (
    SELECT first.* FROM ${start} first
    UNION ALL
    SELECT next.* FROM logged_keys k, LATERAL ${first(`AND ${next}`)} next
  )`;
}
