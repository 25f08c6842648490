import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, percentiles } from '../../../test/support/percentiles.ts';
import type { ServerProcess } from '../../../test/support/server-process.ts';
import { type Load, startLoad } from './load.ts';
import type { Client } from './requests.ts';
import { type Sample, samplePostgres, sampleProcess } from './samples.ts';
import { type CpuTimes, readCpu, type Soaked, type Started, soakImports, startSoaked } from './start.ts';
import { type Course, formatCourses, judge } from './verdict.ts';

export interface SoakOptions {
  /** How long the load lasts, in minutes. Includes the warm-up. */
  minutes: number;
  /** The number of requests per second. The default is half of the capacity. */
  perSecond: number | undefined;
  tickets: number;
  onProgress: (text: string) => void;
}

export interface SoakResult {
  /** The measured capacity and the rate of the load, in requests per second. */
  capacity: number;
  rate: number;
  requests: number;
  deliveries: number;
  /** The number of requests that the concurrency limit rejected. */
  rejected: number;
  /** The number of unexpected responses by kind of request and status. No response may be unexpected. */
  unexpected: Record<string, number>;
  /** The errors that the processes logged. */
  logged: string[];
  /** The exit code of each process after SIGTERM, and the time from SIGTERM to the exit in milliseconds. */
  ended: Record<string, { code: number | null; ms: number }>;
  minutes: number;
  /** The CPU time in microseconds. `api` and `postgres` are per request, and `worker` is per delivery. */
  cpuUs: CpuTimes;
  courses: Course[];
  /** The samples taken after the warm-up. */
  samples: Sample[];
}

const senders = 16;
const everySeconds = 10;
const partSeconds = 15 * 60;

/**
 * Sends requests at half of the capacity with all features on. Concurrently samples the resource usage of the API, the
 * worker and PostgreSQL (evaluation/bench/README.md).
 */
export async function benchSoak(options: SoakOptions): Promise<{ table: string; result: SoakResult; good: boolean }> {
  const { minutes, onProgress } = options;
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const soaked = await startSoaked({ ...options, imports: soakImports }, stops);
    const { apiUrl, clients, servers } = soaked;
    const capacity = await measureCarried({ url: apiUrl, clients, seconds: Math.min(60, 10 * minutes), onProgress });
    const rate = options.perSecond ?? Math.floor(capacity / 2);
    onProgress(`Capacity: ${capacity} requests per second. Load: ${rate} for ${minutes} minutes`);
    const load = startLoad({ url: apiUrl, clients, pace: { perSecond: rate } });
    stops.push(load.stop);
    const watched = await watch(soaked, load, options);
    await load.stop();
    const ended = await endAll(servers);
    const samples = watched.samples.slice(Math.floor(watched.samples.length / 6));
    const result: SoakResult = {
      ...{ capacity, rate, minutes, ...watched, ended, samples },
      rejected: load.rejected(),
      unexpected: load.unexpected,
      logged: servers.map(({ server }) => errorsOf(server)).filter((each) => each !== ''),
      courses: judge(samples, { everySeconds, partSeconds }),
    };
    return { table: tableOf(result), result, good: isSteady(result) };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/**
 * Returns true if no response was unexpected, no process logged an error, both processes exited with code 0, and no
 * metric exceeded its limit.
 */
function isSteady({ unexpected, logged, ended, courses }: SoakResult): boolean {
  return (
    Object.keys(unexpected).length + logged.length === 0 &&
    Object.values(ended).every(({ code }) => code === 0) &&
    courses.every(({ isFlat }) => isFlat !== false)
  );
}

interface Carrying extends Pick<SoakOptions, 'onProgress'> {
  url: string;
  clients: Client[];
  seconds: number;
}

/**
 * Measures the capacity, which is the number of requests per second from concurrent senders that never pause. Ignores
 * the first half of the measurement.
 */
async function measureCarried({ url, clients, seconds, onProgress }: Carrying): Promise<number> {
  onProgress(`Measuring the capacity for ${seconds} seconds`);
  const load = startLoad({ url, clients, pace: { senders } });
  await sleep(seconds * 500);
  load.take();
  await sleep(seconds * 500);
  const { requests } = load.take();
  await load.stop();
  for (const [wrong, count] of Object.entries(load.unexpected)) onProgress(`${count} × ${wrong}`);
  return Math.round(requests / (seconds / 2));
}

/** Samples the processes and PostgreSQL every ten seconds. */
async function watch(
  soaked: Soaked,
  load: Load,
  { minutes, onProgress }: SoakOptions,
): Promise<Pick<SoakResult, 'requests' | 'deliveries' | 'cpuUs' | 'samples'>> {
  const samples: Sample[] = [];
  const sums = { requests: 0, deliveries: 0 };
  const before = await readCpu(soaked);
  const began = performance.now();
  for (let at = everySeconds; at <= minutes * 60; at += everySeconds) {
    await sleep(Math.max(0, began + at * 1000 - performance.now()));
    const { requests, took } = load.take();
    const deliveries = (await soaked.receivers.take()).length;
    sums.requests += requests;
    sums.deliveries += deliveries;
    const sample = { ...(await lookAt(soaked)), ...rates({ requests, deliveries, took }) };
    samples.push(sample);
    if (at % 60 === 0) onProgress(progressOf(at / 60, sample, load));
  }
  const after = await readCpu(soaked);
  const cpuUs = {
    api: (after.api - before.api) / sums.requests,
    worker: (after.worker - before.worker) / sums.deliveries,
    postgres: (after.postgres - before.postgres) / sums.requests,
  };
  return { samples, cpuUs, ...sums };
}

async function lookAt({ servers, client }: Soaked): Promise<Sample> {
  const each = await Promise.all(servers.map(({ watched }) => sampleProcess(watched)));
  return Object.assign({}, ...each, await samplePostgres(client));
}

function rates({ requests, deliveries, took }: { requests: number; deliveries: number; took: number[] }): Sample {
  const { p50, p99 } = percentiles(took);
  return {
    'requests: p50 ms': p50,
    'requests: p99 ms': p99,
    'requests: per second': requests / everySeconds,
    'deliveries: per second': deliveries / everySeconds,
    'machine: load': loadavg()[0] ?? 0,
  };
}

function progressOf(minute: number, sample: Sample, { unexpected }: Load): string {
  const figures = ['api: memory MB', 'worker: memory MB', 'requests: per second', 'requests: p99 ms', 'machine: load'];
  const values = figures.map((figure) => `${figure} ${Math.round(sample[figure] ?? 0)}`);
  return `minute ${minute}: ${values.join(', ')}, unexpected ${JSON.stringify(unexpected)}`;
}

/** Stops the processes with SIGTERM, as a process supervisor does. */
async function endAll(servers: Started[]): Promise<SoakResult['ended']> {
  const ends = servers.map(async ({ server, watched }) => {
    const since = performance.now();
    server.child.kill('SIGTERM');
    await server.exited;
    return [watched.name, { code: server.child.exitCode, ms: Math.round(performance.now() - since) }] as const;
  });
  return Object.fromEntries(await Promise.all(ends));
}

/** Returns the log lines of a process that report errors. */
function errorsOf({ output }: ServerProcess): string {
  return output()
    .split('\n')
    .filter((line) => line.startsWith('{"level":5') || line.includes('Error'))
    .join('\n');
}

function tableOf(result: SoakResult): string {
  const {
    capacity,
    rate,
    requests,
    deliveries,
    minutes,
    cpuUs,
    rejected,
    unexpected,
    logged,
    ended,
    courses,
    samples,
  } = result;
  const load = median(samples.map((sample) => sample['machine: load'] ?? 0));
  const part = Math.min(partSeconds, Math.round((samples.length * everySeconds) / 3)) / 60;
  return `${rate} requests per second for ${minutes} minutes, with a capacity of ${capacity}: ${requests} requests,
${deliveries} deliveries; load of the machine ${load.toFixed(1)}
CPU time per request                ${Math.round(cpuUs.api)} µs of the API, ${Math.round(cpuUs.postgres)} µs of PostgreSQL
CPU time per delivery               ${Math.round(cpuUs.worker)} µs of the worker
Rejected by concurrency limit       ${rejected}
Unexpected responses                ${JSON.stringify(unexpected)}
Errors in the log                   ${logged.length === 0 ? 'none' : logged.join('\n')}
Exit after SIGTERM                  ${JSON.stringify(ended)}

Medians of the first and the last ${part.toFixed(1)} minutes after the warm-up:
${formatCourses(courses)}`;
}
