import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '@itsm-api/contract';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { openInstallation } from '../../support/installation.ts';
import type { Postgres } from '../../support/postgres-server.ts';
import { type Supervised, supervise } from '../../support/server-process.ts';
import { addKey, addWorkspace, type Subscription, subscribe } from '../../support/subscribed-workspaces.ts';
import { type Driven, type Driver, startDriver } from './driver.ts';
import { type Figures, type Kill, readFigures, type Victim } from './figures.ts';
import { type Manager, startManager } from './manager.ts';
import { openReceiver, type Receiver } from './receiver.ts';

export interface FaultOptions {
  kills: number;
  /** The minimum number of committed changes. */
  events: number;
  /**
   * The average time between two kills, in milliseconds. The actual times are random, between zero and twice this
   * value.
   */
  betweenKills: number;
  onProgress?: (progress: Progress) => void;
}

export interface Progress {
  kills: number;
  committed: number;
  arrivals: number;
  /** The number of pending deliveries after the last kill. */
  pending: number | undefined;
}

export interface FaultReport extends Figures {
  /** How often signing secrets were replaced and subscriptions were paused. */
  managed: Manager['counts'];
  /** The unexpected responses to requests that manage subscriptions. */
  unexpected: string[];
  /** The last output of each server process that exited unexpectedly. */
  crashes: string[];
}

/** The processes that the test kills, and the clients that use them. */
interface System {
  postgres: Postgres;
  api: Supervised;
  worker: Supervised;
  runtime: Runtime;
  receiver: Receiver;
  driver: Driver;
  manager: Manager;
  subscriptions: Subscription[];
}

const maxDrainMs = 150_000;

/**
 * Writes tickets and comments with single and bulk requests. At the same time, pauses subscriptions and replaces their
 * secrets, and kills the API, the worker and PostgreSQL at random times. Waits until no delivery is pending. Then
 * reports lost, false and repeated events.
 */
export async function runFaults(options: FaultOptions): Promise<FaultReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const system = await startSystem(options, stops);
    const { api, worker, runtime, receiver, driver, manager, subscriptions } = system;
    const { prisma } = runtime;
    const { changes } = driver;
    const { arrivals } = receiver;
    const kills: Kill[] = [];
    const tell = (pending?: number) => {
      options.onProgress?.({
        kills: kills.length,
        committed: changes.committed.size,
        arrivals: arrivals.length,
        pending,
      });
    };
    const ticker = setInterval(() => tell(), 500);
    stops.push(async () => clearInterval(ticker));

    await killAtRandom(system, options, kills);
    clearInterval(ticker);
    const restartedAt = Date.now();
    await Promise.all([driver.stop(), manager.stop()]);
    const drainedAt = await drained(runtime, restartedAt, tell);
    const drainSeconds = drainedAt === undefined ? null : (drainedAt - restartedAt) / 1000;
    const figures = await readFigures({ prisma, changes, subscriptions, arrivals, kills, drainSeconds });
    const { counts: managed, unexpected } = manager;
    return { ...figures, managed, unexpected, crashes: [...api.crashes, ...worker.crashes] };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startSystem(options: FaultOptions, stops: (() => Promise<unknown>)[]): Promise<System> {
  const { postgres, runtime, apiUrl, env } = await openInstallation(stops);
  const receiver = await openReceiver({ failing: 0.02, slowest: 500 });
  stops.push(receiver.close);
  const workspaces = [await addDriven(runtime, 'First'), await addDriven(runtime, 'Second')];
  const subscribed = await Promise.all(workspaces.map((driven, index) => addSubscriptions(driven, index, receiver)));
  const subscriptions = subscribed.flat();

  const api = supervise({ ...env, LOG_LEVEL: 'fatal', ROLES: 'api' });
  const worker = supervise({ ...env, LOG_LEVEL: 'fatal', ROLES: 'worker' });
  stops.push(() => Promise.all([api.stop(), worker.stop()]));
  await Promise.all([api.ready(), worker.ready()]);

  const perSecond = (options.events / ((options.kills * options.betweenKills) / 1000)) * spare;
  const driver = startDriver({ apiUrl, workspaces, perSecond });
  stops.push(driver.stop);
  const managed = workspaces.flatMap(({ workspace }) =>
    subscriptions
      .filter(({ name, tenantId }) => tenantId === workspace.tenantId && name.endsWith(managedName))
      .map((subscription) => ({ workspace, subscription })),
  );
  const manager = startManager({ apiUrl, managed, betweenChanges: options.betweenKills });
  stops.push(manager.stop);
  return { postgres, api, worker, runtime, receiver, driver, manager, subscriptions };
}

/** The driver sends 1.8 requests per required change, because requests fail while a process is down. */
const spare = 1.8;

interface Keyed extends Driven {
  /** The ids of two API keys: the workspace's own key, and the key that replaces it in a rotation. */
  own: number[];
}

/** Creates a workspace with three API keys: its own key, a key that replaces it in a rotation, and an unrelated key. */
export async function addDriven(runtime: Runtime, name: string): Promise<Keyed> {
  const workspace = await addWorkspace(runtime, name);
  const rotated = await addKey(workspace, { rotated: true });
  const other = await addKey(workspace, { rotated: false });
  const own = [Number(workspace.context.keyId), rotated.id];
  return { workspace, keys: [workspace.key, rotated.key, other.key], own };
}

/** The name of the subscription that the test pauses. The test also replaces the secrets of this subscription. */
const managedName = 'managed';

/** Creates several subscriptions in a workspace, so one event causes several deliveries. */
export function addSubscriptions(
  { workspace, own }: Keyed,
  index: number,
  receiver: Receiver,
): Promise<Subscription[]> {
  const both: EventType[] = ['ticket.created', 'ticket.updated'];
  const expected = [
    { name: 'all', events: both },
    { name: 'created', events: both.slice(0, 1) },
    { name: 'updated', events: both.slice(1) },
    { name: 'high', events: both, filter: { priority: ['HIGH'] } },
    { name: 'others', events: both, skipOwn: true, own },
    { name: managedName, events: both },
  ];
  return Promise.all(
    expected.map(async ({ name, ...each }) => {
      const named = `${index}-${name}`;
      const subscription = await subscribe(workspace, { ...each, name: named, url: receiver.urlOf(named) });
      receiver.know(subscription);
      return subscription;
    }),
  );
}

/**
 * Kills the processes in random order. Delays the last kill until enough changes are committed. Resolves when all
 * processes run again.
 */
async function killAtRandom(system: System, options: FaultOptions, kills: Kill[]): Promise<void> {
  const { postgres, api, worker, driver } = system;
  const victims: Record<Victim, () => boolean> = { api: api.kill, worker: worker.kill, postgres: postgres.kill };
  const next = victimsInTurn();
  let restarting: Promise<void> | undefined;
  while (kills.length < options.kills) {
    await sleep(Math.random() * 2 * options.betweenKills);
    if (kills.length === options.kills - 1 && driver.changes.committed.size < options.events) continue;
    const victim = next();
    if (!victims[victim]()) continue;
    const kill: Kill = { victim, at: Date.now() };
    kills.push(kill);
    if (victim !== 'postgres') continue;
    // If the kill interrupted a restart of PostgreSQL, this restart is still in progress.
    restarting ??= postgres.start().finally(() => {
      restarting = undefined;
    });
    void restarting.then(
      () => {
        kill.backAt = Date.now();
      },
      () => undefined,
    );
  }
  await restarting;
  await postgres.start();
  await Promise.all([api.ready(), worker.ready()]);
}

/**
 * Returns a function that chooses the next process to kill. In each round, every process is chosen once, in random
 * order.
 */
function victimsInTurn(): () => Victim {
  const round: Victim[] = [];
  return () => {
    if (round.length === 0) round.push('api', 'worker', 'postgres');
    const [victim = 'worker'] = round.splice(Math.floor(Math.random() * round.length), 1);
    return victim;
  };
}

/** Waits until no delivery is pending. Returns the time in milliseconds since 1970, or undefined after the timeout. */
export async function drained(
  { prisma }: Runtime,
  since: number,
  onPending: (pending: number) => void,
): Promise<number | undefined> {
  for (;;) {
    const pending = await prisma.delivery.count({ where: { state: 'PENDING' } });
    if (pending === 0) return Date.now();
    if (Date.now() - since > maxDrainMs) return undefined;
    onPending(pending);
    await sleep(100);
  }
}
