import { readFileSync } from 'node:fs';
import { errors } from '@itsm-api/contract';
import { readSettings } from '@itsm-api/server/config/env.ts';
import type { Pool } from '@itsm-api/server/database/client/pool.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { withinTenant } from '@itsm-api/server/database/client/tenant-context.ts';
import { requestIdOf } from '@itsm-api/server/http/request-id.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { openRuntime, type Runtime } from '@itsm-api/server/process/runtime.ts';
import { countRequests, findRequests, listRequests } from '@itsm-api/server/resources/requests/queries.ts';
import { type TenantId, toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { toLoggedPath } from '@itsm-api/server/usage/request-hook.ts';
import { createRequestRecorder, type RequestRecorder } from '@itsm-api/server/usage/request-recorder.ts';
import { pruneRequestLog } from '@itsm-api/server/usage/usage-retention.ts';
import pg from 'pg';
import { percentiles } from '../../support/percentiles.ts';

/** The cost of the request log. */
export interface RequestLogResult {
  /** Node's CPU time per request in microseconds, including the writes, by the requests that are logged. */
  nodeUs: { all: number; none: number };
  /**
   * PostgreSQL's CPU time for writing 1,000 requests in milliseconds, by the number of workspaces that they belong to,
   * in an empty log and in a full log.
   */
  writeMs: Record<string, { empty: number; full: number }>;
  rows: number;
  bytesPerRow: number;
  /** The latency of each query in the full log, and PostgreSQL's CPU time, in milliseconds. */
  queries: Record<string, { p50: number; p95: number; cpuMs: number }>;
  /** PostgreSQL's CPU time for deleting 1,000 requests, in milliseconds. */
  deleteMs: number;
}

interface RequestLogOptions {
  dataDir: string;
  rows: number;
  onProgress: (text: string) => void;
}

/** The maximum values of the results (the issue that the request log was built for has the same values). */
const maxNodeUs = 5;
const maxWriteMs = 10;
const maxQueryMs = 20;

/** The workspaces of a batch: all at their limit of 60 successes, or with fewer requests each. */
const workspaceCounts = [17, 100, 1000];
const keysPerWorkspace = 20;
const codes = ['VALIDATION_ERROR', 'NOT_FOUND', 'INSUFFICIENT_SCOPE', 'INVALID_TRANSITION'] as const;
const statuses = codes.map((code) => errors[code].status);
const batches = 100;
const turns = 200;

/** Measures the request log. Most requests of the full log belong to one workspace. */
export async function benchRequestLog({ dataDir, rows, onProgress }: RequestLogOptions) {
  const runtime = await openRuntime(readSettings({ DATA_DIR: dataDir, DATABASE_POOL_SIZE: '1' }), {
    holder: { type: 'command' },
    worker: false,
    prepare: migrateDatabase,
    onConnectionError: () => undefined,
  });
  const client = new pg.Client({ connectionString: runtime.databaseUrl });
  await client.connect();
  try {
    const nodeUs = { all: await measureNode(runtime, true), none: await measureNode(runtime, false) };
    onProgress(`Node: ${nodeUs.all.toFixed(2)} µs if all are logged, ${nodeUs.none.toFixed(2)} µs if none are`);
    await client.query('TRUNCATE request_log, request_log_minutes');
    const empty = await measureWrites(runtime);
    onProgress(`Writes into an empty log: ${JSON.stringify(empty)}`);
    const bytesPerRow = await fill(client, rows, onProgress);
    const queries = await measureQueries(runtime, client);
    onProgress(`Queries: ${JSON.stringify(queries, undefined, 1)}`);
    const full = await measureWrites(runtime);
    const writeMs = Object.fromEntries(
      workspaceCounts.map((count) => [count, { empty: empty[count] ?? 0, full: full[count] ?? 0 }]),
    );
    const deleteMs = await measureDeletes(runtime, client);
    const result: RequestLogResult = { nodeUs, writeMs, rows, bytesPerRow, queries, deleteMs };
    return { table: formatResult(result), result, good: isGood(result) };
  } finally {
    await client.end();
    await runtime.close();
  }
}

interface Recording {
  recorder: RequestRecorder;
  /** Records requests that are spread over workspaces. */
  record(count: number, workspaces: number): void;
}

/** Opens a recorder whose clock enters the next minute with each call of `record`. */
function openRecorder({ databases }: Runtime, limit: number): Recording {
  let now = new Date();
  const recorder = createRequestRecorder({
    databases,
    now: () => now,
    logger: { error: (fields: unknown) => console.error(fields) },
    limits: { successes: limit, errors: limit },
  });
  let made = 0;
  const tenants = Array.from({ length: 1000 }, (_, index) => toTenantId(index + 1));
  const record = (count: number, workspaces: number) => {
    now = new Date(now.getTime() + 60_000);
    for (let i = 0; i < count; i++, made++) {
      const tenantId = tenants[i % workspaces] as TenantId;
      const isError = made % 3 > 0;
      recorder.record({
        tenantId,
        keyId: BigInt((Number(tenantId) - 1) * keysPerWorkspace + 1 + (made % keysPerWorkspace)),
        requestId: requestIdOf({ headers: {} }),
        method: 'GET',
        path: toLoggedPath(`/api/public/v1/tickets?status=OPEN&page=${made}&perPage=25`),
        status: isError ? (statuses[(made * 7) % statuses.length] as number) : 200,
        errorCode: isError ? (codes[(made * 7) % codes.length] as string) : null,
        milliseconds: 12.3,
        address: '203.0.113.9',
      });
    }
  };
  return { recorder, record };
}

/** Returns Node's CPU time per request in microseconds. @param isLogged whether the log keeps all requests or none */
async function measureNode(runtime: Runtime, isLogged: boolean): Promise<number> {
  const { recorder, record } = openRecorder(runtime, isLogged ? 1000 : 0);
  const run = async (count: number) => {
    for (let batch = 0; batch < count; batch++) {
      // Fewer requests than those that start a write early.
      record(499, 17);
      await recorder.flush();
    }
  };
  await run(50);
  const before = process.cpuUsage();
  await run(300);
  const { user, system } = process.cpuUsage(before);
  await recorder.close();
  // Subtracts the time of the request ids and paths, which the server creates anyway.
  return (user + system) / (300 * 499);
}

/** Returns PostgreSQL's CPU time for writing 1,000 requests, in milliseconds, by the number of workspaces. */
async function measureWrites(runtime: Runtime): Promise<Record<number, number>> {
  const { recorder, record } = openRecorder(runtime, 1000);
  const result: Record<number, number> = {};
  for (const workspaces of workspaceCounts) {
    const write = async () => {
      record(1000, workspaces);
      await recorder.flush();
    };
    result[workspaces] = await cpuMsOf(runtime.databases.system.pool, batches, write);
  }
  await recorder.close();
  return result;
}

/**
 * Fills the log with a week of requests. The first workspace has 1.8 million requests, as many as the limits allow, and
 * 99 workspaces share the others. Returns the size of a row with its indexes in bytes.
 */
async function fill(client: pg.Client, rows: number, onProgress: (text: string) => void): Promise<number> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = 'request_log'::regclass AND NOT indisprimary`,
  );
  await client.query('SET statement_timeout = 0; SET maintenance_work_mem = "512MB"; TRUNCATE request_log');
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  const batch = 500_000;
  for (let from = 0; from < rows; from += batch) {
    await client.query(
      `INSERT INTO request_log (tenant_id, at, key_id, milliseconds, status, method, error_code, request_id, path, address)
       SELECT tenant, at, (tenant - 1) * $3 + 1 + (n * 7919::bigint >> 5) % $3, 12, CASE WHEN n % 3 > 0 THEN ($6::int[])[1 + n % 4] ELSE 200 END, 'GET',
         CASE WHEN n % 3 > 0 THEN ($4::text[])[1 + n % 4] END,
         lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || left(md5(n::text), 20),
         '/api/public/v1/tickets?status=OPEN&perPage=25&page=' || n, '203.0.113.' || n % 250
       FROM (SELECT n, now() - interval '7 days' + n * (interval '7 days' / $5::int) AS at,
           CASE WHEN n % 100 < 18 THEN 1 ELSE 2 + n / 100 % 99 END AS tenant
         FROM generate_series($1::int, $2::int) AS n) AS each`,
      [from, Math.min(from + batch, rows) - 1, keysPerWorkspace, codes, rows, statuses],
    );
    onProgress(`${from + batch} rows`);
  }
  for (const { definition } of indexes) await client.query(definition);
  await client.query('TRUNCATE request_log_minutes');
  await client.query(
    `INSERT INTO request_log_minutes SELECT 1, date_trunc('minute', now()) - n * interval '1 minute', 60, 120, 5
     FROM generate_series(1, 7 * 24 * 60) AS n`,
  );
  await client.query('VACUUM ANALYZE request_log, request_log_minutes');
  const { rows: sizes } = await client.query<{ bytes: number }>(
    `SELECT pg_total_relation_size('request_log')::float8 / $1 AS bytes`,
    [rows],
  );
  return Math.round(sizes[0]?.bytes ?? 0);
}

/** Returns the latency of each query. Each query runs with different values each time, so it also reads cold pages. */
async function measureQueries({ databases }: Runtime, client: pg.Client): Promise<RequestLogResult['queries']> {
  const context = { db: tenantClient(databases.requests, toTenantId(1)) };
  const { rows: ids } = await client.query<{ id: string }>(
    `SELECT request_id AS id FROM request_log TABLESAMPLE SYSTEM (0.01) WHERE tenant_id = 1 LIMIT $1`,
    [turns],
  );
  const dayMs = 86_400_000;
  const ago = (turn: number) => new Date(Date.now() - ((turn * 37) % 600) * (dayMs / 100));
  const keyOf = (turn: number) => 1 + (turn % keysPerWorkspace);
  const codeOf = (turn: number) => codes[turn % codes.length];
  const page = { take: 50 };
  const work: Record<string, (turn: number) => Promise<unknown>> = {
    'request id': (turn) => findRequests(context, ids[turn % ids.length]?.id ?? ''),
    'unknown request id': (turn) => findRequests(context, `unknown-${turn}`),
    'request id among 20 keys of an agent': (turn) =>
      findRequests(context, ids[turn % ids.length]?.id ?? '', { keyIds: Array.from({ length: 20 }, (_, i) => i + 1) }),
    'newest requests': () => listRequests(context, {}, page),
    'requests before a time': (turn) => listRequests(context, { until: ago(turn) }, page),
    'requests of a key': (turn) => listRequests(context, { key: keyOf(turn), until: ago(turn) }, page),
    'all errors': (turn) => listRequests(context, { error: 'any', until: ago(turn) }, page),
    'an error code': (turn) => listRequests(context, { error: codeOf(turn), until: ago(turn) }, page),
    'an error code of a key': (turn) =>
      listRequests(context, { error: codeOf(turn), key: keyOf(turn), until: ago(turn) }, page),
    'an error code that does not occur': () => listRequests(context, { error: 'CLIENT_DISCONNECTED' }, page),
    'counts of a week': () => countRequests(context, {}),
  };
  const result: RequestLogResult['queries'] = {};
  for (const [name, run] of Object.entries(work)) {
    const times: number[] = [];
    const cpuMs = await cpuMsOf(databases.requests.pool, turns, async () => {
      const startedAt = performance.now();
      await run(times.length);
      times.push(performance.now() - startedAt);
    });
    result[name] = { ...percentiles(times), cpuMs };
  }
  return result;
}

/** Deletes the oldest hours of the log. Returns PostgreSQL's CPU time per 1,000 requests. */
async function measureDeletes(runtime: Runtime, client: pg.Client): Promise<number> {
  await client.query(
    `DELETE FROM request_log_minutes; UPDATE request_log SET at = at WHERE false;
     INSERT INTO tenants (id, name, name_key, updated_at) SELECT n, 'T' || n, 't' || n, now() FROM generate_series(1, 100) n
     ON CONFLICT DO NOTHING`,
  );
  const count = async () =>
    Number(
      (await client.query(`SELECT count(*) FROM request_log WHERE at < now() - interval '6 days'`)).rows[0]?.count,
    );
  const before = await count();
  const ms = await cpuMsOf(runtime.databases.system.pool, 1, () => pruneRequestLog(runtime.prisma, 6), { warm: 0 });
  return (ms / (before - (await count()))) * 1000;
}

/** Returns the CPU time of PostgreSQL per run of `work`, in milliseconds. Other load hardly affects CPU time. */
async function cpuMsOf(pool: Pool, runs: number, work: () => Promise<unknown>, { warm = 10 } = {}): Promise<number> {
  const asking = { text: 'SELECT pg_backend_pid() AS pid', values: [] };
  const { rows } = await withinTenant<{ rows: { pid: number }[] }>(toTenantId(1), () => pool.query(asking));
  const read = () => Number(readFileSync(`/proc/${rows[0]?.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  for (let run = 0; run < warm; run++) await work();
  const before = read();
  for (let run = 0; run < runs; run++) await work();
  return (read() - before) / runs;
}

function isGood({ nodeUs, writeMs, queries }: RequestLogResult): boolean {
  return (
    Math.max(nodeUs.all, nodeUs.none) <= maxNodeUs &&
    (writeMs[17]?.full ?? 0) <= maxWriteMs &&
    Object.values(queries).every(({ p95 }) => p95 <= maxQueryMs)
  );
}

function formatResult({ nodeUs, writeMs, rows, bytesPerRow, queries, deleteMs }: RequestLogResult): string {
  const lines = [
    `Node's CPU time per request, if all are logged   ${nodeUs.all.toFixed(2)} µs`,
    `                             if none are logged  ${nodeUs.none.toFixed(2)} µs`,
    "PostgreSQL's CPU time for writing 1,000 requests, in an empty log and in a full log:",
    ...Object.entries(writeMs).map(
      ([count, { empty, full }]) =>
        `  ${`of ${count} workspaces`.padEnd(47)}${empty.toFixed(1)} ms, ${full.toFixed(1)} ms`,
    ),
    `PostgreSQL's CPU time for deleting 1,000 requests ${deleteMs.toFixed(1)} ms`,
    `A row with its indexes                           ${bytesPerRow} bytes`,
    `Queries in a log of ${rows.toLocaleString('en')} requests, p50 and p95 of the latency, PostgreSQL's CPU time:`,
    ...Object.entries(queries).map(
      ([name, { p50, p95, cpuMs }]) =>
        `  ${name.padEnd(47)}${p50.toFixed(1)} ms, ${p95.toFixed(1)} ms, ${cpuMs.toFixed(1)} ms`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}
