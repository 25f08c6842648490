import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { endsWithin } from '@itsm-api/server/shared/timeout.ts';
import { type DatabaseProxy, startProxy } from '../support/proxy.ts';
import { openGround } from './ground.ts';
import { type Arrival, openReceiver, type Receiver } from './receiver.ts';
import { type ServerProcess, spawnServer } from './server.ts';
import { type Answer, startTraffic, type Traffic } from './traffic.ts';
import { addWorkspace, type Subscription, subscribe, type Workspace } from './workspaces.ts';

export interface SilenceOptions {
  /** `STATEMENT_TIMEOUT_MS` of the servers. */
  statementTimeoutMs: number;
  /** Requests per second. */
  perSecond: number;
  /** How often all connections are silenced during requests, before the silence at shutdown. */
  silences: number;
  onProgress?: (text: string) => void;
}

/** One silence of all connections. Milliseconds. */
interface Silence {
  /** The number of connections. */
  connections: number;
  /** The longest response time from then on. */
  longestWait: number;
  /** The time until the last failed request was sent. */
  answeredAgainAfter: number;
  /** The failed requests by response. */
  otherAnswers: Record<string, number>;
  /** The longest time without a delivery. */
  longestWithoutDelivery: number;
}

export interface SilenceReport {
  statementTimeoutMs: number;
  /** The maximum response time, in milliseconds. */
  longestAllowed: number;
  requests: number;
  silences: Silence[];
  /** Requests without a response in the whole run. */
  unanswered: number;
  /** The time from SIGTERM, sent just after a silence began, to the exit. Null if the process did not exit in time. */
  endedAfter: { api: number | null; worker: number | null };
  /** The output of processes that exited with an error. */
  crashes: string[];
  /** Deliveries of acknowledged changes, and those that never arrived. */
  deliveries: number;
  lost: string[];
}

/** The maximum response time in addition to the statement timeout, in milliseconds. */
const grace = 3000;
/** The time of requests before the first silence. */
const calmMs = 3000;
const endPatience = 60_000;
const drainPatience = 120_000;

interface System {
  /** Services that connect to the database without the proxy. */
  runtime: Runtime;
  /** The environment of a server process that connects without the proxy. */
  env: Record<string, string>;
  proxy: DatabaseProxy;
  api: ServerProcess;
  worker: ServerProcess;
  traffic: Traffic;
  receiver: Receiver;
  subscriptions: Subscription[];
}

/** Functions that stop what was started. Called in reverse order. */
type Stops = (() => Promise<unknown>)[];

/**
 * Silences all connections of the API and the worker to PostgreSQL during requests, and finally shuts down both
 * processes in a silence. Then another worker delivers the rest, which is compared with the acknowledged changes.
 */
export async function runSilence(options: SilenceOptions): Promise<SilenceReport> {
  const { statementTimeoutMs, silences: count, onProgress } = options;
  const longestAllowed = statementTimeoutMs + grace;
  const stops: Stops = [];
  try {
    const system = await startSystem(options, stops);
    const { runtime, env, api, worker, traffic } = system;
    await sleep(calmMs);
    const silences: Silence[] = [];
    for (let i = 1; i <= count; i++) {
      const silence = await fallSilent(system, longestAllowed);
      silences.push(silence);
      onProgress?.(`silence ${i} of ${count}: ${JSON.stringify(silence)}`);
    }
    const endedAfter = await endInSilence(system);
    onProgress?.(`ended: ${JSON.stringify(endedAfter)}`);

    await spawn({ ...env, ROLES: 'worker' }, stops).ready;
    await drained(runtime);
    return {
      statementTimeoutMs,
      longestAllowed,
      requests: traffic.answers.length,
      silences,
      unanswered: traffic.answers.filter(({ status }) => status === undefined).length,
      endedAfter,
      crashes: [api, worker].filter(({ child }) => child.exitCode !== 0).map(({ output }) => output()),
      ...compareDeliveries(system),
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startSystem({ statementTimeoutMs, perSecond }: SilenceOptions, stops: Stops): Promise<System> {
  const { runtime, apiUrl, env } = await openGround(stops);
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
    // The same ratio as between the defaults.
    FAIR_USE_WAIT_MS: String(statementTimeoutMs / 2),
  };
  const api = spawn({ ...throughProxy, ROLES: 'api' }, stops);
  const worker = spawn({ ...throughProxy, ROLES: 'worker' }, stops);
  await Promise.all([api.ready, worker.ready]);
  const patience = 3 * (statementTimeoutMs + grace);
  const traffic = await startTraffic({ apiUrl, workspaces, perSecond, patience });
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

/** Silences the open connections and measures the effects until the service must have recovered, plus a margin. */
async function fallSilent({ proxy, traffic, receiver }: System, longestAllowed: number): Promise<Silence> {
  const since = performance.now();
  const connections = proxy.silence();
  await sleep(2 * longestAllowed);
  const until = performance.now();
  // Earlier requests have a response or are too late.
  await sleep(longestAllowed);
  const answers = traffic.answers.filter(({ sentAt, took }) => sentAt + took >= since && sentAt <= until + 1000);
  const failed = answers.filter(({ sentAt, status = 500 }) => sentAt >= since && status >= 300);
  return {
    connections,
    longestWait: longest(answers.map(({ sentAt, took }) => sentAt + took - Math.max(sentAt, since))),
    answeredAgainAfter: longest(failed.map(({ sentAt }) => sentAt - since)),
    otherAnswers: countsOf(failed),
    longestWithoutDelivery: longestGap(receiver.arrivals, { from: since, to: until }),
  };
}

function countsOf(answers: Answer[]): Record<string, number> {
  const groups = Object.groupBy(answers, ({ status }) => String(status ?? 'none'));
  return Object.fromEntries(Object.entries(groups).map(([status, group = []]) => [status, group.length]));
}

function longestGap(arrivals: Arrival[], { from, to }: { from: number; to: number }): number {
  const moments = arrivals.map(({ at }) => at - performance.timeOrigin).filter((at) => at > from && at < to);
  const all = [from, ...moments, to];
  return longest(all.slice(1).map((at, i) => at - (all[i] ?? at)));
}

function longest(times: number[]): number {
  return Math.round(times.reduce((max, each) => Math.max(max, each), 0));
}

/** Sends SIGTERM while requests and deliveries wait for connections that were just silenced. */
async function endInSilence({ proxy, api, worker, traffic }: System): Promise<SilenceReport['endedAfter']> {
  proxy.silence();
  await sleep(200);
  const answered = traffic.stop();
  await sleep(200);
  const [ofApi, ofWorker] = await Promise.all([api, worker].map(end));
  await answered;
  return { api: ofApi ?? null, worker: ofWorker ?? null };
}

async function end({ child, exited }: ServerProcess): Promise<number | null> {
  const since = performance.now();
  child.kill('SIGTERM');
  const ended = await endsWithin(endPatience, exited);
  return ended ? Math.round(performance.now() - since) : null;
}

async function drained({ prisma }: Runtime): Promise<void> {
  for (const end = Date.now() + drainPatience; Date.now() < end; await sleep(100)) {
    if ((await prisma.delivery.count({ where: { state: 'PENDING' } })) === 0) return;
  }
}

/** Returns the expected deliveries: each acknowledged change for each matching subscription. */
function compareDeliveries({ traffic, receiver, subscriptions }: System): Pick<SilenceReport, 'deliveries' | 'lost'> {
  const wanted = traffic.acknowledged.flatMap(({ title, tenantId, type }) =>
    subscriptions
      .filter((each) => each.tenantId === tenantId && each.events.includes(type))
      .map(({ name }) => `${name} ${title}`),
  );
  const arrived = new Set(receiver.arrivals.map(({ subscription, change }) => `${subscription} ${change}`));
  return { deliveries: wanted.length, lost: wanted.filter((each) => !arrived.has(each)) };
}

/** Returns whether all results are within the limits. */
export function isSilenceSurvived(report: SilenceReport): boolean {
  const { silences, longestAllowed, unanswered, endedAfter, crashes, lost } = report;
  return (
    silences.every(
      ({ longestWait, answeredAgainAfter, longestWithoutDelivery }) =>
        longestWait <= longestAllowed &&
        answeredAgainAfter <= 2 * longestAllowed &&
        longestWithoutDelivery <= 2 * longestAllowed,
    ) &&
    endedAfter.api !== null &&
    endedAfter.worker !== null &&
    unanswered + crashes.length + lost.length === 0
  );
}

/** Formats the figures for a terminal. */
export function formatSilence(report: SilenceReport): string {
  const { statementTimeoutMs, longestAllowed, requests, silences, unanswered, endedAfter, deliveries, lost } = report;
  const row = (name: string, allowed: string, figures: (number | string | null)[]) =>
    `  ${name.padEnd(44)}${allowed.padStart(10)}   ${figures.map((each) => each ?? 'never').join('   ')}\n`;
  return `
  Statements are ended after ${statementTimeoutMs} ms; ${requests} requests, ${unanswered} of them without an answer

${row(
  'Milliseconds',
  'allowed',
  silences.map(({ connections }) => `${connections} connections`),
)}
${row(
  'Longest wait of a request',
  `${longestAllowed}`,
  silences.map(({ longestWait }) => longestWait),
)}\
${row(
  'All answered again after',
  `${2 * longestAllowed}`,
  silences.map(({ answeredAgainAfter }) => answeredAgainAfter),
)}\
${row(
  '  other answers until then',
  '',
  silences.map(({ otherAnswers }) => JSON.stringify(otherAnswers)),
)}\
${row(
  'Longest without a delivery',
  `${2 * longestAllowed}`,
  silences.map(({ longestWithoutDelivery }) => longestWithoutDelivery),
)}\
${row('API, worker ended after SIGTERM in a silence', `${endPatience}`, [endedAfter.api, endedAfter.worker])}\
${row('Deliveries lost', '0', [`${lost.length} of ${deliveries}`])}`;
}
