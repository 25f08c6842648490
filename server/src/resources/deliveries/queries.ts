import { type EventPayload, EventType, events, Id } from '@itsm-api/contract';
import * as z from 'zod';
import { type Context, transaction } from '../../context.ts';
import type { Prisma } from '../../database/generated/client.ts';
import { rawClient } from '../../database/tenant-client.ts';
import { ApiError, notFound } from '../../errors.ts';
import { DeliveryState } from '../../webhooks/delivery-state.ts';
import { emit } from '../../webhooks/emit.ts';

/** One event on its way to one subscription, as the command line shows it. */
export interface Delivery {
  id: number;
  subscriptionId: number;
  eventId: string;
  event: string;
  state: DeliveryState;
  attempts: number;
  /** When it is tried next; null when it is settled. */
  nextAttemptAt: string | null;
  createdAt: string;
  settledAt: string | null;
}

/** What came of one attempt. */
export interface DeliveryAttempt {
  number: number;
  startedAt: string;
  durationMs: number;
  status: number | null;
  error: string | null;
  /** The beginning of the answer's body. */
  answer: string | null;
}

export interface DeliveryDetail extends Delivery {
  url: string;
  /** What is sent, byte for byte. */
  body: string;
  history: DeliveryAttempt[];
}

/** Which deliveries; without any of these, all. */
export const DeliveryFilter = z.strictObject({
  subscription: Id.optional(),
  /** An event's type, or the id of one event. */
  event: z
    .union([EventType, z.string().startsWith('evt_')], { error: 'must be an event type or the id of an event' })
    .optional(),
  state: DeliveryState.optional(),
});
export type DeliveryFilter = z.output<typeof DeliveryFilter>;

const withEvent = { event: { select: { publicId: true, type: true } } } as const;

/** The newest deliveries that the filter matches, at most `limit`. */
export async function listDeliveries({ db }: Context, filter: DeliveryFilter, limit: number): Promise<Delivery[]> {
  const rows = await db.delivery.findMany({
    where: whereOf(filter),
    include: withEvent,
    orderBy: { id: 'desc' },
    take: limit,
  });
  return rows.map(presentDelivery);
}

/** One delivery with every attempt. @throws ApiError NOT_FOUND */
export async function getDelivery({ db }: Context, id: number): Promise<DeliveryDetail> {
  const row = await db.delivery.findFirst({
    where: { id },
    include: { event: true, subscription: { select: { url: true } }, history: { orderBy: { id: 'asc' } } },
  });
  if (row === null) throw notFound('delivery');
  return {
    ...presentDelivery(row),
    url: row.subscription.url,
    body: row.event.body,
    history: row.history.map(({ number, startedAt, durationMs, status, error, answer }) => {
      return { number, startedAt: startedAt.toISOString(), durationMs, status, error, answer };
    }),
  };
}

/** Which deliveries are to be sent again: one, or all that the filter matches. */
export type ReplayFilter = DeliveryFilter & { id?: number };

/** How many deliveries `replayDeliveries` would send again now. */
export function countReplayable({ db }: Context, filter: ReplayFilter): Promise<number> {
  return db.delivery.count({ where: replayable(filter) });
}

const replayBatch = 1000;

/**
 * Has deliveries sent again at once, with all their attempts before them and the same `webhook-id`, in batches that
 * each commit. What was delivered is sent again only where its id or `DELIVERED` is asked for; what is on its way, or
 * for a subscription that is deactivated, is left alone. Resolves to how many there were.
 */
export async function replayDeliveries(context: Context, filter: ReplayFilter): Promise<number> {
  const where = replayable(filter);
  // What is made meanwhile is sent anyway.
  const newest = await context.db.delivery.findFirst({ where, select: { id: true }, orderBy: { id: 'desc' } });
  let [replayed, after] = [0, 0n];
  while (newest !== null && after < newest.id) {
    const rows = await context.db.delivery.findMany({
      where: { AND: [where, { id: { gt: after, lte: newest.id } }] },
      select: { id: true },
      orderBy: { id: 'asc' },
      take: replayBatch,
    });
    replayed += await replayBatchOf(
      context,
      rows.map(({ id }) => id),
    );
    after = rows.at(-1)?.id ?? newest.id;
  }
  return replayed;
}

/** Has these sent again, but for those that are being sent or settled just now. */
function replayBatchOf(context: Context, ids: bigint[]): Promise<number> {
  return transaction(context, async ({ db, dispatchJobs, afterCommit, wakeWorkers }) => {
    const tenantId = db.$tenantId;
    const rows = await rawClient(db).$queryRaw<{ subscriptionId: bigint }[]>`
      UPDATE deliveries SET state = 'PENDING', attempts = 0, next_attempt_at = now(), settled_at = NULL
      WHERE tenant_id = ${tenantId} AND id = ANY (ARRAY(
        SELECT id FROM deliveries WHERE tenant_id = ${tenantId} AND id = ANY (${ids}::bigint[]) AND claim IS NULL
        FOR NO KEY UPDATE SKIP LOCKED))
      RETURNING subscription_id AS "subscriptionId"`;
    const subscriptions = [...new Set(rows.map(({ subscriptionId }) => subscriptionId))];
    if (subscriptions.length === 0) return 0;
    await dispatchJobs.addWithin(
      db,
      subscriptions.map((subscriptionId) => ({ tenantId, subscriptionId })),
    );
    afterCommit(wakeWorkers);
    return rows.length;
  });
}

function replayable({ id, ...filter }: ReplayFilter): Prisma.DeliveryWhereInput {
  return {
    AND: [
      whereOf(filter),
      id !== undefined ? { id } : filter.state === undefined ? { state: { not: 'DELIVERED' } } : {},
      // What is on its way is not sent beside itself.
      { subscription: { active: true }, claim: null },
    ],
  };
}

/**
 * Sends a subscription an event made of the contract's example: of the type given, else the first that it wants.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR when it doesn't want that type
 */
export function sendTestEvent(context: Context, subscriptionId: number, type?: EventType): Promise<Delivery> {
  return transaction(context, async (context) => {
    const { db } = context;
    const subscription = await db.webhookSubscription.findFirst({ where: { id: subscriptionId, active: true } });
    if (subscription === null) throw notFound('webhook subscription');
    const wanted = type ?? EventType.parse(subscription.events[0]);
    if (!subscription.events.includes(wanted)) {
      throw new ApiError(
        'VALIDATION_ERROR',
        `The subscription wants ${subscription.events.join(', ')}, not ${wanted}.`,
      );
    }
    const { payload, changes } = events[wanted];
    await emit(context, wanted, {
      payload: payload.meta()?.example as EventPayload<typeof wanted>,
      ...(changes && { changes: {} }),
      onlyTo: subscription.id,
    });
    const row = await db.delivery.findFirst({ where: { subscriptionId }, include: withEvent, orderBy: { id: 'desc' } });
    if (row === null) throw notFound('delivery');
    return presentDelivery(row);
  });
}

function whereOf({ subscription, event, state }: DeliveryFilter): Prisma.DeliveryWhereInput {
  return {
    ...(subscription !== undefined && { subscriptionId: subscription }),
    ...(event !== undefined && { event: event.startsWith('evt_') ? { publicId: event } : { type: event } }),
    ...(state !== undefined && { state }),
  };
}

type DeliveryRow = Prisma.DeliveryGetPayload<{ include: typeof withEvent }>;

function presentDelivery(row: DeliveryRow): Delivery {
  return {
    id: Number(row.id),
    subscriptionId: Number(row.subscriptionId),
    eventId: row.event.publicId,
    event: row.event.type,
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt: row.state === 'PENDING' ? row.nextAttemptAt.toISOString() : null,
    createdAt: row.createdAt.toISOString(),
    settledAt: row.settledAt?.toISOString() ?? null,
  };
}
