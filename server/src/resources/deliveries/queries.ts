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
import { rawClient, type TenantClient } from '../../database/client/tenant-client.ts';
import { lockRow } from '../../database/row-lock.ts';
import { ApiError, deactivatedSubscription, notFound } from '../../shared/errors.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import { requestHeaders } from '../../webhooks/delivery/attempt.ts';
import { halfOpen, moveToFront } from '../../webhooks/delivery/half-open.ts';
import { sendAgain } from '../../webhooks/maintenance/replay.ts';
import { emit, newEventId } from '../../webhooks/outbox/emit.ts';
import { type Context, transaction } from '../shared/context.ts';
import { maxCounted, type Page, pageMeta } from '../shared/lists.ts';
import { countDeliveries, selectDeliveries, selectPage } from './sql.ts';

/** The schema of a filter for deliveries. An empty filter matches all deliveries of the tenant. */
export const DeliveryFilter = z.strictObject({
  subscription: Id.optional(),
  /** An event type, or the public id of one event (`evt_…`). */
  event: z
    .union([EventType, z.string().regex(/^evt_\w{1,100}$/)], { error: 'must be an event type or an event id' })
    .optional(),
  state: DeliveryState.optional(),
  /** Matches deliveries created at or after this time. */
  since: z.date().optional(),
  /** Matches deliveries created before this time. */
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

/** A range of the matching deliveries. */
interface Extent {
  /** The number of matching deliveries to skip. */
  skip?: number;
  take: number;
  /** Limits the result to subscriptions created with an API key of this user. */
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

/** The columns of an attempt that the database role for requests may read. */
const attemptColumns = {
  number: true,
  startedAt: true,
  durationMs: true,
  status: true,
  error: true,
  publicAnswer: true,
} as const;

interface DetailOptions {
  /** Whether to include response bodies that may contain data of a private network, which only operators may see. */
  allAnswers?: boolean;
  /** Limits the result to subscriptions created with an API key of this user. */
  madeBy?: bigint | undefined;
}

/** Returns one delivery with its newest attempts. @throws ApiError NOT_FOUND */
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
  // Prisma queries the relations concurrently. Within a transaction, it uses only one database connection.
  const row = await transaction(context, ({ db }) => db.delivery.findFirst(query));
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

/** Counts all attempts of a delivery, including attempts before a replay. */
export function countAttempts({ db }: Context, deliveryId: number): Promise<number> {
  return db.deliveryAttempt.count({ where: { deliveryId } });
}

/**
 * Returns the request headers of the last attempt of a delivery. If there was no attempt yet, returns the headers of
 * the first attempt. Signs with the current secrets.
 * @throws ApiError NOT_FOUND if the subscription doesn't exist
 */
export async function headersOf(
  { db, secretCipher, now }: Context,
  { id, webhookId, eventId, event, body, attempts, createdAt }: DeliveryDetail,
): Promise<Record<string, string>> {
  const row = await db.webhookSubscription.findFirst({ where: { id: webhookId } });
  if (row === null) throw notFound('webhook subscription');
  const owner = { tenantId: db.$tenantId, subscriptionId: row.id };
  const { secret, previousSecret, previousSecretUntil } = row;
  const isValid = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now();
  const secrets = {
    secret: secretCipher.decrypt(secret, owner),
    previous: isValid ? [secretCipher.decrypt(previousSecret, owner)] : [],
  };
  const last = attempts.at(-1) ?? { number: 1, startedAt: createdAt };
  const fields = { id, attempt: last.number, body, eventId, eventType: event };
  return requestHeaders(fields, secrets, new Date(last.startedAt));
}

/**
 * Queues a delivery of any status to be sent again immediately. Doesn't change a delivery that a worker is sending.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if its subscription is deactivated
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

/** The deliveries to replay: the delivery with the `id`, or all deliveries that match the filter. */
export type ReplayFilter = DeliveryFilter & { id?: number };

/** Counts the deliveries that `replayDeliveries` would queue now. */
export function countReplayable({ db }: Context, filter: ReplayFilter): Promise<number> {
  return db.delivery.count({ where: replayable(filter) });
}

const replayBatchSize = 1000;

/**
 * Queues deliveries to be sent again with the same `webhook-id` and all retries. Commits each batch separately.
 * Includes deliveries with the status `DELIVERED` only if the filter has an `id` or this status. Skips deliveries that
 * a worker is sending, and deliveries of deactivated subscriptions. Resolves to the number of queued deliveries.
 */
export async function replayDeliveries(context: Context, filter: ReplayFilter): Promise<number> {
  const where = replayable(filter);
  // Excludes deliveries that are created after this query, because the workers send them without a replay.
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
 * Resets deliveries to PENDING, except deliveries that a worker is sending. Makes the open circuits of their
 * subscriptions half-open. If `ids` contains only one id, that delivery becomes the probe of the circuit. Resolves to
 * the number of deliveries that were reset.
 */
function replayIds(context: Context, ids: bigint[]): Promise<number> {
  return transaction(context, async ({ db, dispatchJobs, afterCommit, wakeWorkers }) => {
    const tenantId = db.$tenantId;
    const rows = await sendAgain(rawClient(db), { tenantId, ids });
    const subscriptions = [...new Set(rows.map(({ subscriptionId }) => subscriptionId))];
    if (subscriptions.length === 0) return 0;
    const [id] = ids;
    const hasProbe = await halfOpen(rawClient(db), { tenantId, subscriptionIds: subscriptions });
    if (hasProbe && id !== undefined && ids.length === 1) await moveToFront(rawClient(db), { tenantId, id });
    await dispatchJobs.addWithin(
      db,
      subscriptions.map((subscriptionId) => ({ tenantId, subscriptionId })),
    );
    afterCommit(wakeWorkers);
    return rows.length;
  });
}

/**
 * All statuses except DELIVERED. It is a list, because PostgreSQL can't use the index by status for `<> 'DELIVERED'`.
 */
const notDelivered = DeliveryState.options.filter((state) => state !== 'DELIVERED');

function replayable({ id, ...filter }: ReplayFilter): Prisma.DeliveryWhereInput {
  return {
    AND: [
      toWhere(filter),
      id !== undefined ? { id } : filter.state === undefined ? { state: { in: notDelivered } } : {},
      // Excludes claimed deliveries. A worker is sending them, and they must not be sent twice.
      { subscription: { active: true }, claim: null },
    ],
  };
}

/**
 * Queues a test event for a subscription. The payload is the example in the contract. If the circuit of the
 * subscription is open, the circuit becomes half-open with the test event as its probe.
 * @param type default: the first event type of the subscription
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the subscription doesn't have the event type
 */
export function sendTestEvent(context: Context, subscriptionId: number, type?: EventType): Promise<Delivery> {
  return transaction(context, async (context) => {
    const { db } = context;
    // Locks the subscription, so that its event types can't change before the transaction writes the event.
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
    const tenantId = db.$tenantId;
    const hasProbe = await halfOpen(rawClient(db), { tenantId, subscriptionIds: [subscription.id] });
    if (hasProbe) await moveToFront(rawClient(db), { tenantId, id });
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
