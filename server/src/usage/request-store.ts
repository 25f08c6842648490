import type { SystemClient } from '../database/client/prisma.ts';
import { empty, type Sql, sql, tenant } from '../database/client/sql.ts';
import { allTenants } from '../database/client/statements.ts';
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
  /** The path and the query. */
  url: string;
  status: number;
  /** The error code, or null if the request succeeded. */
  errorCode: string | null;
  milliseconds: number;
  /** The client's IP address. */
  address: string;
}

/** A request that waits to be written. */
export interface PendingRequest extends Omit<CompletedRequest, 'tenantId' | 'url'> {
  /** The result of `toLoggedPath`. */
  path: string;
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
export async function writeRequests(system: SystemClient, { requests, tallies, limits }: Batch): Promise<void> {
  const text = (of: (request: PendingRequest) => string | null) => requests.map(of);
  const numbers = (of: (request: PendingRequest) => number | bigint) => toArray(requests, of);
  await system.$sql(addRequests, {
    tallyTenants: toArray(tallies, ({ tenantId }) => tenantId),
    tallyMinutes: toArray(tallies, ({ minute }) => minute),
    successes: toArray(tallies, ({ successes, written }) => successes - written.successes),
    errors: toArray(tallies, ({ errors, written }) => errors - written.errors),
    rateLimited: toArray(tallies, ({ rateLimited, written }) => rateLimited - written.rateLimited),
    maxSuccesses: limits.successes,
    maxErrors: limits.errors,
    tenants: numbers(({ tally }) => tally.tenantId),
    minutes: numbers(({ tally }) => tally.minute),
    at: numbers(({ at }) => at),
    later: numbers(
      ({ errorCode, tally, position }) => (errorCode === null ? tally.successes : tally.errors) - position,
    ),
    keys: numbers(({ keyId }) => keyId),
    milliseconds: numbers(({ milliseconds }) => Math.round(milliseconds)),
    statuses: numbers(({ status }) => status),
    methods: text(({ method }) => method),
    errorCodes: text(({ errorCode }) => errorCode),
    requestIds: text(({ requestId }) => requestId),
    paths: text(({ path }) => path),
    addresses: text(({ address }) => address),
  });
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
const addRequests = allTenants.command<NewRows>(
  (given) => sql`
  WITH minutes AS (
    INSERT INTO request_log_minutes AS m (tenant_id, at, successes, errors, rate_limited)
    SELECT tenant_id, to_timestamp(minute / 1000), successes, errors, rate_limited
    FROM unnest(${given.tallyTenants}::bigint[], ${given.tallyMinutes}::bigint[], ${given.successes}::int[],
        ${given.errors}::int[], ${given.rateLimited}::int[])
      AS c (tenant_id, minute, successes, errors, rate_limited)
      JOIN tenants t ON t.id = c.tenant_id AND ${notInMaintenance} ORDER BY tenant_id, minute
    ON CONFLICT (tenant_id, at) DO UPDATE SET successes = m.successes + excluded.successes,
      errors = m.errors + excluded.errors, rate_limited = m.rate_limited + excluded.rate_limited
    RETURNING tenant_id, at, successes, errors
  )
  INSERT INTO request_log (tenant_id, at, key_id, milliseconds, status, method, error_code, request_id, path, address)
  SELECT r.tenant_id, to_timestamp(r.at / 1000.0), key_id, milliseconds, status, method, error_code, request_id, path,
    address
  FROM unnest(${given.tenants}::bigint[], ${given.minutes}::bigint[], ${given.at}::bigint[], ${given.later}::int[],
    ${given.keys}::bigint[], ${given.milliseconds}::int[], ${given.statuses}::smallint[], ${given.methods}::text[],
    ${given.errorCodes}::text[], ${given.requestIds}::text[], ${given.paths}::text[], ${given.addresses}::text[])
      WITH ORDINALITY
    AS r (tenant_id, minute, at, later, key_id, milliseconds, status, method, error_code, request_id, path, address, n)
  JOIN minutes m ON m.tenant_id = r.tenant_id AND m.at = to_timestamp(r.minute / 1000)
  WHERE CASE WHEN error_code IS NULL THEN m.successes - later <= ${given.maxSuccesses}
    ELSE m.errors - later <= ${given.maxErrors} END
  ORDER BY n`,
);

/** The columns of a batch. Each column is an array, or a PostgreSQL array as text. */
type NewRows = Record<'tallyTenants' | 'tallyMinutes' | 'successes' | 'errors' | 'rateLimited', string> &
  Record<'tenants' | 'minutes' | 'at' | 'later' | 'keys' | 'milliseconds' | 'statuses', string> &
  Record<'methods' | 'errorCodes' | 'requestIds' | 'paths' | 'addresses', (string | null)[]> &
  Record<'maxSuccesses' | 'maxErrors', number>;

/**
 * Returns the common table expression `logged_keys (key_id, status)`, which contains the API keys in the request log of
 * a tenant, with each status of their requests. Needs `WITH RECURSIVE`. Looks up one pair after another in the primary
 * key, because PostgreSQL would read the whole index for `SELECT DISTINCT`.
 * @param keys the SQL of an array of API key ids; default: all keys
 */
export function loggedKeys(keys?: Sql): Sql {
  const first = (condition: Sql) => sql`(SELECT key_id, status FROM request_log
      WHERE tenant_id = ${tenant} ${condition} ORDER BY key_id, status LIMIT 1)`;
  const start =
    keys === undefined ? first(empty) : sql`unnest(${keys}) AS k (id), LATERAL ${first(sql`AND key_id = k.id`)}`;
  const next =
    keys === undefined ? sql`(key_id, status) > (k.key_id, k.status)` : sql`key_id = k.key_id AND status > k.status`;
  return sql`logged_keys (key_id, status) AS (
    SELECT first.* FROM ${start} first
    UNION ALL
    SELECT next.* FROM logged_keys k, LATERAL ${first(sql`AND ${next}`)} next
  )`;
}
