import {
  type Delivery,
  type DeliveryDetail,
  type DeliveryQuery,
  DeliveryState,
  type EventPayload,
  EventType,
  events,
  Id,
  maxShownAttempts,
} from '@itsm-api/contract';
import * as z from 'zod';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockRow } from '../../database/row-lock.ts';
import { ApiError, deactivatedSubscription, notFound, requireRow } from '../../shared/errors.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import { requestHeaders } from '../../webhooks/delivery/attempt.ts';
import { halfOpen, moveToFront } from '../../webhooks/delivery/circuit-breaker.ts';
import { sendAgain } from '../../webhooks/maintenance/replay.ts';
import { emit, newEventId } from '../../webhooks/outbox/emit.ts';
import { type Context, readTransaction, transaction } from '../shared/context.ts';
import { maxCounted, type Page, pageMeta } from '../shared/lists.ts';
import { countDeliveries, selectDeliveries, selectPage } from './sql.ts';

/** The schema for a delivery filter. An empty filter matches all deliveries of the tenant. */
export const DeliveryFilter = z.strictObject({
  subscription: Id.optional(),
  /** An event type, or the public id of one event (`evt_…`). */
  event: z
    .union([EventType, z.string().regex(/^evt_\w{1,100}$/)], { error: 'must be an event type or an event id' })
    .optional(),
  state: DeliveryState.optional(),
  /** Selects deliveries that were created at or after this time. */
  since: z.date().optional(),
  /** Selects deliveries that were created before this time. */
  until: z.date().optional(),
});
export type DeliveryFilter = z.output<typeof DeliveryFilter>;

const withEvent = { event: { select: { publicId: true, type: true } } } as const;

/**
 * Returns a page of a subscription's deliveries, newest first.
 * @throws ApiError NOT_FOUND if the subscription doesn't exist
 */
export async function listDeliveries(
  { db }: Context,
  subscriptionId: number,
  query: DeliveryQuery,
): Promise<Page<Delivery>> {
  if ((await db.webhookSubscription.count({ where: { id: subscriptionId } })) === 0) {
    throw notFound('webhook subscription');
  }
  const of = { subscriptionId, states: query.state };
  const counted = await countDeliveries(db, { ...of, limit: maxCounted + 1 });
  const totalCount = Math.min(counted, maxCounted);
  const { page, perPage } = query;
  const skip = (page - 1) * perPage;
  const take = Math.min(perPage, totalCount - skip);
  const ids = take > 0 ? await selectPage(db, { ...of, skip, take }) : [];
  const isCapped = counted > maxCounted;
  return { data: await byIds(db, ids, query.state), meta: pageMeta(query, { totalCount, isCapped }) };
}

/** Selects which of the matching deliveries to return. */
interface Extent {
  /** The number of matching deliveries to skip. */
  skip?: number;
  take: number;
  /** Limits the result to deliveries of subscriptions that were created with one of this user's API keys. */
  madeBy?: bigint | undefined;
}

/**
 * Returns a range of the deliveries that match the filter, newest first, and whether more deliveries match. Doesn't
 * count the matching deliveries.
 */
export async function findDeliveries(
  { db }: Context,
  { event, ...filter }: DeliveryFilter,
  { skip = 0, take, madeBy }: Extent,
): Promise<{ data: Delivery[]; hasMore: boolean }> {
  const of = event?.startsWith('evt_') ? { eventId: event } : { event };
  const ids = await selectDeliveries(db, { ...filter, ...of, madeBy }, { skip, take: take + 1 });
  const data = await byIds(db, ids.slice(0, take), filter.state && [filter.state]);
  return { data, hasMore: ids.length > take };
}

/**
 * Reads deliveries by id, newest first. Omits a delivery if its status has changed since the ids were read, or if only
 * a later release supports its event type (docs/decisions/schema-migrations.md).
 */
async function byIds(
  db: TenantClient,
  ids: readonly (bigint | number)[],
  states: readonly DeliveryState[] | undefined,
): Promise<Delivery[]> {
  if (ids.length === 0) return [];
  const where = { id: { in: ids.map(BigInt) }, ...(states && { state: { in: [...states] } }) };
  const rows = await db.delivery.findMany({ where, include: withEvent, orderBy: { id: 'desc' } });
  return rows.filter(isKnown).map(presentDelivery);
}

/** The columns of a delivery attempt, except those that the database role for requests can't read. */
const attemptColumns = {
  number: true,
  startedAt: true,
  durationMs: true,
  status: true,
  error: true,
  publicAnswer: true,
} as const;

interface DetailOptions {
  /** Whether to include response bodies that may contain data from a private network. Only operators may see them. */
  allAnswers?: boolean;
  /** Limits the result to deliveries of subscriptions that were created with one of this user's API keys. */
  madeBy?: bigint | undefined;
}

/** Returns a delivery with its newest attempts. @throws ApiError NOT_FOUND */
export async function getDelivery(
  context: Context,
  id: number,
  { allAnswers = false, madeBy }: DetailOptions = {},
): Promise<DeliveryDetail & { url: string }> {
  const query = {
    where: { id, ...(madeBy !== undefined && { subscription: { key: { userId: madeBy } } }) },
    include: {
      event: true,
      subscription: { select: { url: true } },
      history: {
        select: { ...attemptColumns, ...(allAnswers && { answer: true }) },
        orderBy: { id: 'desc' },
        take: maxShownAttempts,
      },
    },
  } as const;
  // Prisma queries relations concurrently. The transaction makes these queries share one database connection.
  const row = await readTransaction(context, (db) => db.delivery.findFirst(query));
  if (row === null || !isKnown(row)) throw notFound('delivery');
  return {
    ...presentDelivery(row),
    url: row.subscription.url,
    body: row.event.body,
    attempts: row.history.reverse().map(({ startedAt, publicAnswer, answer = null, ...attempt }) => ({
      ...attempt,
      startedAt: serializeTimestamp(startedAt),
      answer: publicAnswer ?? answer,
    })),
  };
}

/** Counts all attempts to send a delivery, including attempts before a replay. */
export function countAttempts({ db }: Context, deliveryId: number): Promise<number> {
  return db.deliveryAttempt.count({ where: { deliveryId } });
}

/**
 * Returns the request headers of the last delivery attempt. If there was no attempt yet, returns the headers for a
 * first attempt. The signature uses the current secrets.
 * @throws ApiError NOT_FOUND if the subscription doesn't exist
 */
export async function headersOf(
  { db, secretCipher, now, publicUrl }: Context,
  { id, webhookId, eventId, event, body, attempts, createdAt }: DeliveryDetail,
): Promise<Record<string, string>> {
  const row = requireRow(await db.webhookSubscription.findFirst({ where: { id: webhookId } }), 'webhook subscription');
  const owner = { tenantId: db.$tenantId, subscriptionId: row.id };
  const { secret, previousSecret, previousSecretUntil } = row;
  const isValid = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now();
  const secrets = {
    secret: secretCipher.decrypt(secret, owner),
    previous: isValid ? [secretCipher.decrypt(previousSecret, owner)] : [],
  };
  const last = attempts.at(-1) ?? { number: 1, startedAt: createdAt };
  const fields = { id, attempt: last.number, body, eventId, eventType: event };
  return requestHeaders(fields, secrets, new Date(last.startedAt), publicUrl);
}

/**
 * Queues a delivery with any status, so that a worker sends it again immediately. If a worker is already sending it,
 * changes nothing.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the delivery's subscription is deactivated
 */
export async function replayDelivery(context: Context, id: number): Promise<Delivery> {
  const query = { where: { id }, include: { ...withEvent, subscription: true } } as const;
  const find = () => transaction(context, ({ db }) => db.delivery.findFirst(query));
  const before = await find();
  if (before === null || !isKnown(before)) throw notFound('delivery');
  if (!before.subscription.active) {
    throw new ApiError(
      'VALIDATION_ERROR',
      'The subscription of this delivery is deactivated. Reactivate it in the developer area or on the command line, then retry.',
    );
  }
  await replayIds(context, [before.id]);
  return presentDelivery((await find()) ?? before);
}

/** Selects the deliveries to replay. If `id` is set, only the delivery with this id can match. */
export type ReplayFilter = DeliveryFilter & { id?: number };

/** Counts the deliveries that `replayDeliveries` would queue. */
export function countReplayable({ db }: Context, filter: ReplayFilter): Promise<number> {
  return db.delivery.count({ where: replayable(filter) });
}

const replayBatchSize = 1000;

/**
 * Queues deliveries to be sent again. The `webhook-id` of a delivery doesn't change, and its retries start over. By
 * default, excludes `DELIVERED` deliveries. To include them, filter by `id` or by this status. Skips deliveries that a
 * worker is sending, and deliveries for deactivated subscriptions. Commits each batch separately. Resolves to the
 * number of queued deliveries.
 */
export async function replayDeliveries(context: Context, filter: ReplayFilter): Promise<number> {
  const where = replayable(filter);
  // Excludes deliveries that are created after this query, because the workers send them anyway.
  const newest = await context.db.delivery.findFirst({ where, select: { id: true }, orderBy: { id: 'desc' } });
  let [replayed, after] = [0, 0n];
  while (newest !== null && after < newest.id) {
    const rows = await context.db.delivery.findMany({
      where: { AND: [where, { id: { gt: after, lte: newest.id } }] },
      select: { id: true },
      orderBy: { id: 'asc' },
      take: replayBatchSize,
    });
    replayed += await replayIds(
      context,
      rows.map(({ id }) => id),
    );
    after = rows.at(-1)?.id ?? newest.id;
  }
  return replayed;
}

/**
 * Resets deliveries to PENDING, except those that a worker is sending. If the circuit of a subscription is open, the
 * circuit becomes half-open. If `ids` contains only one id, the delivery with this id becomes the probe. Resolves to
 * the number of reset deliveries.
 */
function replayIds(context: Context, ids: bigint[]): Promise<number> {
  return transaction(context, async ({ db, dispatchJobs, afterCommit, wakeWorkers }) => {
    const tenantId = db.$tenantId;
    const rows = await sendAgain(db, { ids });
    const subscriptions = [...new Set(rows.map(({ subscriptionId }) => subscriptionId))];
    if (subscriptions.length === 0) return 0;
    const [id] = ids;
    const hasProbe = await halfOpen(db, subscriptions);
    if (hasProbe && id !== undefined && ids.length === 1) await moveToFront(db, id);
    await dispatchJobs.addWithin(subscriptions.map((subscriptionId) => ({ tenantId, subscriptionId })));
    afterCommit(wakeWorkers);
    return rows.length;
  });
}

/**
 * All statuses except DELIVERED. PostgreSQL can use the status index for a list of statuses, but not for `<>
 * 'DELIVERED'`.
 */
const notDelivered = DeliveryState.options.filter((state) => state !== 'DELIVERED');

function replayable({ id, ...filter }: ReplayFilter): Prisma.DeliveryWhereInput {
  return {
    AND: [
      toWhere(filter),
      id !== undefined ? { id } : filter.state === undefined ? { state: { in: notDelivered } } : {},
      // Excludes claimed deliveries, because a worker is already sending them.
      { subscription: { active: true }, claim: null },
    ],
  };
}

/**
 * Queues a test event for a subscription. The payload is the example in the contract. If the subscription's circuit is
 * open, the circuit becomes half-open, and the test event becomes the probe.
 * @param type the event type; default: the subscription's first event type
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the subscription doesn't have the event type
 */
export function sendTestEvent(context: Context, subscriptionId: number, type?: EventType): Promise<Delivery> {
  return transaction(context, async (context) => {
    const { db } = context;
    // Locks the subscription, so that its event types can't change before the event is written.
    const subscription = (await lockRow(db, 'webhook_subscriptions', subscriptionId))
      ? await db.webhookSubscription.findFirst({ where: { id: subscriptionId } })
      : null;
    if (subscription === null) throw notFound('webhook subscription');
    if (!subscription.active) throw deactivatedSubscription();
    const eventType = type ?? EventType.options.find((each) => each === subscription.events[0]);
    if (eventType === undefined || !subscription.events.includes(eventType)) {
      throw new ApiError(
        'VALIDATION_ERROR',
        eventType === undefined
          ? `This version of the server does not support ${subscription.events[0]}. Change the \`events\` of the subscription.`
          : `The subscription does not include ${eventType}. Choose one of its event types: ${subscription.events.join(', ')}.`,
      );
    }
    const { payload, changes } = events[eventType];
    const publicId = newEventId('evt_test_');
    await emit(context, eventType, {
      publicId,
      timestamp: context.now().toISOString(),
      payload: payload.meta()?.example as EventPayload<typeof eventType>,
      ...(changes && { changes: {} }),
      onlyTo: subscription.id,
    });
    const where = { subscriptionId, event: { publicId } };
    const { id } = await db.delivery.findFirstOrThrow({ where });
    if (await halfOpen(db, [subscription.id])) await moveToFront(db, id);
    return presentDelivery(await db.delivery.findFirstOrThrow({ where, include: withEvent }));
  });
}

function toWhere({ subscription, event, state, since, until }: DeliveryFilter): Prisma.DeliveryWhereInput {
  return {
    ...(subscription !== undefined && { subscriptionId: subscription }),
    ...(event !== undefined && { event: event.startsWith('evt_') ? { publicId: event } : { type: event } }),
    ...(state !== undefined && { state }),
    createdAt: { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lt: until }) },
  };
}

type DeliveryRow = Prisma.DeliveryGetPayload<{ include: typeof withEvent }>;

function isKnown({ event }: Pick<DeliveryRow, 'event'>): boolean {
  return EventType.options.some((type) => type === event.type);
}

/** Serializes a delivery for API responses. */
function presentDelivery(row: DeliveryRow): Delivery {
  return {
    id: serializeId(row.id),
    webhookId: serializeId(row.subscriptionId),
    eventId: row.event.publicId,
    event: EventType.parse(row.event.type),
    state: row.state,
    attemptCount: row.attempts,
    nextAttemptAt: row.state === 'PENDING' ? serializeTimestamp(row.nextAttemptAt) : null,
    createdAt: serializeTimestamp(row.createdAt),
    settledAt: serializeTimestamp(row.settledAt),
  };
}
