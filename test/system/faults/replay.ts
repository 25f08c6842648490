import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix, type WebhookReplay } from '@itsm-api/contract';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import pg from 'pg';
import { loadDeliveries } from '../../../evaluation/bench/load.ts';
import { openInstallation } from '../../support/installation.ts';
import { rawClient } from '../../support/raw-client.ts';
import { type Supervised, supervise } from '../../support/server-process.ts';
import { addWorkspace, type Subscription, subscribe, type Workspace } from '../../support/subscribed-workspaces.ts';
import { openReceiver } from './receiver.ts';

export interface ReplayOptions {
  /** The number of deliveries to replay. */
  deliveries: number;
  /** The minimum number of kills. Each kill ends one of two workers. */
  kills: number;
  /** The average time from the start of both workers to the next kill, in milliseconds. */
  betweenKills: number;
  onProgress?: (text: string) => void;
}

export interface ReplayReport {
  deliveries: number;
  kills: number;
  /** The number of kills while a replay was in progress. */
  killsWhileReplaying: number;
  /** The ids of events that a replay included but that the receiver didn't receive. */
  lost: string[];
  /** The ids of events that the receiver received although no replay included the events. */
  notRequested: string[];
  /**
   * The number of deliveries that have a status other than DELIVERED at the end, by status. Also contains the number of
   * unfinished replays.
   */
  unsettled: Record<string, number>;
  /**
   * The number of duplicate deliveries. If a worker is killed during an attempt, another worker repeats the delivery.
   */
  duplicates: number;
  /** The time in seconds from the replay request until no delivery was pending. */
  seconds: number;
  crashes: string[];
}

const workerCount = 2;
/** The maximum time from the last kill to the end of the replays, in milliseconds. */
const maxEndMs = 600_000;

type States = NonNullable<WebhookReplay['states']>;

/** The delivery statuses to replay. Each of the two concurrent replays selects different statuses. */
const replayedStates: States[] = [['EXHAUSTED'], ['DELIVERED', 'CANCELLED']];

/**
 * Replays completed deliveries with `POST /webhooks/{id}/replay`, and kills the workers at random times. Reports lost
 * deliveries, deliveries that no replay included, and deliveries that stay pending.
 */
export async function runReplay(options: ReplayOptions): Promise<ReplayReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { postgres, runtime, apiUrl, env } = await openInstallation(stops);
    const receiver = await openReceiver({ failing: 0, slowest: 10 });
    stops.push(receiver.close);
    const workspace = await addWorkspace(runtime, 'Replaying');
    const subscription = await subscribe(workspace, {
      name: 'again',
      url: receiver.urlOf('again'),
      events: ['ticket.created'],
    });
    const since = await load(postgres.url, subscription, options.deliveries);
    const api = supervise({ ...env, LOG_LEVEL: 'fatal', ROLES: 'api' });
    stops.push(api.stop);
    const workers = Array.from({ length: workerCount }, () =>
      supervise({ ...env, LOG_LEVEL: 'fatal', ROLES: 'worker' }),
    );
    const stopWorkers = () => Promise.all(workers.map(({ stop }) => stop()));
    stops.push(stopWorkers);
    await Promise.all([api, ...workers].map(({ ready }) => ready()));

    const began = Date.now();
    for (const states of replayedStates) await requestReplay(apiUrl, { workspace, subscription, since, states });
    const { kills, whileReplaying } = await killWorkers(runtime, workers, options);
    await endLeases(runtime, workers);
    await Promise.all(workers.map(({ ready }) => ready()));
    await settled(runtime);
    const seconds = (Date.now() - began) / 1000;
    await stopWorkers();

    const { arrivals } = receiver;
    const arrived = new Set(arrivals.map(({ eventId }) => eventId));
    return {
      deliveries: options.deliveries,
      kills: kills + workerCount,
      killsWhileReplaying: whileReplaying,
      ...(await compare(runtime, since, arrived)),
      duplicates: arrivals.length - arrived.size,
      seconds,
      crashes: [api, ...workers].flatMap(({ crashes }) => crashes),
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/**
 * Inserts deliveries for the replay, and a tenth as many older deliveries that the replay excludes. Returns a time
 * between the older and the newer deliveries.
 */
async function load(url: string, subscription: Subscription, count: number): Promise<Date> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await loadDeliveries(url, [subscription], count + Math.ceil(count / 10));
    // Neighboring deliveries get different statuses.
    const { rows } = await client.query<{ since: Date }>(
      `WITH placed AS (SELECT id, row_number() OVER (ORDER BY id) - 1 - $1::int AS place FROM deliveries),
        settled AS (
          UPDATE deliveries d SET settled_at = now() - interval '1 minute', attempts = 10,
            state = (ARRAY['EXHAUSTED', 'DELIVERED', 'EXHAUSTED', 'CANCELLED'])[abs(place) % 4 + 1],
            created_at = now() - CASE WHEN place < 0 THEN interval '3 hours' ELSE interval '1 hour' END
          FROM placed WHERE d.id = placed.id)
       SELECT now() - interval '2 hours' AS since`,
      [Math.ceil(count / 10)],
    );
    return rows[0]?.since as Date;
  } finally {
    await client.end();
  }
}

interface ProbedRequest {
  workspace: Workspace;
  subscription: Subscription;
  since: Date;
  states: States;
}

async function requestReplay(apiUrl: string, { workspace, subscription, since, states }: ProbedRequest): Promise<void> {
  const response = await fetch(`${apiUrl}${pathPrefix}/webhooks/${subscription.id}/replay`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ since, states }),
  });
  if (response.status !== 200)
    throw new Error(`The replay request returned ${response.status}: ${await response.text()}`);
}

/**
 * Repeatedly kills one worker or all workers while deliveries or replays are pending. The first kill occurs after the
 * first batch of a replay, because a fast machine completes the replays before a random time. Stops after the required
 * number of kills.
 */
async function killWorkers(runtime: Runtime, workers: Supervised[], options: ReplayOptions) {
  let kills = 0;
  let whileReplaying = 0;
  while (kills < options.kills) {
    await (kills === 0 ? firstBatch(runtime) : sleep(Math.random() * 2 * options.betweenKills));
    const { replays, pending } = await readLeft(runtime);
    if (replays + pending === 0) break;
    options.onProgress?.(`${kills} kills, ${replays} replays in progress, ${pending} deliveries pending`);
    const victims = kills % (workers.length + 1) === 0 ? workers.slice(0, 1) : workers;
    for (const worker of victims) worker.kill();
    kills += victims.length;
    if (replays > 0) whileReplaying += victims.length;
    await Promise.all(workers.map(({ ready }) => ready()));
  }
  return { kills, whileReplaying };
}

/**
 * Kills all workers. Makes their claimed deliveries due immediately, because the test would otherwise wait half a
 * minute for the leases to expire.
 */
async function endLeases({ prisma }: Runtime, workers: Supervised[]): Promise<void> {
  for (const worker of workers) worker.kill();
  await rawClient(prisma).$executeRaw`UPDATE deliveries SET next_attempt_at = now() WHERE claim IS NOT NULL`;
}

/** Waits until a worker has processed a batch of a replay. */
async function firstBatch({ prisma }: Runtime): Promise<void> {
  while ((await prisma.webhookReplay.count({ where: { sent: { gt: 0 } } })) === 0) await sleep(5);
}

async function readLeft({ prisma }: Runtime): Promise<{ replays: number; pending: number }> {
  const replays = await prisma.webhookReplay.count({ where: { finishedAt: null } });
  return { replays, pending: await prisma.delivery.count({ where: { state: 'PENDING' } }) };
}

/** Waits until no delivery and no replay is pending. Queries a single delivery, because a count would be slow. */
async function settled({ prisma }: Runtime): Promise<void> {
  for (const end = Date.now() + maxEndMs; Date.now() < end; await sleep(200)) {
    const pending = await prisma.delivery.findFirst({ where: { state: 'PENDING' }, select: { id: true } });
    if (pending === null && (await prisma.webhookReplay.count({ where: { finishedAt: null } })) === 0) return;
  }
}

async function compare({ prisma }: Runtime, since: Date, arrived: Set<string>) {
  const where = { createdAt: { gte: since } };
  const deliveries = await rawClient(prisma).$queryRaw<{ eventId: string }[]>`
    SELECT e.public_id AS "eventId" FROM deliveries d JOIN events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id
    WHERE d.created_at >= ${since}`;
  const requestedIds = new Set(deliveries.map(({ eventId }) => eventId));
  const states = await prisma.delivery.groupBy({ by: ['state'], where, _count: true });
  const unsettled = Object.fromEntries(
    states.filter(({ state }) => state !== 'DELIVERED').map(({ state, _count }) => [state, _count]),
  );
  const replays = await prisma.webhookReplay.count({ where: { finishedAt: null } });
  return {
    lost: [...requestedIds].filter((id) => !arrived.has(id)),
    notRequested: [...arrived].filter((id) => !requestedIds.has(id)),
    unsettled: { ...unsettled, ...(replays > 0 && { replays }) },
  };
}

/** Returns true if exactly the requested deliveries were replayed and all of them are delivered. */
export function isReplayed({ lost, notRequested, unsettled, crashes }: ReplayReport): boolean {
  return [lost, notRequested, Object.keys(unsettled), crashes].flat().length === 0;
}

/** Formats the figures for a terminal. */
export function formatReplay(report: ReplayReport): string {
  const { lost, notRequested, unsettled, duplicates } = report;
  return `
  ${report.deliveries} deliveries to replay, ${report.kills} kills of workers, ${report.killsWhileReplaying} of them before all deliveries were due

  Lost                        ${lost.length}
  Not requested               ${notRequested.length}
  Not delivered at the end    ${JSON.stringify(unsettled)}
  Duplicates                  ${duplicates}
  All delivered after         ${report.seconds.toFixed(1)} s
${[...lost, ...notRequested].map((each) => `\n  ${each}`).join('')}`;
}
