import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, percentiles } from '../../../test/support/percentiles.ts';
import { cpuOf } from '../api/usage.ts';
import type { Load } from './load.ts';
import { sampleProcess } from './samples.ts';
import { readCpu, type Soaked } from './start.ts';

/** What the service did during a phase of a benchmark, and what limited it. */
export interface Phase {
  perSecond: number;
  deliveriesPerSecond: number;
  p50: number;
  p99: number;
  /** The mean number of cores that each program used. */
  cores: { api: number; worker: number; postgres: number; generator: number; receivers: number };
  /** The median of the event loop's p99 lag in the API, in milliseconds. */
  lagMs: number;
  /** The mean number of requests that waited for a connection. */
  waitingForPool: number;
  /** The mean number of statements that waited, by the kind of wait. */
  waits: Record<string, number>;
  /** The load of the machine. */
  load: number;
}

/** Measures a phase of the given length. Without `load`, measures the idle service. */
export async function measurePhase(soaked: Soaked, seconds: number, load?: Load): Promise<Phase> {
  load?.take();
  await soaked.receivers.take();
  const before = await readCores(soaked);
  const samples: Awaited<ReturnType<typeof sampleWaits>>[] = [];
  const began = performance.now();
  for (let at = 1; at <= seconds; at++) {
    await sleep(Math.max(0, began + at * 1000 - performance.now()));
    samples.push(await sampleWaits(soaked));
  }
  const elapsed = (performance.now() - began) / 1000;
  const after = await readCores(soaked);
  const { requests, took } = load?.take() ?? { requests: 0, took: [] };
  const { p50, p99 } = took.length === 0 ? { p50: 0, p99: 0 } : percentiles(took);
  const names = Object.keys(before) as (keyof Phase['cores'])[];
  const meanOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const kinds = [...new Set(samples.flatMap(({ waits }) => Object.keys(waits)))];
  return {
    perSecond: requests / elapsed,
    deliveriesPerSecond: (await soaked.receivers.take()).length / elapsed,
    ...{ p50, p99 },
    cores: Object.fromEntries(
      names.map((name) => [name, (after[name] - before[name]) / 1e6 / elapsed]),
    ) as Phase['cores'],
    lagMs: median(samples.map(({ lagMs }) => lagMs)),
    waitingForPool: meanOf(samples.map(({ waiting }) => waiting)),
    waits: Object.fromEntries(kinds.map((kind) => [kind, meanOf(samples.map(({ waits }) => waits[kind] ?? 0))])),
    load: loadavg()[0] ?? 0,
  };
}

async function readCores(soaked: Soaked): Promise<Phase['cores']> {
  const { user, system } = process.cpuUsage();
  return { ...(await readCpu(soaked)), generator: user + system, receivers: cpuOf(soaked.receivers.pid) };
}

/** Samples what requests and statements wait for. */
async function sampleWaits({ servers: [api], client }: Soaked) {
  const sample = api === undefined ? {} : await sampleProcess(api.watched);
  const { rows } = await client.query<{ kind: string; count: number }>(
    `SELECT wait_event_type AS kind, count(*)::int AS count FROM pg_stat_activity
     WHERE application_name LIKE 'itsm-api %' AND state = 'active' AND wait_event_type IS NOT NULL GROUP BY 1`,
  );
  return {
    lagMs: sample['api: event loop p99 ms'] ?? 0,
    waiting: sample['api: waiting for a connection'] ?? 0,
    waits: Object.fromEntries(rows.map(({ kind, count }) => [kind, count])) as Record<string, number>,
  };
}
