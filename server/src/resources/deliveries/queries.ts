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
import { ApiError, notFound } from '../../shared/errors.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import { requestHeaders } from '../../webhooks/delivery/attempt.ts';
import { halfOpen, putFirst } from '../../webhooks/delivery/half-open.ts';
import { sendAgain } from '../../webhooks/maintenance/replay.ts';
import { emit, newEventId } from '../../webhooks/outbox/emit.ts';
import { type Context, transaction } from '../shared/context.ts';
import { maxCounted, type Page, pageMeta } from '../shared/lists.ts';
import { countDeliveries, selectPage, selectWanted } from './sql.ts';

/** Which deliveries; without any of these, all. */
export const DeliveryFilter = z.strictObject({
  subscription: Id.optional(),
  /** An event's type, or the id of one event. */
  event: z
    .union([EventType, z.string().regex(/^evt_\w{1,100}$/)], { error: 'must be an event type or an event id' })
    .optional(),
  state: DeliveryState.optional(),
  /** Those that were made then or later. */
  since: z.date().optional(),
  /** Those that were made before. */
  until: z.date().optional(),
});
export type DeliveryFilter = z.output<typeof DeliveryFilter>;

const withEvent = { event: { select: { publicId: true, type: true } } } as const;

/** A page of a subscription's deliveries, newest first. @throws ApiError NOT_FOUND for the subscription */
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

/** Which of the deliveries that a filter matches: some of them, and of whose subscriptions. */
interface Extent {
  /** How many are passed over. */
  skip?: number;
  take: number;
  /** Only those to subscriptions that a key of this user made. */
  madeBy?: bigint | undefined;
}

/** The newest deliveries that the filter matches, and whether there are more. Nothing is counted. */
export async function findDeliveries(
  { db }: Context,
  { event, ...filter }: DeliveryFilter,
  { skip = 0, take, madeBy }: Extent,
): Promise<{ data: Delivery[]; hasMore: boolean }> {
  const of = event?.startsWith('evt_') ? { eventId: event } : { event };
  const ids = await selectWanted(db, { ...filter, ...of, madeBy }, { skip, take: take + 1 });
  const data = await byIds(db, ids.slice(0, take), filter.state && [filter.state]);
  return { data, hasMore: ids.length > take };
}

/**
 * Newest first, without those that are in another state by now: they were looked for in a statement of their own. Of events that
 * a later release sends nothing can be told here (docs/decisions/schema-migrations.md).
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

/** What is told of an attempt; requests may read no more of it. */
const toldOfAttempt = {
  number: true,
  startedAt: true,
  durationMs: true,
  status: true,
  error: true,
  publicAnswer: true,
} as const;

interface Asked {
  /** Also answers that may have come of a private network, which whoever runs the installation may see. */
  allAnswers?: boolean;
  /** Only one to a subscription that a key of this user made. */
  madeBy?: bigint | undefined;
}

/** One delivery with its attempts. @throws ApiError NOT_FOUND */
export async function getDelivery(
  context: Context,
  id: number,
  { allAnswers = false, madeBy }: Asked = {},
): Promise<DeliveryDetail & { url: string }> {
  const query = {
    where: { id, ...(madeBy !== undefined && { subscription: { key: { userId: madeBy } } }) },
    include: {
      event: true,
      subscription: { select: { url: true } },
      history: {
        select: { ...toldOfAttempt, ...(allAnswers && { answer: true }) },
        orderBy: { id: 'desc' },
        take: maxShownAttempts,
      },
    },
  } as const;
  // Prisma asks for each relation by itself, and all at once: on one connection within a transaction.
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

/** Counts all attempts of a delivery, through all replays. */
export function countAttempts({ db }: Context, deliveryId: number): Promise<number> {
  return db.deliveryAttempt.count({ where: { deliveryId } });
}

/**
 * The headers of a delivery's last attempt, or of the first one that is to come, as the subscription's secrets sign it now.
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
  const told = { id, attempt: last.number, body, eventId, eventType: event };
  return requestHeaders(told, secrets, new Date(last.startedAt));
}

/**
 * Has one delivery sent again at once, whatever came of it; one that is being sent just now is left as it is.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR when its subscription is deactivated
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
  await replayBatchOf(context, [before.id]);
  return presentDelivery((await find()) ?? before);
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

/**
 * Has these sent again, except those that are being sent or settled now. Open circuits of their subscriptions become
 * half-open; that of a single delivery is tried with it.
 */
function replayBatchOf(context: Context, ids: bigint[]): Promise<number> {
  return transaction(context, async ({ db, dispatchJobs, afterCommit, wakeWorkers }) => {
    const tenantId = db.$tenantId;
    const rows = await sendAgain(rawClient(db), { tenantId, ids });
    const subscriptions = [...new Set(rows.map(({ subscriptionId }) => subscriptionId))];
    if (subscriptions.length === 0) return 0;
    const [id] = ids;
    const isTried = await halfOpen(rawClient(db), { tenantId, subscriptionIds: subscriptions });
    if (isTried && id !== undefined && ids.length === 1) await putFirst(rawClient(db), { tenantId, id });
    await dispatchJobs.addWithin(
      db,
      subscriptions.map((subscriptionId) => ({ tenantId, subscriptionId })),
    );
    afterCommit(wakeWorkers);
    return rows.length;
  });
}

/** One by one, as their index has them. */
const notDelivered = DeliveryState.options.filter((state) => state !== 'DELIVERED');

function replayable({ id, ...filter }: ReplayFilter): Prisma.DeliveryWhereInput {
  return {
    AND: [
      whereOf(filter),
      id !== undefined ? { id } : filter.state === undefined ? { state: { in: notDelivered } } : {},
      // What is on its way is not sent beside itself.
      { subscription: { active: true }, claim: null },
    ],
  };
}

/**
 * Sends a subscription an event made of the contract's example: of the type given, else the first that it wants. An open
 * circuit becomes half-open, and is tried with this event.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR when it doesn't want that type
 */
export function sendTestEvent(context: Context, subscriptionId: number, type?: EventType): Promise<Delivery> {
  return transaction(context, async (context) => {
    const { db } = context;
    // Held, so that it still wants the event when that is written.
    const subscription = (await lockRow(db, 'webhook_subscriptions', subscriptionId))
      ? await db.webhookSubscription.findFirst({ where: { id: subscriptionId, active: true } })
      : null;
    if (subscription === null) throw notFound('webhook subscription');
    const wanted = type ?? EventType.options.find((each) => each === subscription.events[0]);
    if (wanted === undefined || !subscription.events.includes(wanted)) {
      throw new ApiError(
        'VALIDATION_ERROR',
        wanted === undefined
          ? 'The subscription has no event type that this version of the server supports. Change its `events`.'
          : `The subscription is not subscribed to ${wanted}. Choose one of its event types: ${subscription.events.join(', ')}.`,
      );
    }
    const { payload, changes } = events[wanted];
    const publicId = newEventId('evt_test_');
    await emit(context, wanted, {
      publicId,
      timestamp: context.now().toISOString(),
      payload: payload.meta()?.example as EventPayload<typeof wanted>,
      ...(changes && { changes: {} }),
      onlyTo: subscription.id,
    });
    const where = { subscriptionId, event: { publicId } };
    const { id } = await db.delivery.findFirstOrThrow({ where });
    const tenantId = db.$tenantId;
    const isTried = await halfOpen(rawClient(db), { tenantId, subscriptionIds: [subscription.id] });
    if (isTried) await putFirst(rawClient(db), { tenantId, id });
    return presentDelivery(await db.delivery.findFirstOrThrow({ where, include: withEvent }));
  });
}

function whereOf({ subscription, event, state, since, until }: DeliveryFilter): Prisma.DeliveryWhereInput {
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

/** A delivery as the API answers it. */
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
