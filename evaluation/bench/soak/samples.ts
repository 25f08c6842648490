import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { residentOf } from '../api/usage.ts';

/** A server process and the URL of its metrics. */
export interface Watched {
  name: string;
  pid: number;
  /** The URL of the process's operations port, without the path `/metrics`. */
  operationsUrl: string;
}

/** Sampled values by name. `verdict.ts` defines the limits per unit. */
export type Sample = Record<string, number>;

/**
 * The metrics to read from `/metrics`, by the name of the sampled value. Each metric has a divisor that converts its
 * unit.
 */
const metrics: Record<string, [metric: string, by: number]> = {
  'heap MB': ['nodejs_heap_size_used_bytes', 2 ** 20],
  'buffers MB': ['nodejs_external_memory_bytes', 2 ** 20],
  'event loop p99 ms': ['nodejs_eventloop_lag_p99_seconds', 0.001],
};

const connectionMetrics = ['itsm_database_connections_in_use', 'itsm_database_connections_idle'];

/** Samples a process. The values come from its `/metrics` endpoint and from `/proc`. */
export async function sampleProcess({ name, pid, operationsUrl }: Watched): Promise<Sample> {
  const values = await (await fetch(`${operationsUrl}/metrics`)).text();
  const sumOf = (metric: string) =>
    [...values.matchAll(new RegExp(`^${metric}(?:\\{.*\\})? (.+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  const connections = connectionMetrics.reduce((sum, metric) => sum + sumOf(metric), 0);
  const sample: Sample = {
    'memory MB': residentOf(pid),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    connections,
    'waiting for a connection': sumOf('itsm_database_connections_waiting'),
    'statements per connection': sumOf('itsm_database_prepared_statements') / Math.max(1, connections),
  };
  for (const [figure, [metric, by]] of Object.entries(metrics)) sample[figure] = sumOf(metric) / by;
  return prefixNames(name, sample);
}

/**
 * The tables with rows that expire (`kept`), and the tables that grow (`growing`). All pg-boss tables together count as
 * one more table with rows that expire.
 */
const tables = {
  kept: ['deliveries', 'delivery_attempts', 'events', 'idempotency_keys', 'usage_minutes'],
  growing: ['ticket_counts', 'tickets', 'comments', 'activities', 'changes', 'texts'],
};

/** Samples the memory of the PostgreSQL backends that serve the API and the worker, and the size of the tables. */
export async function samplePostgres(client: pg.Client): Promise<Sample> {
  const sample: Sample = await sampleBackends(client);
  const { rows } = await client.query<{ name: string; bytes: number; live: number; dead: number }>(
    `SELECT CASE schemaname WHEN 'public' THEN relname ELSE schemaname END AS name,
       sum(pg_total_relation_size(relid))::float8 AS bytes, sum(n_live_tup)::float8 AS live, sum(n_dead_tup)::float8 AS dead
     FROM pg_stat_user_tables WHERE schemaname = 'pgboss' OR relname = ANY ($1) GROUP BY 1`,
    [Object.values(tables).flat()],
  );
  for (const { name, bytes, live, dead } of rows) {
    const grows = tables.growing.includes(name);
    const size: Sample = grows ? { 'bytes per row': bytes / Math.max(1, live) } : { 'size MB': bytes / 2 ** 20 };
    Object.assign(sample, prefixNames(name, { ...size, rows: live, 'dead rows': dead }));
  }
  return sample;
}

async function sampleBackends(client: pg.Client): Promise<Sample> {
  const { rows } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'itsm-api %'",
  );
  const held = rows.map(({ pid }) => ownMemoryOf(pid));
  const sum = held.reduce((all, each) => all + each, 0);
  const sample = { 'memory per backend MB': sum / Math.max(1, held.length), 'largest backend MB': Math.max(...held) };
  return prefixNames('PostgreSQL', sample);
}

/** Returns the private memory of a process in MB, or 0 if the process has ended. */
function ownMemoryOf(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return 0;
  }
}

/** Adds the name of a process or table as a prefix to the name of each value. */
function prefixNames(name: string, sample: Sample): Sample {
  return Object.fromEntries(Object.entries(sample).map(([figure, value]) => [`${name}: ${figure}`, value]));
}
