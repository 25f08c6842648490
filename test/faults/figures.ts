import type { PrismaClient } from '@itsm-api/server/database/prisma.ts';
import type { Changes } from './driver.ts';
import type { Arrival } from './receiver.ts';
import type { Subscription } from './workspaces.ts';

/** What is killed. */
export type Victim = 'api' | 'worker' | 'postgres';

export interface Kill {
  victim: Victim;
  at: number;
  /** When PostgreSQL was there again. */
  backAt?: number;
}

/** What a run has shown. */
export interface Figures {
  kills: Record<Victim, number>;
  timeline: Kill[];
  /** Committed changes that were told of. */
  events: number;
  /** What should arrive: each event at each subscription that wants it. */
  deliveries: number;
  /** Changes that were refused or rolled back. */
  undone: number;
  /** Requests answered 5xx or not at all. */
  unknown: number;
  /** Of the deliveries, those that never arrived; and changes that were answered 2xx and have no event. */
  lost: string[];
  /** Arrivals that tell of what was undone, or of what the database doesn't know. */
  sentForUndone: string[];
  /** Arrivals of what had been accepted before. */
  duplicates: number;
  /** Of the duplicates, those where the one before was not in flight when the worker was killed. */
  unexplained: string[];
  /** From the moment when all was running again to the moment when nothing was pending; null when it never was. */
  drainSeconds: number | null;
}

interface Evidence {
  prisma: PrismaClient;
  changes: Changes;
  subscriptions: Subscription[];
  arrivals: Arrival[];
  kills: Kill[];
  drainSeconds: number | null;
}

/** Compares what arrived with what the database holds and with what the driver was answered. */
export async function readFigures(evidence: Evidence): Promise<Figures> {
  const { prisma, changes, subscriptions, arrivals, kills, drainSeconds } = evidence;
  const events = await prisma.event.findMany({ select: { publicId: true, tenantId: true, type: true, body: true } });
  const wanted = events.flatMap((event) =>
    subscriptions
      .filter(({ tenantId, events }) => tenantId === event.tenantId && (events as string[]).includes(event.type))
      .map(({ name }) => `${name} ${event.publicId}`),
  );
  const accepted = Map.groupBy(
    arrivals.filter((arrival) => arrival.accepted),
    ({ subscription, eventId }) => `${subscription} ${eventId}`,
  );
  const told = new Set(events.map(({ body }) => JSON.parse(body).ticket.title as string));
  const known = new Set(events.map(({ publicId }) => publicId));
  const repeated = [...accepted.values()].flatMap(pairs);

  return {
    kills: {
      api: countOf(kills, 'api'),
      worker: countOf(kills, 'worker'),
      postgres: countOf(kills, 'postgres'),
    },
    timeline: kills,
    events: events.length,
    deliveries: wanted.length,
    undone: changes.undone.size,
    unknown: changes.unknown.size,
    lost: [
      ...wanted.filter((each) => !accepted.has(each)),
      ...[...changes.committed].filter((name) => !told.has(name)),
    ],
    sentForUndone: arrivals
      .filter(({ eventId, change }) => !known.has(eventId) || changes.undone.has(change))
      .map(({ subscription, eventId, change }) => `${subscription} ${eventId} (${change})`),
    duplicates: repeated.length,
    unexplained: repeated.filter(([first]) => !wasInFlight(first, kills)).map(describe),
    drainSeconds,
  };
}

/** The figures as a person reads them. */
export function formatFigures(figures: Figures): string {
  const { kills, lost, sentForUndone, duplicates, unexplained, drainSeconds } = figures;
  const total = Object.values(kills).reduce((sum, count) => sum + count);
  return `
  ${total} kills (${kills.api} of the API, ${kills.worker} of the worker, ${kills.postgres} of PostgreSQL), ${figures.events} events,
  ${figures.unknown} requests that failed or were not answered

  Lost                        ${lost.length}   of ${figures.deliveries} deliveries
  Sent for undone changes     ${sentForUndone.length}   of ${figures.undone} changes refused or rolled back
  Duplicates                  ${duplicates}   ${unexplained.length} of them of what was not in flight at a kill
  Drained                     ${drainSeconds === null ? 'never' : `${drainSeconds.toFixed(1)} s after the last restart`}
${[...lost, ...sentForUndone, ...unexplained].map((each) => `\n  ${each}`).join('')}`;
}

/** Times that the request may spend on its way before it is here, and its result on its way into the database. */
const onItsWay = 500;
const beingSettled = 1000;

/**
 * Whether an accepted delivery can have been unsettled when the worker was killed. A kill of PostgreSQL alone is no
 * excuse, as the worker still knows what came of it; but it can't be settled before PostgreSQL is back.
 */
function wasInFlight({ at, answeredAt }: Arrival, kills: Kill[]): boolean {
  let settledBy = answeredAt + beingSettled;
  for (const { at: downAt, backAt } of kills) {
    if (backAt !== undefined && downAt <= settledBy && backAt >= at) settledBy = backAt + beingSettled;
  }
  return kills.some((kill) => kill.victim === 'worker' && kill.at >= at - onItsWay && kill.at <= settledBy);
}

function pairs(arrivals: Arrival[]): [Arrival, Arrival][] {
  return arrivals.slice(1).map((second, index) => [arrivals[index] as Arrival, second]);
}

function describe([first, second]: [Arrival, Arrival]): string {
  const apart = ((second.at - first.at) / 1000).toFixed(2);
  const began = new Date(first.at).toISOString();
  return `${first.subscription} ${first.eventId}: attempt ${first.attempt} at ${began}, ${second.attempt} ${apart} s later`;
}

function countOf(kills: Kill[], victim: Victim): number {
  return kills.filter((kill) => kill.victim === victim).length;
}
