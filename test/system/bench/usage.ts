import { fileURLToPath } from 'node:url';
import { openDatabases } from '@itsm-api/server/database/client/databases.ts';
import type { Pool } from '@itsm-api/server/database/client/pool.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { withinTenant } from '@itsm-api/server/database/client/tenant-context.ts';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import {
  countUsage,
  keysNearLimits,
  requestsByKey,
  slowestEndpoints,
} from '@itsm-api/server/resources/usage/queries.ts';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { kindOf, UsageAggregator } from '@itsm-api/server/usage/aggregator.ts';
import { keyedEndpoints, latencyBuckets } from '@itsm-api/server/usage/dimensions.ts';
import { writeUsage } from '@itsm-api/server/usage/usage-store.ts';
import pg from 'pg';
import { median } from '../../support/percentiles.ts';
import { loadData } from './api/data.ts';
import { measuredPaths } from './api/paths.ts';
import { startServer } from './api/servers.ts';
import { requestsOf, shoot } from './api/shots.ts';
import { cpuOf } from './api/usage.ts';

/** The cost of recording usage, and the cost of queries for the recorded usage. */
export interface UsageResult {
  /** The server's median CPU time per request for a ticket by id, with usage recording, in microseconds. */
  countedUs: number;
  uncountedUs: number;
  /** The median ratio of the CPU time with usage recording to the CPU time without it. */
  ratio: number;
  /** PostgreSQL's CPU time for writing a thousand counts, in milliseconds. */
  writeMs: number;
  bytesPerRow: number;
  /** PostgreSQL's CPU time per query, in milliseconds. The data contains a week of usage by 100 API keys. */
  queriesMs: Record<string, number>;
}

interface UsageOptions {
  dataDir: string;
  rounds: number;
  seconds: number;
  onProgress: (text: string) => void;
}

export async function benchUsage(options: UsageOptions): Promise<{ table: string; result: UsageResult }> {
  const database = await openEmbedded({ dataDir: options.dataDir, holder: { type: 'command' } });
  try {
    await migrateDatabase(database.url);
    const result = { ...(await measureRequests(database.url, options)), ...(await measureQueries(database.url)) };
    const { countedUs, uncountedUs, ratio, writeMs, bytesPerRow, queriesMs } = result;
    const table = `CPU time of a request by id, counted       ${countedUs.toFixed(1)} µs
                            and not counted   ${uncountedUs.toFixed(1)} µs, ${ratio.toFixed(3)} times as much
Writing a thousand counts                  ${writeMs.toFixed(1)} ms of PostgreSQL's CPU time
A row with its indexes                     ${bytesPerRow} bytes
A week of a hundred keys, PostgreSQL's CPU time:
${Object.entries(queriesMs)
  .map(([name, ms]) => `  ${name.padEnd(41)}${ms.toFixed(1)} ms\n`)
  .join('')}`;
    return { table, result };
  } finally {
    await database.stop();
  }
}

async function measureRequests(url: string, { rounds, seconds, onProgress }: UsageOptions) {
  const data = await loadData(url, 10_000, onProgress);
  const path = measuredPaths.find(({ name }) => name === 'ticket by id') ?? measuredPaths[0];
  if (path === undefined) throw new Error('No path to measure.');
  const requests = requestsOf(path, data);
  const without = fileURLToPath(new URL('./without-usage.ts', import.meta.url));
  const counted = await startServer('api', url);
  const uncounted = await startServer('api', url, { nodeOptions: ['--import', without] });
  const cpuPerRequest = async (server: typeof counted, duration: number) => {
    const before = cpuOf(server.pid);
    const shot = await shoot(server, { connections: 16, seconds: duration, requests });
    return (cpuOf(server.pid) - before) / shot.requests;
  };
  for (const server of [counted, uncounted]) await cpuPerRequest(server, 10);
  const taken: { counted: number; uncounted: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    // Every other round starts with the server that doesn't record usage.
    const first = round % 2 === 0 ? await cpuPerRequest(counted, seconds) : undefined;
    const off = await cpuPerRequest(uncounted, seconds);
    const on = first ?? (await cpuPerRequest(counted, seconds));
    onProgress(`Round ${round + 1}: ${on.toFixed(1)} µs with usage, ${off.toFixed(1)} µs without`);
    taken.push({ counted: on, uncounted: off });
  }
  await counted.stop();
  await uncounted.stop();
  return {
    countedUs: median(taken.map((each) => each.counted)),
    uncountedUs: median(taken.map((each) => each.uncounted)),
    ratio: median(taken.map((each) => each.counted / each.uncounted)),
  };
}

/**
 * How often the benchmark repeats each query. A single query is too short to measure, because the kernel counts CPU
 * time in hundredths of a second.
 */
const turns = 50;
const keys = 100;
/** The number of endpoints that each API key calls per hour. Each endpoint has successful and failed requests. */
const endpoints = 8;

/**
 * Inserts a week of usage data for the first workspace. A hundred API keys are active in every hour, and in every
 * minute of the last three hours.
 */
export async function fillUsage(client: pg.ClientBase): Promise<void> {
  await client.query('TRUNCATE usage_minutes, usage_hours');
  const ids = keyedEndpoints.slice(0, endpoints).map(({ id }) => id);
  for (const [table, unit, steps] of [
    ['usage_hours', 'hour', 8 * 24],
    ['usage_minutes', 'minute', 3 * 60],
  ] as const) {
    await client.query(
      `INSERT INTO ${table} (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
       SELECT 1, date_trunc('${unit}', now()) - step * interval '1 ${unit}', key, endpoint, outcome, 60,
         array_fill(2, ARRAY[$2::int]), CASE WHEN key % 10 = 1 THEN 90 ELSE 20 END, CASE WHEN key % 10 = 1 THEN 100 ELSE 30 END
       FROM generate_series(0, $3::int - 1) AS step, generate_series(0, $4::int) AS key, unnest($1::text[]) AS endpoint,
         unnest(ARRAY['SUCCESSFUL', 'CLIENT_ERROR']) AS outcome`,
      [ids, latencyBuckets, steps, keys],
    );
  }
}

async function measureQueries(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await fillUsage(client);
  await client.query('VACUUM ANALYZE usage_minutes, usage_hours');
  const { rows } = await client.query<{ bytes: number }>(
    `SELECT (pg_total_relation_size('usage_hours') / (SELECT count(*) FROM usage_hours))::int AS bytes`,
  );
  await client.end();

  const databases = openDatabases({
    url,
    // With one connection, one PostgreSQL backend runs all statements, and the benchmark can measure its CPU time.
    requestConnections: 1,
    timeouts: { statementMs: 60_000, lockMs: 5000 },
    worker: false,
    onConnectionError: () => undefined,
  });
  const context = { db: tenantClient(databases.requests, toTenantId(1)), now: () => new Date() };
  const all = { range: '7d' } as const;
  const one = { ...all, keyIds: [7n] };
  const some = { ...all, keyIds: Array.from({ length: 20 }, (_, key) => BigInt(key + 1)) };
  const measureCpu = (work: () => Promise<unknown>) => cpuOfDatabase(databases.requests, work);
  const queriesMs = {
    'requests by key in 24 hours': await measureCpu(() => requestsByKey(context, { hours: 24 })),
    'counts of all keys in an hour': await measureCpu(() => countUsage(context, { range: '1h' })),
    'counts of all keys in a week': await measureCpu(() => countUsage(context, all)),
    'counts of one key in a week': await measureCpu(() => countUsage(context, one)),
    'counts of 20 keys in a week': await measureCpu(() => countUsage(context, some)),
    'slowest endpoints of all keys in a week': await measureCpu(() => slowestEndpoints(context, all)),
    'slowest endpoints of one key in a week': await measureCpu(() => slowestEndpoints(context, one)),
    'slowest endpoints of 20 keys in a week': await measureCpu(() => slowestEndpoints(context, some)),
    'keys near limits in a week': await measureCpu(() => keysNearLimits(context, all)),
  };
  const tally = new UsageAggregator();
  for (let key = 1; key <= 100; key++) {
    for (let kind = 0; kind < 10; kind++) {
      const counts = tally.begin({ tenantId: toTenantId(1), keyId: BigInt(key), kind: kindOf(kind, 0) });
      Object.assign(counts, { requests: latencyBuckets, latencies: Array<number>(latencyBuckets).fill(1) });
    }
  }
  const minute = Math.floor(Date.now() / 60_000) * 60_000;
  const writeMs = await cpuOfDatabase(databases.system, () => writeUsage(databases.system.pool, minute, tally));
  await databases.close();
  return { writeMs, bytesPerRow: rows[0]?.bytes ?? 0, queriesMs };
}

/**
 * Returns the CPU time that PostgreSQL needs for `work`, in milliseconds. Other load hardly affects CPU time. Ignores
 * the first runs, in which PostgreSQL prepares query plans.
 */
async function cpuOfDatabase({ pool }: { pool: Pool }, work: () => Promise<unknown>): Promise<number> {
  const asking = { text: 'SELECT pg_backend_pid() AS pid', values: [] };
  const { rows } = await withinTenant<{ rows: { pid: number }[] }>(toTenantId(1), () => pool.query(asking));
  const pid = rows[0]?.pid ?? 0;
  for (let turn = 0; turn < 8; turn++) await work();
  const before = cpuOf(pid);
  for (let turn = 0; turn < turns; turn++) await work();
  return (cpuOf(pid) - before) / 1000 / turns;
}
