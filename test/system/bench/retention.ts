import { setTimeout as sleep } from 'node:timers/promises';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { openRuntime, type Runtime } from '@itsm-api/server/process/runtime.ts';
import { pruneIdempotencyKeys } from '@itsm-api/server/resources/idempotency/idempotency-retention.ts';
import pg from 'pg';
import { type Percentiles, percentiles } from '../../support/percentiles.ts';
import { addWorkspace, type Workspace } from '../../support/subscribed-workspaces.ts';

/** The cost of deleting expired idempotency responses while the server stores new responses. */
export interface RetentionResult {
  keys: number;
  deleted: number;
  seconds: number;
  deletedPerSecond: number;
  /**
   * The batch durations in milliseconds. A batch is a transaction that locks its deleted rows until the transaction
   * ends.
   */
  batches: Percentiles;
  storedPerSecond: { alone: number; beside: number };
  /** The latency of storing a response before and during the deletion, in milliseconds. */
  store: { alone: Percentiles; beside: Percentiles };
  /**
   * The share of dead tuples according to PostgreSQL's statistics: the maximum during the deletion, and the value a
   * minute after the deletion.
   */
  deadShare: { most: number; after: number };
  /** The number of sequential scans and index scans of the table during the deletion. */
  scans: { sequential: number; index: number };
  /**
   * The duration of a second deletion right after the first deletion, in milliseconds. The second deletion finds no
   * expired rows but reads dead tuples.
   */
  emptyRound: number;
}

interface RetentionOptions {
  dataDir: string;
  /**
   * The number of expired responses in the workspace. The workspace also has a tenth as many responses that haven't
   * expired.
   */
  keys: number;
  perSecond: number;
  onProgress: (text: string) => void;
}

/** How long the benchmark stores responses before the deletion starts, in milliseconds. */
const aloneMs = 20_000;
const afterMs = 60_000;
const batchLoaded = 200_000;
const writers = 8;

/**
 * Fills a table with responses. Then deletes the expired responses, and concurrently stores new responses at a constant
 * rate.
 */
export async function benchRetention(options: RetentionOptions): Promise<{ table: string; result: RetentionResult }> {
  const { dataDir, keys, perSecond, onProgress } = options;
  const runtime = await openRuntime(readSettings({ DATA_DIR: dataDir }), {
    holder: { type: 'command' },
    worker: false,
    prepare: migrateDatabase,
    onConnectionError: () => undefined,
  });
  const { databaseUrl } = runtime;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const workspace = await addWorkspace(runtime, 'Retention');
    await load(client, workspace, keys, onProgress);
    const storing = await startStoring(databaseUrl, workspace, perSecond);
    await sleep(aloneMs);
    const alone = storing.take();
    const watch = watchTable(client, onProgress);
    const pruned = await timedPrune(runtime);
    const beside = storing.take();
    const { most, sequential, index } = await watch.stop();
    const emptyRound = (await timedPrune(runtime)).seconds * 1000;
    await sleep(afterMs);
    const after = await readTable(client);
    await storing.stop();
    const result = {
      keys,
      ...pruned,
      storedPerSecond: { alone: alone.perSecond, beside: beside.perSecond },
      store: { alone: alone.latencies, beside: beside.latencies },
      deadShare: { most, after: after.deadShare },
      scans: { sequential, index },
      emptyRound,
    };
    return { table: tableOf(result), result };
  } finally {
    await client.end();
    await runtime.close();
  }
}

/** A stored response of about 900 bytes that contains a ticket. */
const response = JSON.stringify({
  success: true,
  data: { id: 48_211, ticketNumber: 'INC-48211', title: 'VPN drops every ten minutes', description: 'x'.repeat(780) },
});

/**
 * Inserts expired responses that are one to two days old, then a tenth as many responses from the last day. All rows
 * are in chronological order.
 */
async function load(
  client: pg.Client,
  { tenantId, context }: Workspace,
  keys: number,
  onProgress: (text: string) => void,
): Promise<void> {
  const all = Math.round(keys * 1.1);
  for (let from = 0; from < all; from += batchLoaded) {
    await client.query(
      `INSERT INTO idempotency_keys (tenant_id, key_id, key, fingerprint, status, answer, created_at)
       SELECT $1, $2, gen_random_uuid()::text, sha256(n::text::bytea), 201, $3,
         now() - interval '24 hours 5 minutes'
           + CASE WHEN n < $4::int THEN interval '-24 hours' * ($4::int - n) / $4::int
             ELSE interval '5 minutes' + interval '24 hours' * (n - $4::int) / ($4::int * 0.1) END
       FROM generate_series($5::int, $6::int) n`,
      [tenantId, context.keyId, response, keys, from, Math.min(from + batchLoaded, all) - 1],
    );
    onProgress(`${Math.min(from + batchLoaded, all)} of ${all} responses`);
  }
}

interface Storing {
  /** Returns the results since the previous call. */
  take(): { perSecond: number; latencies: Percentiles };
  stop(): Promise<void>;
}

/** Stores responses at a constant rate over up to 8 connections, with the same SQL as the server. */
async function startStoring(
  databaseUrl: string,
  { tenantId, context }: Workspace,
  perSecond: number,
): Promise<Storing> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: writers });
  let took: number[] = [];
  let since = performance.now();
  let stopped = false;
  let count = 0;
  const began = performance.now();

  async function write(): Promise<void> {
    while (!stopped) {
      const due = began + (count++ * 1000) / perSecond;
      const wait = due - performance.now();
      if (wait > 1) await sleep(wait);
      const asked = performance.now();
      await pool.query({
        name: 'store',
        text: `INSERT INTO idempotency_keys (tenant_id, key_id, key, fingerprint, status, answer)
          VALUES ($1, $2, gen_random_uuid()::text, sha256($3), 201, $4)`,
        values: [tenantId, context.keyId, Buffer.from(String(count)), response],
      });
      took.push(performance.now() - asked);
    }
  }

  const writing = Promise.all(Array.from({ length: writers }, write));
  return {
    take() {
      const taken = took;
      const seconds = (performance.now() - since) / 1000;
      took = [];
      since = performance.now();
      return { perSecond: Math.round(taken.length / seconds), latencies: percentiles(taken) };
    },
    async stop() {
      stopped = true;
      await writing;
      await pool.end();
    },
  };
}

/** Deletes the expired responses, and measures the duration of each batch. */
async function timedPrune({ prisma }: Runtime) {
  const batches: number[] = [];
  const timed = new Proxy(prisma, {
    get(target, name, receiver) {
      if (name !== '$queryRaw') return Reflect.get(target, name, receiver);
      return async (...parameters: Parameters<typeof prisma.$queryRaw>) => {
        const began = performance.now();
        const rows = await target.$queryRaw(...parameters);
        batches.push(performance.now() - began);
        return rows;
      };
    },
  });
  const began = performance.now();
  const deleted = await pruneIdempotencyKeys(timed);
  const seconds = (performance.now() - began) / 1000;
  return { deleted, seconds, deletedPerSecond: Math.round(deleted / seconds), batches: percentiles(batches) };
}

async function readTable(client: pg.Client) {
  const { rows } = await client.query<{ dead: number; live: number; sequential: number; index: number }>(
    `SELECT n_dead_tup::float8 AS dead, n_live_tup::float8 AS live, seq_scan::int AS sequential, idx_scan::int AS index
     FROM pg_stat_user_tables WHERE relname = 'idempotency_keys'`,
  );
  const { dead = 0, live = 0, sequential = 0, index = 0 } = rows[0] ?? {};
  return { deadShare: dead / Math.max(1, dead + live), sequential, index };
}

/** Samples the share of dead tuples every second until `stop` is called. `stop` returns the results. */
function watchTable(client: pg.Client, onProgress: (text: string) => void) {
  let most = 0;
  let stopped = false;
  const watching = (async () => {
    const before = await readTable(client);
    while (!stopped) {
      const { deadShare } = await readTable(client);
      most = Math.max(most, deadShare);
      onProgress(`${Math.round(deadShare * 100)} % of the tuples are dead`);
      await sleep(1000);
    }
    const after = await readTable(client);
    return { most, sequential: after.sequential - before.sequential, index: after.index - before.index };
  })();
  return {
    stop() {
      stopped = true;
      return watching;
    },
  };
}

function tableOf(result: RetentionResult): string {
  const { keys, deleted, seconds, batches, store, storedPerSecond, deadShare, scans } = result;
  const row = (name: string, figure: string) => `${name.padEnd(48)}${figure}\n`;
  const times = ({ p50, p99, max }: Percentiles) => [p50, p99, max].map((each) => each.toFixed(1)).join('   ');
  const share = (part: number) => `${(part * 100).toFixed(1)} %`;
  return `
${row('Expired responses, deleted', `${keys}, ${deleted}`)}\
${row('Seconds, deleted per second', `${seconds.toFixed(1)}, ${result.deletedPerSecond}`)}\
${row('A batch: p50, p99, max, milliseconds', times(batches))}\
${row('Stored per second alone, during the deletion', `${storedPerSecond.alone}, ${storedPerSecond.beside}`)}\
${row('Latency of storing alone: p50, p99, max', times(store.alone))}\
${row('Latency during the deletion: p50, p99, max', times(store.beside))}\
${row('Dead tuples: maximum, after a minute', `${share(deadShare.most)}, ${share(deadShare.after)}`)}\
${row('Sequential scans, index scans', `${scans.sequential}, ${scans.index}`)}\
${row('A round without expired rows, milliseconds', result.emptyRound.toFixed(1))}`;
}
