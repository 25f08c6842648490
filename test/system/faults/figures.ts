import type { Actor, Changes as Changed, Ticket } from '@itsm-api/contract';
import type { SystemClient } from '@itsm-api/server/database/client/prisma.ts';
import type { Subscription } from '../../support/subscribed-workspaces.ts';
import type { Changes } from './driver.ts';
import type { Arrival } from './receiver.ts';

/** The processes that the test kills. */
export type Victim = 'api' | 'worker' | 'postgres';

export interface Kill {
  victim: Victim;
  at: number;
  /** When PostgreSQL accepted connections again after the kill. */
  backAt?: number;
}

/** The results of a run of `pnpm faults`. */
export interface Figures {
  kills: Record<Victim, number>;
  timeline: Kill[];
  /** The number of events in the database. */
  events: number;
  /** The number of expected deliveries: one for each event and matching subscription. */
  deliveries: number;
  /** The number of changes that the server rejected or rolled back. */
  undone: number;
  /** The number of changes with a 5xx response or without a response. */
  unknown: number;
  /** The number of created comments. */
  comments: number;
  /**
   * Deliveries that never arrived, acknowledged changes without an event, and acknowledged comments that don't exist or
   * have no event.
   */
  lost: string[];
  /** Tickets and comments that were created more than once, and tickets with more than one created event. */
  createdTwice: string[];
  /** Deliveries of changes that the database doesn't contain, and deliveries to the wrong subscription. */
  falseDeliveries: string[];
  /** Deliveries that are signed with neither the current nor the previous secret of the subscription. */
  unsigned: string[];
  /** The number of deliveries that repeat an already accepted delivery. */
  duplicates: number;
  /** Duplicates that no kill explains, because the worker wasn't killed during the earlier delivery. */
  unexplained: string[];
  /**
   * The time in seconds from the last restart until no delivery was pending. Null if some deliveries stayed pending.
   */
  drainSeconds: number | null;
}

interface Evidence {
  prisma: SystemClient;
  changes: Changes;
  subscriptions: Subscription[];
  arrivals: Arrival[];
  kills: Kill[];
  drainSeconds: number | null;
}

/** Compares the received deliveries with the database and with the responses that the driver got. */
export async function readFigures(evidence: Evidence): Promise<Figures> {
  const { prisma, changes, subscriptions, arrivals, kills, drainSeconds } = evidence;
  const rows = await prisma.event.findMany({ select: { publicId: true, tenantId: true, body: true } });
  const events = rows.map(({ publicId, tenantId, body }) => ({
    publicId,
    tenantId,
    content: JSON.parse(body) as TicketEvent,
  }));
  const expected = new Set(
    events.flatMap((event) =>
      subscriptions
        .filter((subscription) => subscription.tenantId === event.tenantId && takes(subscription, event.content))
        .map(({ name }) => `${name} ${event.publicId}`),
    ),
  );
  const accepted = Map.groupBy(
    arrivals.filter((arrival) => arrival.accepted),
    nameOf,
  );
  const { byTitle, comments } = groupEvents(events.map(({ content }) => content));
  const made = await prisma.comment.groupBy({ by: ['body'], _count: true });
  const bodies = new Set(made.map(({ body }) => body));
  const repeated = [...accepted.values()].flatMap(pairs);

  return {
    kills: {
      api: countOf(kills, 'api'),
      worker: countOf(kills, 'worker'),
      postgres: countOf(kills, 'postgres'),
    },
    timeline: kills,
    events: events.length,
    deliveries: expected.size,
    undone: changes.undone.size,
    unknown: changes.unknown.size,
    comments: made.length,
    lost: [
      ...[...expected].filter((each) => !accepted.has(each)),
      ...[...changes.committed].filter((name) => !byTitle.has(name)),
      ...[...changes.comments].filter((body) => !bodies.has(body)).map((body) => `comment ${body}`),
      ...(await findCommentsWithoutEvent(prisma, comments)),
    ],
    createdTwice: [
      ...[...byTitle].filter(([, types]) => types.length > 1).map(([title, types]) => `${title}: ${types.join(', ')}`),
      ...made.filter(({ _count }) => _count > 1).map(({ body }) => `comment ${body}`),
    ],
    falseDeliveries: arrivals
      .filter((arrival) => !expected.has(nameOf(arrival)) || changes.undone.has(arrival.change))
      .map((arrival) => `${nameOf(arrival)} (${arrival.change})`),
    unsigned: arrivals.filter(({ signed }) => !signed).map(nameOf),
    duplicates: repeated.length,
    unexplained: repeated.filter(([first]) => !wasInFlight(first, kills)).map(describe),
    drainSeconds,
  };
}

/** The body of a webhook request with a ticket event. */
interface TicketEvent {
  type: string;
  actor: Actor;
  ticket: Ticket;
  changes?: Changed;
}

/** Returns true if a subscription matches an event of its workspace (docs/decisions/webhook-subscriptions.md). */
function takes({ events, filter = {}, skipped }: Subscription, { type, actor, ticket, changes }: TicketEvent): boolean {
  const { keyId = null } = actor ?? {};
  const isOwn = keyId !== null && skipped.includes(keyId);
  return (
    (events as string[]).includes(type) &&
    !isOwn &&
    Object.entries(filter).every(([name, values]) =>
      [ticket[name as keyof Ticket], changes?.[name]?.from].some((value) => (values as unknown[]).includes(value)),
    )
  );
}

/** Groups events with a changed comment count by ticket id, and the types of all other events by ticket title. */
function groupEvents(events: TicketEvent[]) {
  const comments = Map.groupBy(
    events.filter(({ changes }) => changes?.commentCount !== undefined),
    ({ ticket }) => ticket.id,
  );
  const others = events.filter(({ changes }) => changes?.commentCount === undefined);
  const byTitle = new Map(
    [...Map.groupBy(others, ({ ticket }) => ticket.title)].map(([title, group]) => [
      title,
      group.map(({ type }) => type),
    ]),
  );
  return { byTitle, comments };
}

/** Returns the tickets that don't have exactly one event per comment. */
async function findCommentsWithoutEvent(prisma: SystemClient, events: Map<number, TicketEvent[]>): Promise<string[]> {
  const made = await prisma.comment.groupBy({ by: ['ticketId'], _count: true });
  return made
    .filter(({ ticketId, _count }) => {
      const counts = events.get(Number(ticketId))?.map(({ changes }) => changes?.commentCount?.to as number) ?? [];
      return counts.length !== _count || new Set(counts).size !== _count || Math.max(...counts) !== _count;
    })
    .map(({ ticketId, _count }) => `the ${_count} comments of ticket ${ticketId}`);
}

const nameOf = ({ subscription, eventId }: Arrival) => `${subscription} ${eventId}`;

/** Formats the figures for a terminal. */
export function formatFigures(figures: Figures): string {
  const { kills, lost, createdTwice, falseDeliveries, unsigned, duplicates, unexplained, drainSeconds } = figures;
  const total = Object.values(kills).reduce((sum, count) => sum + count);
  return `
  ${total} kills (${kills.api} of the API, ${kills.worker} of the worker, ${kills.postgres} of PostgreSQL), ${figures.events} events, ${figures.comments} comments,
  ${figures.unknown} changes with a failed request or no response

  Lost                        ${lost.length}   of ${figures.deliveries} deliveries
  Created twice               ${createdTwice.length}
  False deliveries            ${falseDeliveries.length}   for ${figures.undone} rejected or rolled back changes, or to the wrong subscription
  Not signed                  ${unsigned.length}   with neither the current nor the previous secret
  Duplicates                  ${duplicates}   ${unexplained.length} of them were not in flight at a kill
  Drained                     ${drainSeconds === null ? 'never' : `${drainSeconds.toFixed(1)} s after the last restart`}
${[...lost, ...createdTwice, ...falseDeliveries, ...unsigned, ...unexplained].map((each) => `\n  ${each}`).join('')}`;
}

/** The maximum times for the arrival of a webhook request and for storing its result, in milliseconds. */
const onItsWay = 500;
const beingSettled = 1000;

/**
 * Returns true if a kill may have stopped the worker before it stored the result of an accepted delivery. A kill of
 * PostgreSQL alone doesn't count, because the worker stores the result when PostgreSQL runs again.
 */
function wasInFlight({ at, respondedAt }: Arrival, kills: Kill[]): boolean {
  let settledBy = respondedAt + beingSettled;
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
