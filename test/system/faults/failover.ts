import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { openDatabase } from '../../support/installation.ts';
import { percentiles } from '../../support/percentiles.ts';
import { type ServerProcess, spawnServer } from '../../support/server-process.ts';
import { addWorkspace, type Subscription, subscribe, type Workspace } from '../../support/subscribed-workspaces.ts';
import { readTable, startWalker, type Walker } from './changes.ts';
import { type Driver, startDriver } from './driver.ts';
import { addDriven, addSubscriptions, drained } from './faults.ts';
import { type Figures, readFigures } from './figures.ts';
import { type Loss, openPair, type Pair } from './pair.ts';
import { type Probe, type ProbedRequest, startProbe } from './probe.ts';
import { openReceiver, type Receiver } from './receiver.ts';

export interface FailoverOptions {
  /** The failures to cause, in order. */
  losses: Loss[];
  /** True if commits wait for the standby. */
  synchronous: boolean;
  /** The number of changes that clients request per second. */
  perSecond: number;
  /** The time without faults before each failure, in milliseconds. */
  calmMs: number;
  /**
   * Times in milliseconds: from a failure to the decision to promote the standby (`noticeMs`), and from the decision to
   * the promotion (`readOnlyMs`).
   */
  noticeMs: number;
  readOnlyMs: number;
  onProgress?: (text: string) => void;
}

/** The results of one failover. Times are in milliseconds, and recovery times start at the promotion. */
interface Failover {
  loss: Loss;
  /** The time from the failure to the promotion. */
  promotedAfter: number;
  /** The times from the promotion to the first successful read and to the first successful write. */
  firstRead: number;
  firstWrite: number;
  /**
   * The time from the promotion to the last failed request. A 429 response from the concurrency limit isn't a failure.
   */
  recoveredAfter: number;
  /** The longest response time of a request that was sent during the failover. */
  maxWaitMs: number;
  /** The number of failed requests per status. */
  failed: Record<string, number>;
  /** The number of failed requests that got no Retry-After header. */
  withoutRetryAfter: number;
  /** The number of requests during the failover that succeeded before the promotion began. */
  early: number;
  /** The number of sessions that the service opened on the old primary after the old primary restarted. */
  strayed: number;
}

export interface FailoverReport extends Figures {
  failovers: Failover[];
  /** The tickets that are missing or outdated in a client's copy, and the tickets that are only in the copy. */
  missed: string[];
  extra: string[];
  crashes: string[];
}

/** The maximum time from the promotion until no request fails, in milliseconds. */
const backWithinMs = 5000;
const maxRecoveryMs = 60_000;

/** Cleanup functions, called in reverse order. */
type Stops = (() => Promise<unknown>)[];

interface System {
  pair: Pair;
  runtime: Runtime;
  servers: ServerProcess[];
  workspaces: Workspace[];
  subscriptions: Subscription[];
  receiver: Receiver;
  driver: Driver;
  probe: Probe;
  walkers: Walker[];
}

/**
 * Repeatedly stops the PostgreSQL primary or its standby while clients write tickets, follow changes and receive
 * webhooks. If the primary stops, promotes the standby. At the end, compares the data with the acknowledged requests.
 */
export async function runFailovers(options: FailoverOptions): Promise<FailoverReport> {
  const stops: Stops = [];
  try {
    const system = await startSystem(options, stops);
    const { runtime, servers, workspaces, subscriptions, receiver, driver, probe, walkers } = system;
    const moments: Moments[] = [];
    for (const [i, loss] of options.losses.entries()) {
      const failover = await testFailover(system, loss, options);
      moments.push(failover);
      const progress = JSON.stringify(measure(failover, probe.requests));
      options.onProgress?.(`failover ${i + 1} of ${options.losses.length}: ${progress}`);
      // After the last failover, the test needs no new standby.
      if (i + 1 < options.losses.length) await system.pair.restore();
    }
    const since = Date.now();
    await Promise.all([driver.stop(), probe.stop()]);
    const drainedAt = await drained(runtime, since, () => undefined);
    const drainSeconds = drainedAt === undefined ? null : (drainedAt - since) / 1000;
    const { changes } = driver;
    const { arrivals } = receiver;
    const figures = await readFigures({ ...runtime, changes, subscriptions, arrivals, kills: [], drainSeconds });
    const copies = await Promise.all(
      walkers.map(async (walker, i) => walker.settle(await readTable(workspaces[i] as Workspace))),
    );
    return {
      ...figures,
      failovers: moments.map((each, i) => measure(each, probe.requests, moments[i + 1])),
      missed: copies.flatMap(({ missed }) => missed.map(String)),
      extra: copies.flatMap(({ extra }) => extra.map(String)),
      crashes: servers.filter(({ child }) => child.exitCode !== null).map(({ output }) => output()),
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startSystem({ perSecond, synchronous }: FailoverOptions, stops: Stops): Promise<System> {
  const pair = await openPair(stops, synchronous);
  const { runtime, apiUrl, env } = await openDatabase(pair.url, stops);
  const receiver = await openReceiver({ failing: 0, slowest: 100 });
  stops.push(receiver.close);
  const driven = [await addDriven(runtime, 'First'), await addDriven(runtime, 'Second')];
  const probed = await addWorkspace(runtime, 'Probed');
  const subscribed = await Promise.all(driven.map((each, index) => addSubscriptions(each, index, receiver)));
  const subscriptions = [
    ...subscribed.flat(),
    await subscribe(probed, { name: 'probed', url: receiver.urlOf('probed'), events: ['ticket.created'] }),
  ];
  for (const each of subscriptions) receiver.know(each);

  const servers = ['api', 'worker'].map((ROLES) => spawnServer({ ...env, LOG_LEVEL: 'fatal', ROLES }));
  stops.push(() => Promise.all(servers.map(end)));
  await Promise.all(servers.map(({ ready }) => ready));
  const driver = startDriver({ apiUrl, workspaces: driven, perSecond });
  stops.push(driver.stop);
  const probe = startProbe({ apiUrl, workspace: probed, changes: driver.changes });
  stops.push(probe.stop);
  const workspaces = [...driven.map(({ workspace }) => workspace), probed];
  const walkers = workspaces.map((workspace) => startWalker(apiUrl, workspace));
  stops.push(...walkers.map(({ stop }) => stop));
  return { pair, runtime, servers, workspaces, subscriptions, receiver, driver, probe, walkers };
}

async function end({ child, exited }: ServerProcess): Promise<void> {
  child.kill('SIGTERM');
  await exited;
}

/** When the steps of a failover occurred, in milliseconds since 1970. */
interface Moments {
  loss: Loss;
  lostAt: number;
  /** When the stopped server could no longer respond to new requests. */
  goneAt: number;
  promotingAt: number;
  promotedAt: number;
  strayed: number;
}

async function testFailover({ pair, probe, walkers }: System, loss: Loss, options: FailoverOptions): Promise<Moments> {
  await sleep(options.calmMs);
  // Waits until each client has read another page of the change feed, so that the client's cursor comes from the server
  // that will stop.
  const pages = walkers.map(({ seen }) => seen.pages);
  while (walkers.some(({ seen }, i) => seen.pages < (pages[i] ?? 0) + 2)) await sleep(20);
  const lostAt = Date.now();
  await pair.lose(loss);
  const goneAt = Date.now();
  await sleep(options.noticeMs);
  const promotingAt = await pair.promote(options.readOnlyMs);
  const promotedAt = Date.now();
  const isBack = (isWrite: boolean) =>
    probe.requests.some((each) => each.at >= promotedAt && each.isWrite === isWrite && isGood(each));
  for (const deadline = promotedAt + maxRecoveryMs; Date.now() < deadline; await sleep(100)) {
    if (isBack(false) && isBack(true)) break;
  }
  return { loss, lostAt, goneAt, promotingAt, promotedAt, strayed: await pair.comeBack() };
}

const isGood = ({ status = 500 }: ProbedRequest) => status < 300;

/** Computes the results of a failover from the requests between its start and the start of the next failover. */
function measure(moments: Moments, all: ProbedRequest[], next?: Moments): Failover {
  const { loss, lostAt, goneAt, promotingAt, promotedAt, strayed } = moments;
  const until = next?.lostAt ?? Number.POSITIVE_INFINITY;
  const requests = all.filter(({ at, respondedAt }) => at >= goneAt && respondedAt < until);
  const good = requests.filter(isGood);
  const failed = requests.filter((each) => !isGood(each));
  // If the standby fails, reads succeed during the whole failover. The first successful read can then precede
  // `promotedAt`.
  const first = (isWrite: boolean) =>
    Math.max(
      0,
      Math.min(...good.filter((each) => each.isWrite === isWrite).map((each) => each.respondedAt)) - promotedAt,
    );
  return {
    loss,
    promotedAfter: promotedAt - lostAt,
    firstRead: first(false),
    firstWrite: first(true),
    recoveredAfter: Math.max(0, ...failed.filter(({ status }) => status !== 429).map(({ at }) => at - promotedAt)),
    maxWaitMs: Math.max(...requests.map(({ at, respondedAt }) => respondedAt - at)),
    failed: countsOf(failed),
    withoutRetryAfter: failed.filter(({ hasRetryAfter }) => !hasRetryAfter).length,
    early: good.filter(({ respondedAt }) => respondedAt < promotingAt).length,
    strayed,
  };
}

function countsOf(requests: ProbedRequest[]): Record<string, number> {
  const groups = Object.groupBy(requests, ({ status }) => String(status ?? 'none'));
  return Object.fromEntries(Object.entries(groups).map(([status, group = []]) => [status, group.length]));
}

/** Returns true if no data was lost and the service recovered in time. */
export function isFailedOver(report: FailoverReport): boolean {
  const { failovers, lost, createdTwice, falseDeliveries, unsigned, missed, extra, crashes, drainSeconds } = report;
  const wrong = [lost, createdTwice, falseDeliveries, unsigned, missed, extra, crashes].flat();
  return (
    wrong.length === 0 &&
    drainSeconds !== null &&
    failovers.every(
      ({ firstRead, firstWrite, recoveredAfter, strayed }) =>
        Math.max(firstRead, firstWrite, recoveredAfter) <= backWithinMs && strayed === 0,
    )
  );
}

/** Formats the report for a terminal. */
export function formatFailovers(report: FailoverReport): string {
  const { failovers, lost, deliveries, events, comments, unknown, createdTwice, missed, extra, duplicates } = report;
  const row = (name: string, figure: (failover: Failover) => number) => {
    const { p50, max } = percentiles(failovers.map(figure));
    return `  ${name.padEnd(60)}${String(p50).padStart(8)}${String(max).padStart(8)}\n`;
  };
  const silent = failovers.filter(({ loss }) => loss === 'silent').length;
  return `
  ${failovers.length} server failures, ${silent} of them silent; ${events} events, ${comments} comments,
  ${unknown} changes with a failed request or no response

  Lost                        ${lost.length}   of ${deliveries} deliveries and all acknowledged changes
  Created twice               ${createdTwice.length}
  Missing in the copy         ${missed.length}
  Only in the copy            ${extra.length}
  Duplicates                  ${duplicates}

${' '.repeat(64)}median     max
${row('From the failure to the promotion, ms', ({ promotedAfter }) => promotedAfter)}\
${row('First read after the promotion, ms', ({ firstRead }) => firstRead)}\
${row('First write after the promotion, ms', ({ firstWrite }) => firstWrite)}\
${row('All requests succeed after, ms', ({ recoveredAfter }) => recoveredAfter)}\
${row('Longest response time, ms', ({ maxWaitMs }) => maxWaitMs)}\
${row('Failed requests without Retry-After', ({ withoutRetryAfter }) => withoutRetryAfter)}\
${[lost, createdTwice, report.falseDeliveries, report.unsigned, missed, extra]
  .flat()
  .map((each) => `\n  ${each}`)
  .join('')}`;
}
