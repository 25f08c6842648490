import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { endsWithin } from '@itsm-api/server/shared/timeout.ts';
import { openInstallation } from '../../support/installation.ts';
import { type DatabaseProxy, startProxy } from '../../support/proxy.ts';
import { type ServerProcess, spawnServer } from '../../support/server-process.ts';
import { addWorkspace, type Subscription, subscribe, type Workspace } from '../../support/subscribed-workspaces.ts';
import { type Arrival, openReceiver, type Receiver } from './receiver.ts';
import { type Answer, startTraffic, type Traffic } from './traffic.ts';

export interface SilenceOptions {
  /** The value of `STATEMENT_TIMEOUT_MS` for the servers. */
  statementTimeoutMs: number;
  /** The number of requests that clients send per second. */
  perSecond: number;
  /** The number of silences before the shutdown. During a silence, the proxy forwards no data on open connections. */
  silences: number;
  onProgress?: (text: string) => void;
}

/** The effects of one silence, during which the database connections hang. Times are in milliseconds. */
interface Silence {
  /** The number of connections that hang. */
  connections: number;
  /** The longest wait for a response. The wait before the start of the silence doesn't count. */
  maxWaitMs: number;
  /** The time from the start of the silence to the last request that failed. */
  recoveredAfter: number;
  /** The number of failed requests by response status. */
  failedResponses: Record<string, number>;
  /** The longest time without a delivery. */
  maxMsWithoutDelivery: number;
}

export interface SilenceReport {
  statementTimeoutMs: number;
  /** The maximum response time, in milliseconds. */
  maxAllowedMs: number;
  requests: number;
  silences: Silence[];
  /** The number of requests without a response in the whole run. */
  withoutResponse: number;
  /**
   * The time from SIGTERM to the exit, in milliseconds. The test sends SIGTERM while the connections hang. Null if the
   * process did not exit in time.
   */
  endedAfter: { api: number | null; worker: number | null };
  /** The output of processes that exited with an error. */
  crashes: string[];
  /** The number of deliveries that acknowledged changes must cause, and the deliveries that never arrived. */
  deliveries: number;
  lost: string[];
}

/** The time that a response may take in addition to the statement timeout, in milliseconds. */
const grace = 3000;
/** How long clients send requests before the first silence, in milliseconds. */
const calmMs = 3000;
const maxEndMs = 60_000;
const maxDrainMs = 120_000;

interface System {
  /** Services with a direct connection to the database, without the proxy. */
  runtime: Runtime;
  /** The environment variables of a server process with a direct connection to the database. */
  env: Record<string, string>;
  proxy: DatabaseProxy;
  api: ServerProcess;
  worker: ServerProcess;
  traffic: Traffic;
  receiver: Receiver;
  subscriptions: Subscription[];
}

/** Cleanup functions, called in reverse order. */
type Stops = (() => Promise<unknown>)[];

/**
 * Makes all PostgreSQL connections of the API and the worker hang while clients send requests. Then shuts down both
 * processes while their connections hang. Another worker sends the pending deliveries. At the end, the test compares
 * all deliveries with the acknowledged changes.
 */
export async function runSilence(options: SilenceOptions): Promise<SilenceReport> {
  const { statementTimeoutMs, silences: count, onProgress } = options;
  const maxAllowedMs = statementTimeoutMs + grace;
  const stops: Stops = [];
  try {
    const system = await startSystem(options, stops);
    const { runtime, env, api, worker, traffic } = system;
    await sleep(calmMs);
    const silences: Silence[] = [];
    for (let i = 1; i <= count; i++) {
      const silence = await testSilence(system, maxAllowedMs);
      silences.push(silence);
      onProgress?.(`silence ${i} of ${count}: ${JSON.stringify(silence)}`);
    }
    const endedAfter = await endInSilence(system);
    onProgress?.(`exit: ${JSON.stringify(endedAfter)}`);

    await spawn({ ...env, ROLES: 'worker' }, stops).ready;
    await drained(runtime);
    return {
      statementTimeoutMs,
      maxAllowedMs,
      requests: traffic.results.length,
      silences,
      withoutResponse: traffic.results.filter(({ status }) => status === undefined).length,
      endedAfter,
      crashes: [api, worker].filter(({ child }) => child.exitCode !== 0).map(({ output }) => output()),
      ...compareDeliveries(system),
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startSystem({ statementTimeoutMs, perSecond }: SilenceOptions, stops: Stops): Promise<System> {
  const { runtime, apiUrl, env } = await openInstallation(stops);
  const receiver = await openReceiver({ failing: 0, slowest: 50 });
  stops.push(receiver.close);
  const workspaces = await Promise.all(['First', 'Second', 'Third'].map((name) => addWorkspace(runtime, name)));
  const subscriptions = await addSubscriptions(workspaces, receiver);
  const proxy = await startProxy(env.DATABASE_URL ?? '');
  stops.push(proxy.close);

  const throughProxy = {
    ...env,
    DATABASE_URL: proxy.url,
    STATEMENT_TIMEOUT_MS: String(statementTimeoutMs),
    // As in the default settings, the maximum wait is half of the statement timeout.
    TENANT_CONCURRENCY_WAIT_MS: String(statementTimeoutMs / 2),
  };
  const api = spawn({ ...throughProxy, ROLES: 'api' }, stops);
  const worker = spawn({ ...throughProxy, ROLES: 'worker' }, stops);
  await Promise.all([api.ready, worker.ready]);
  const timeoutMs = 3 * (statementTimeoutMs + grace);
  const traffic = await startTraffic({ apiUrl, workspaces, perSecond, timeoutMs });
  stops.push(traffic.stop);
  return { runtime, env, proxy, api, worker, traffic, receiver, subscriptions };
}

function spawn(env: Record<string, string>, stops: Stops): ServerProcess {
  const server = spawnServer(env);
  stops.push(async () => {
    server.child.kill('SIGKILL');
    await server.exited;
  });
  return server;
}

async function addSubscriptions(workspaces: Workspace[], receiver: Receiver): Promise<Subscription[]> {
  const added = workspaces.flatMap((workspace, index) =>
    (['ticket.created', 'ticket.updated'] as const).map((event) => {
      const name = `${index}-${event}`;
      return subscribe(workspace, { name, url: receiver.urlOf(name), events: [event] });
    }),
  );
  return Promise.all(added);
}

/** Makes the open database connections hang. Measures the effects for twice the maximum response time. */
async function testSilence({ proxy, traffic, receiver }: System, maxAllowedMs: number): Promise<Silence> {
  const since = performance.now();
  const connections = proxy.silence();
  await sleep(2 * maxAllowedMs);
  const until = performance.now();
  // After this wait, every request has a response or has exceeded the maximum response time.
  await sleep(maxAllowedMs);
  const results = traffic.results.filter(({ sentAt, took }) => sentAt + took >= since && sentAt <= until + 1000);
  const failed = results.filter(({ sentAt, status = 500 }) => sentAt >= since && status >= 300);
  return {
    connections,
    maxWaitMs: maxDuration(results.map(({ sentAt, took }) => sentAt + took - Math.max(sentAt, since))),
    recoveredAfter: maxDuration(failed.map(({ sentAt }) => sentAt - since)),
    failedResponses: countsOf(failed),
    maxMsWithoutDelivery: maxGap(receiver.arrivals, { from: since, to: until }),
  };
}

function countsOf(results: Answer[]): Record<string, number> {
  const groups = Object.groupBy(results, ({ status }) => String(status ?? 'none'));
  return Object.fromEntries(Object.entries(groups).map(([status, group = []]) => [status, group.length]));
}

function maxGap(arrivals: Arrival[], { from, to }: { from: number; to: number }): number {
  const moments = arrivals.map(({ at }) => at - performance.timeOrigin).filter((at) => at > from && at < to);
  const all = [from, ...moments, to];
  return maxDuration(all.slice(1).map((at, i) => at - (all[i] ?? at)));
}

function maxDuration(times: number[]): number {
  return Math.round(times.reduce((max, each) => Math.max(max, each), 0));
}

/** Sends SIGTERM to the API and the worker while requests and deliveries wait for hanging connections. */
async function endInSilence({ proxy, api, worker, traffic }: System): Promise<SilenceReport['endedAfter']> {
  proxy.silence();
  await sleep(200);
  const stopped = traffic.stop();
  await sleep(200);
  const [ofApi, ofWorker] = await Promise.all([api, worker].map(end));
  await stopped;
  return { api: ofApi ?? null, worker: ofWorker ?? null };
}

async function end({ child, exited }: ServerProcess): Promise<number | null> {
  const since = performance.now();
  child.kill('SIGTERM');
  const ended = await endsWithin(maxEndMs, exited);
  return ended ? Math.round(performance.now() - since) : null;
}

async function drained({ prisma }: Runtime): Promise<void> {
  for (const end = Date.now() + maxDrainMs; Date.now() < end; await sleep(100)) {
    if ((await prisma.delivery.count({ where: { state: 'PENDING' } })) === 0) return;
  }
}

/**
 * Returns the number of expected deliveries and the deliveries that never arrived. Each acknowledged change causes one
 * delivery per matching subscription.
 */
function compareDeliveries({ traffic, receiver, subscriptions }: System): Pick<SilenceReport, 'deliveries' | 'lost'> {
  const expected = traffic.acknowledged.flatMap(({ title, tenantId, type }) =>
    subscriptions
      .filter((each) => each.tenantId === tenantId && each.events.includes(type))
      .map(({ name }) => `${name} ${title}`),
  );
  const arrived = new Set(receiver.arrivals.map(({ subscription, change }) => `${subscription} ${change}`));
  return { deliveries: expected.length, lost: expected.filter((each) => !arrived.has(each)) };
}

/** Returns true if all results are within the limits. */
export function isWithinLimits(report: SilenceReport): boolean {
  const { silences, maxAllowedMs, withoutResponse, endedAfter, crashes, lost } = report;
  return (
    silences.every(
      ({ maxWaitMs, recoveredAfter, maxMsWithoutDelivery }) =>
        maxWaitMs <= maxAllowedMs && recoveredAfter <= 2 * maxAllowedMs && maxMsWithoutDelivery <= 2 * maxAllowedMs,
    ) &&
    endedAfter.api !== null &&
    endedAfter.worker !== null &&
    withoutResponse + crashes.length + lost.length === 0
  );
}

/** Formats the figures for a terminal. */
export function formatSilence(report: SilenceReport): string {
  const { statementTimeoutMs, maxAllowedMs, requests, silences, withoutResponse, endedAfter, deliveries, lost } =
    report;
  const row = (name: string, allowed: string, figures: (number | string | null)[]) =>
    `  ${name.padEnd(44)}${allowed.padStart(10)}   ${figures.map((each) => each ?? 'never').join('   ')}\n`;
  return `
  Statement timeout: ${statementTimeoutMs} ms. ${requests} requests, ${withoutResponse} of them without a response

${row(
  'Milliseconds',
  'allowed',
  silences.map(({ connections }) => `${connections} connections`),
)}
${row(
  'Longest response time',
  `${maxAllowedMs}`,
  silences.map(({ maxWaitMs }) => maxWaitMs),
)}\
${row(
  'All requests succeeded again after',
  `${2 * maxAllowedMs}`,
  silences.map(({ recoveredAfter }) => recoveredAfter),
)}\
${row(
  '  Failed responses until then',
  '',
  silences.map(({ failedResponses }) => JSON.stringify(failedResponses)),
)}\
${row(
  'Longest without a delivery',
  `${2 * maxAllowedMs}`,
  silences.map(({ maxMsWithoutDelivery }) => maxMsWithoutDelivery),
)}\
${row('API and worker exited after SIGTERM', `${maxEndMs}`, [endedAfter.api, endedAfter.worker])}\
${row('Deliveries lost', '0', [`${lost.length} of ${deliveries}`])}`;
}
