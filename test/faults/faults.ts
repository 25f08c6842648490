import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '@itsm-api/server/runtime.ts';
import { type Driver, startDriver } from './driver.ts';
import { type Figures, type Kill, readFigures, type Victim } from './figures.ts';
import { openGround } from './ground.ts';
import type { Postgres } from './postgres.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { type Supervised, supervise } from './server.ts';
import { addWorkspace, type Subscription, subscribe, type Workspace } from './workspaces.ts';

export interface FaultOptions {
  kills: number;
  /** Committed changes at least. */
  events: number;
  /** Between two kills, in milliseconds: on average; each may come at once, or after twice the time. */
  betweenKills: number;
  onProgress?: (progress: Progress) => void;
}

export interface Progress {
  kills: number;
  committed: number;
  arrivals: number;
  /** Told when nothing is killed any more. */
  pending: number | undefined;
}

export interface FaultReport extends Figures {
  /** Last words of server processes that ended without having been killed. */
  crashes: string[];
}

/** What is killed and watched. */
interface System {
  postgres: Postgres;
  api: Supervised;
  worker: Supervised;
  runtime: Runtime;
  receiver: Receiver;
  driver: Driver;
  subscriptions: Subscription[];
}

const drainPatience = 150_000;

/**
 * Has tickets created and changed while API, worker and PostgreSQL are killed at random moments, waits until
 * everything is delivered, and tells what was lost, made up or repeated.
 */
export async function runFaults(options: FaultOptions): Promise<FaultReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const system = await startSystem(options, stops);
    const { api, worker, runtime, receiver, driver, subscriptions } = system;
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
    await driver.stop();
    const drainedAt = await drained(runtime, restartedAt, tell);
    const drainSeconds = drainedAt === undefined ? null : (drainedAt - restartedAt) / 1000;
    const figures = await readFigures({ prisma, changes, subscriptions, arrivals, kills, drainSeconds });
    return { ...figures, crashes: [...api.crashes, ...worker.crashes] };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startSystem(options: FaultOptions, stops: (() => Promise<unknown>)[]): Promise<System> {
  const { postgres, runtime, apiUrl, env } = await openGround(stops);
  const receiver = await openReceiver({ failing: 0.02, slowest: 500 });
  stops.push(receiver.close);
  const workspaces = [await addWorkspace(runtime, 'First'), await addWorkspace(runtime, 'Second')];
  const subscriptions = await addSubscriptions(workspaces, receiver);

  const api = supervise({ ...env, LOG_LEVEL: 'fatal', ROLES: 'api' });
  const worker = supervise({ ...env, LOG_LEVEL: 'fatal', ROLES: 'worker' });
  stops.push(() => Promise.all([api.stop(), worker.stop()]));
  await Promise.all([api.ready(), worker.ready()]);

  const perSecond = (options.events / ((options.kills * options.betweenKills) / 1000)) * spare;
  const driver = startDriver({ apiUrl, workspaces, perSecond });
  stops.push(driver.stop);
  return { postgres, api, worker, runtime, receiver, driver, subscriptions };
}

/** So many more changes are begun than must be committed, since a good part of them meets something that is down. */
const spare = 1.8;

/** Three subscriptions in each workspace, so that one event has several deliveries. */
async function addSubscriptions(workspaces: Workspace[], receiver: Receiver): Promise<Subscription[]> {
  const subscriptions: Subscription[] = [];
  for (const [index, workspace] of workspaces.entries()) {
    for (const events of [['ticket.created', 'ticket.updated'], ['ticket.created'], ['ticket.updated']] as const) {
      const name = `${index}-${events.map((event) => event.slice('ticket.'.length)).join('-')}`;
      subscriptions.push(await subscribe(workspace, { name, url: receiver.urlOf(name), events: [...events] }));
    }
  }
  return subscriptions;
}

/**
 * Kills one after the other, whatever state they are in, the last one when enough changes have been committed; resolves
 * when all are running again.
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
    // Killed while it starts, it is being started again already.
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

/** Every victim once, in random order, and again. */
function victimsInTurn(): () => Victim {
  const round: Victim[] = [];
  return () => {
    if (round.length === 0) round.push('api', 'worker', 'postgres');
    const [victim = 'worker'] = round.splice(Math.floor(Math.random() * round.length), 1);
    return victim;
  };
}

/** Waits until nothing is pending; resolves to when that was, or to undefined when patience ended before. */
async function drained(
  { prisma }: Runtime,
  since: number,
  onPending: (pending: number) => void,
): Promise<number | undefined> {
  for (;;) {
    const pending = await prisma.delivery.count({ where: { state: 'PENDING' } });
    if (pending === 0) return Date.now();
    if (Date.now() - since > drainPatience) return undefined;
    onPending(pending);
    await sleep(100);
  }
}
