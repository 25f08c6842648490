import { availableParallelism, loadavg } from 'node:os';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { openInstallation } from '../../test/support/installation.ts';
import { median, type Percentiles } from '../../test/support/percentiles.ts';
import { steadyPort } from '../../test/support/postgres-server.ts';
import { rawClient } from '../../test/support/raw-client.ts';
import { type ServerProcess, spawnServer } from '../../test/support/server-process.ts';
import {
  addWorkspace,
  type Subscription,
  subscribe,
  type Workspace,
} from '../../test/support/subscribed-workspaces.ts';
import { measureLatency } from './latency.ts';
import { loadDeliveries } from './load.ts';
import { type Delay, type Receivers, startReceivers } from './receiver.ts';
import { measureCeiling, measureThroughput } from './throughput.ts';

interface BenchOptions {
  /** The parts of the benchmark to run. By default, all parts run. */
  only: string[] | undefined;
  /** The folder for CPU profiles of the server processes. */
  profile: string | undefined;
  onProgress: (text: string) => void;
}

interface BenchResult {
  table: string;
  result: Result;
}

/** The results of the benchmark. Each series contains the median and the values of all runs. */
interface Result {
  cores: number;
  node: string;
  postgres: string;
  /** The load average of the machine before the start. Other load lowers the results. */
  loadBefore: number;
  throughput?: Series;
  throughputWithSlow?: Series;
  ceiling?: Series;
  latency?: LatencySeries;
  latencyWithClosingEndpoint?: LatencySeries;
  latencyWithHangingEndpoint?: LatencySeries;
}

interface Series {
  median: number;
  runs: number[];
}

interface LatencySeries {
  median: Percentiles;
  runs: Percentiles[];
}

/**
 * The environment of the benchmark. PostgreSQL, one worker, one API process and the receivers are separate processes.
 */
interface Bench {
  databaseUrl: string;
  runtime: Runtime;
  apiUrl: string;
  receivers: Receivers;
}

const runs = 3;
const deliveries = 20_000;
const tenants = 10;
const subscriptionsPerTenant = 5;
const backlog = 100_000;
const eventsPerSecond = 200;
const latencySeconds = 12;

/** The maximum number of concurrent deliveries: the limit per tenant times the number of tenants. */
const concurrency = tenants * 64;

/** All receivers share one host, so the default limit per host would be too low. */
const oneHost = { WEBHOOK_HOST_CONCURRENCY: '1024', WEBHOOK_HOST_PER_SECOND: '1000000' };

/**
 * Measures the throughput and latency of deliveries (evaluation/bench/README.md). As in production, the worker and the
 * API are separate processes.
 */
export async function benchWebhooks(options: BenchOptions): Promise<BenchResult> {
  const { only, onProgress } = options;
  const wants = (part: string) => only === undefined || only.includes(part);
  const stops: (() => Promise<unknown>)[] = [];
  const loadBefore = loadavg()[0] ?? Number.NaN;
  try {
    const bench = await startBench(options, stops);
    const result: Result = {
      cores: availableParallelism(),
      node: process.version,
      postgres: await readVersion(bench.runtime),
      loadBefore,
    };
    if (wants('throughput')) await throughput(bench, result, onProgress);
    if (wants('latency')) await latency(bench, result, onProgress);
    return { table: format(result), result };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startBench({ profile, onProgress }: BenchOptions, stops: (() => Promise<unknown>)[]): Promise<Bench> {
  const { postgres, runtime, apiUrl, env } = await openInstallation(stops, { track_commit_timestamp: 'on' }, oneHost);
  const nodeOptions = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  for (const role of ['worker', 'api']) {
    const server = spawnServer({ ...env, ROLES: role }, nodeOptions);
    stops.push(async () => {
      await stopServer(server);
      // Prints the errors that the server logged.
      const output = server.output().replace(/^[^{]*/, '');
      if (output !== '') onProgress(`Output of the ${role}: ${output}`);
    });
    await server.ready;
  }
  const receivers = startReceivers();
  stops.push(async () => receivers.close());
  return { databaseUrl: postgres.url, runtime, apiUrl, receivers };
}

async function stopServer({ child, exited }: ServerProcess): Promise<void> {
  child.kill('SIGTERM');
  await exited;
}

async function readVersion({ prisma }: Runtime): Promise<string> {
  const [row] = await rawClient(prisma).$queryRaw<{ server_version: string }[]>`SHOW server_version`;
  return row?.server_version ?? 'unknown';
}

/**
 * Measures the deliveries per second with fast receivers, and with one slow receiver among fifty. Also measures the
 * requests per second of an HTTP client without a database.
 */
async function throughput(bench: Bench, result: Result, onProgress: BenchOptions['onProgress']): Promise<void> {
  const { databaseUrl, receivers } = bench;
  const healthy = await subscribeTenants(bench, 'quick', 0);
  const urls = await receivers.open(Array(healthy.length).fill(0));
  const [slow] = await subscribeTenants(bench, 'slow', 2000, { tenants: 1, each: 1 });
  const measured = { throughput: [] as number[], throughputWithSlow: [] as number[], ceiling: [] as number[] };
  for (let run = 1; run <= runs; run++) {
    const quick = { healthy, slow: [], count: deliveries };
    measured.throughput.push(await measureThroughput(databaseUrl, quick));
    // Replaces one healthy subscription with a slow one, so one of fifty receivers is slow.
    const mixed = { healthy: healthy.slice(1), slow: slow === undefined ? [] : [slow], count: deliveries };
    measured.throughputWithSlow.push(await measureThroughput(databaseUrl, mixed));
    measured.ceiling.push(await measureCeiling(urls, deliveries, concurrency));
    await receivers.take();
    const rates = Object.values(measured).map((series) => Math.round(series.at(-1) ?? Number.NaN));
    onProgress(`throughput, run ${run}: ${rates.join(', ')} deliveries per second (all fast, some slow, ceiling)`);
  }
  for (const name of ['throughput', 'throughputWithSlow', 'ceiling'] as const) {
    result[name] = { median: median(measured[name]), runs: measured[name] };
  }
}

/**
 * Measures the latency from commit to receipt without other load, and while another tenant has a large backlog for a
 * dead endpoint.
 */
async function latency(bench: Bench, result: Result, onProgress: BenchOptions['onProgress']): Promise<void> {
  const { databaseUrl, apiUrl, receivers } = bench;
  const workspaces: Workspace[] = [];
  await subscribeTenants(bench, 'prompt', 0, { tenants, each: 1, made: workspaces });
  const measure = async (name: string): Promise<LatencySeries> => {
    const series: Percentiles[] = [];
    for (let run = 1; run <= runs; run++) {
      const options = { databaseUrl, apiUrl, workspaces, receivers };
      const latencies = await measureLatency({ ...options, perSecond: eventsPerSecond, seconds: latencySeconds });
      series.push(latencies);
      onProgress(`${name}, run ${run}: ${JSON.stringify(latencies)}`);
    }
    const of = (key: keyof Percentiles) => median(series.map((each) => each[key]));
    return { median: { p50: of('p50'), p95: of('p95'), p99: of('p99'), max: of('max') }, runs: series };
  };

  result.latency = await measure('latency');
  const closing = await addBacklog(bench, 'refusing', `http://127.0.0.1:${await steadyPort()}/hook`);
  result.latencyWithClosingEndpoint = await measure('latency with a dead endpoint that closes connections');
  await cancel(bench, closing);
  const [url = ''] = await receivers.open(['never']);
  await addBacklog(bench, 'hanging', url);
  result.latencyWithHangingEndpoint = await measure('latency with a dead endpoint that hangs');
}

/** Creates tenants with subscriptions to endpoints that respond after `delay`. Returns the subscriptions. */
async function subscribeTenants(
  { runtime, receivers }: Bench,
  name: string,
  delay: Delay,
  { tenants: count = tenants, each = subscriptionsPerTenant, made = [] as Workspace[] } = {},
): Promise<Subscription[]> {
  const urls = await receivers.open(Array(count * each).fill(delay));
  const subscriptions: Subscription[] = [];
  for (let tenant = 0; tenant < count; tenant++) {
    const workspace = await addWorkspace(runtime, `${name} ${tenant}`);
    made.push(workspace);
    for (let index = 0; index < each; index++) {
      const url = urls[tenant * each + index] ?? '';
      subscriptions.push(await subscribe(workspace, { name: `${name}-${index}`, url, events: ['ticket.created'] }));
    }
  }
  return subscriptions;
}

/** Creates a tenant with many pending deliveries for one endpoint. */
async function addBacklog({ runtime, databaseUrl }: Bench, name: string, url: string): Promise<Subscription> {
  const workspace = await addWorkspace(runtime, name);
  const subscription = await subscribe(workspace, { name, url, events: ['ticket.created'] });
  await loadDeliveries(databaseUrl, [subscription], backlog);
  return subscription;
}

async function cancel({ runtime }: Bench, { tenantId, id }: Subscription): Promise<void> {
  await runtime.prisma.delivery.updateMany({
    where: { tenantId, subscriptionId: id, state: 'PENDING' },
    data: { state: 'CANCELLED', settledAt: new Date() },
  });
}

function format(result: Result): string {
  const { cores, node, postgres, loadBefore, throughput, throughputWithSlow, ceiling, latency } = result;
  const lines = [
    `${cores} cores, Node.js ${node}, PostgreSQL ${postgres} on the same machine, load before ${loadBefore.toFixed(1)}`,
  ];
  lines.push('', row('', 'goal', 'median', `of ${runs} runs`));

  const rates = (name: string, goal: string, series: Series | undefined) => {
    if (series !== undefined) lines.push(row(name, goal, whole(series.median), series.runs.map(whole).join(' ')));
  };
  rates('Deliveries/s, every attempt recorded', '1,500', throughput);
  rates('With 2 % of receivers taking 2 s', '1,000', throughputWithSlow);
  rates('Ceiling: bare undici with the HMACs', '', ceiling);
  if (throughput !== undefined && ceiling !== undefined) {
    lines.push(row('Share of the ceiling', '', `${whole((100 * throughput.median) / ceiling.median)} %`, ''));
  }

  const p95 = (name: string, goal: string, series: LatencySeries | undefined) => {
    if (series === undefined) return;
    const spread = series.runs.map((each) => whole(each.p95)).join(' ');
    lines.push(row(name, goal, `${whole(series.median.p95)} ms`, spread));
    if (series === latency || latency === undefined) return;
    lines.push(row('  ratio to p95 without it', '2', (series.median.p95 / latency.median.p95).toFixed(2), ''));
  };
  p95(`p95, commit to receipt, ${eventsPerSecond} events/s`, '150 ms', latency);
  p95("Others' p95, 100,000 pending, closed port", '', result.latencyWithClosingEndpoint);
  p95("Others' p95, 100,000 pending, no response", '', result.latencyWithHangingEndpoint);
  return `${lines.join('\n')}\n`;
}

function row(name: string, goal: string, median: string, spread: string): string {
  return `${name.padEnd(40)}${goal.padStart(8)}${median.padStart(10)}   ${spread}`.trimEnd();
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
