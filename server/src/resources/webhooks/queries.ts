import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type CreatedWebhook,
  type DeliveryState,
  EventType,
  events,
  maxActiveWebhooks,
  maxCountedReplay,
  maxReplays,
  type NewWebhook,
  secretOverlapHours,
  type Webhook,
  type WebhookPatch,
  type WebhookQuery,
  type WebhookReplay,
  type WebhookReplayStarted,
} from '@itsm-api/contract';
import { Prisma } from '../../../generated/prisma/client.ts';
import { rawClient, type TenantClient } from '../../database/client/tenant-client.ts';
import { lockRow, lockTenant } from '../../database/row-lock.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import { requireMatch, withVersion } from '../../shared/etag.ts';
import { serializeId, serializeTimestamp, serializeTimestamps } from '../../shared/serialize.ts';
import { checkAll } from '../../shared/validation.ts';
import { presentHealth } from '../../webhooks/delivery/circuit-breaker.ts';
import { halfOpen } from '../../webhooks/delivery/half-open.ts';
import { newSecret } from '../../webhooks/secrets/new-secret.ts';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';
import type { SubscriptionRef } from '../../webhooks/subscription-ref.ts';
import { countMadeSince } from '../deliveries/sql.ts';
import { type Context, type Transaction, transaction, type UserContext } from '../shared/context.ts';
import { type Page, readPage } from '../shared/lists.ts';
import { checkFilter } from './filter.ts';
import { inHours, insertReplay, newSubscriptionId } from './sql.ts';

type WebhookRow = Prisma.WebhookSubscriptionGetPayload<object>;

/** A subscription with what no endpoint of v1 returns: the reason for its health, in a sentence. */
export interface TrackedWebhook extends Webhook {
  healthReason: string | null;
}

interface Listed {
  /** Those that were deactivated, too. */
  inactive?: boolean;
  /** Only those that a key of this user made. */
  madeBy?: bigint | undefined;
}

/** Subscriptions to nothing but events that a later release knows are for that one to tell of (docs/decisions/schema-migrations.md). */
const known = { events: { hasSome: [...EventType.options] } };

/** A page of active subscriptions, newest first (spec §4). */
export function listWebhooks(
  { db, now }: Context,
  query: WebhookQuery,
  { inactive = false, madeBy }: Listed = {},
): Promise<Page<TrackedWebhook>> {
  const where = {
    ...known,
    ...(!inactive && { active: true }),
    ...(madeBy !== undefined && { key: { userId: madeBy } }),
  };
  return readPage(query, {
    count: () => db.webhookSubscription.count({ where }),
    find: async (range) => {
      const rows = await db.webhookSubscription.findMany({ where, orderBy: { id: 'desc' }, ...range });
      return rows.map((row) => presentWebhook(row, now()));
    },
  });
}

/** One subscription, active or not. @throws ApiError NOT_FOUND */
export async function getWebhook({ db, now }: Context, id: number): Promise<TrackedWebhook> {
  const row = await db.webhookSubscription.findFirst({ where: { id, ...known } });
  if (row === null) throw notFound('webhook subscription');
  return presentWebhook(row, now());
}

/**
 * Registers a subscription; its secret is encrypted before it is stored (docs/decisions/webhook-subscriptions.md).
 * Generates a secret if the input has none, and returns it.
 * @throws ApiError VALIDATION_ERROR for a URL that deliveries may not go to, or when there are too many
 */
export function createWebhook(
  context: Context & Partial<UserContext>,
  input: NewWebhook,
): Promise<TrackedWebhook & CreatedWebhook> {
  checkAll(
    () => context.targets.checkUrl(input.url),
    () => checkFilter(input),
  );
  return transaction(context, async ({ db, keyId, secretCipher, now }) => {
    await refuseTooMany(db);
    const id = await newSubscriptionId(db);
    const secret = input.secret ?? newSecret();
    const row = await db.webhookSubscription.create({
      data: {
        id,
        url: input.url,
        secret: secretCipher.encrypt(secret, { tenantId: db.$tenantId, subscriptionId: id }),
        events: [...new Set(input.events)],
        filter: input.filter ?? Prisma.DbNull,
        skipOwn: input.skipOwn ?? false,
        keyId: keyId ?? null,
      },
    });
    const webhook = presentWebhook(row, now());
    return input.secret === undefined ? Object.assign(webhook, { secret }) : webhook;
  });
}

/**
 * Stores the response to a new subscription under an `Idempotency-Key` with the digest of a generated secret in place of the
 * secret. A digest of 256 random bits can't be reversed.
 */
export const keptNewWebhook = {
  keep: ({ secret, ...webhook }: CreatedWebhook): object => {
    return secret === undefined ? webhook : { ...webhook, secretDigest: hash('sha256', secret) };
  },
  /** Adds the generated secret, unless it was changed or the subscription was deactivated. */
  restore: async (
    { db, secretCipher }: Context,
    kept: Webhook & { secretDigest?: string },
  ): Promise<CreatedWebhook> => {
    const { secretDigest, ...webhook } = kept;
    if (secretDigest === undefined) return webhook;
    const row = await db.webhookSubscription.findFirst({ where: { id: webhook.id, active: true } });
    const owner = { tenantId: db.$tenantId, subscriptionId: BigInt(webhook.id) };
    const secret = row === null ? undefined : readable(secretCipher, row.secret, owner);
    return secret !== undefined && hash('sha256', secret) === secretDigest ? { ...webhook, secret } : webhook;
  },
};

/** Lets one at a time past, while there is room for another. @throws ApiError VALIDATION_ERROR */
async function refuseTooMany(db: TenantClient): Promise<void> {
  await lockTenant(db, 'webhookCount');
  if ((await db.webhookSubscription.count({ where: { active: true } })) < maxActiveWebhooks) return;
  const message = `This workspace has the maximum of ${maxActiveWebhooks} active webhook subscriptions. Deactivate one first.`;
  throw new ApiError('VALIDATION_ERROR', message);
}

/**
 * Changes an active subscription; a patch that changes nothing leaves `updatedAt`. What waits for it is sent as the
 * subscription is then (docs/decisions/webhook-subscriptions.md).
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, VALIDATION_ERROR
 */
export function updateWebhook(
  context: Context & Partial<UserContext>,
  id: number,
  patch: WebhookPatch,
): Promise<TrackedWebhook> {
  return transaction(context, async (context) => {
    const { db, now } = context;
    const before = await lockActive(db, id);
    const webhook = presentWebhook(before, now());
    requireMatch(context.ifMatch, webhook);
    const data = await changesOf(context, before, patch);
    // One that was taken when less was looked at stays as it is, and hinders no other change.
    checkAll(
      () => patch.url !== undefined && context.targets.checkUrl(patch.url),
      () => (patch.filter !== undefined || patch.events !== undefined) && checkFilter({ ...webhook, ...patch }),
    );
    if (Object.keys(data).length === 0) return webhook;
    const [row] = await db.webhookSubscription.updateManyAndReturn({
      where: { id },
      data: { ...patchable(before), ...data },
    });
    if (row === undefined) throw notFound('webhook subscription');
    if (data.openUntil === null) await sendWhatWaits(context, row.id);
    return presentWebhook(row, now());
  });
}

/** Locks an active subscription until the end of the transaction. @throws ApiError NOT_FOUND */
async function lockActive(db: TenantClient, id: number): Promise<WebhookRow> {
  const row = (await lockRow(db, 'webhook_subscriptions', id))
    ? await db.webhookSubscription.findFirst({ where: { id, active: true, ...known } })
    : null;
  if (row === null) throw notFound('webhook subscription');
  return row;
}

/** The columns that a patch changes. */
async function changesOf(
  { db, keyId, secretCipher }: Context & Partial<UserContext>,
  before: WebhookRow,
  { url, secret, events, filter, skipOwn, paused }: WebhookPatch,
): Promise<Prisma.WebhookSubscriptionUncheckedUpdateManyInput> {
  const owner = { tenantId: db.$tenantId, subscriptionId: before.id };
  const wanted = events && [...new Set(events)];
  const hasNewUrl = url !== undefined && url !== before.url;
  const current = readable(secretCipher, before.secret, owner);
  const hasNewSecret = secret !== undefined && secret !== current;
  const resumes = paused === false && (before.pausedAt !== null || before.openUntil !== null || before.failures > 0);
  return {
    ...(hasNewUrl && { url, firstSucceededAt: null }),
    ...(hasNewSecret && {
      secret: secretCipher.encrypt(secret, owner),
      previousSecret: current === undefined ? null : new Uint8Array(before.secret),
      previousSecretUntil: current === undefined ? null : await inHours(db, secretOverlapHours),
    }),
    ...(wanted && !isDeepStrictEqual(wanted, before.events) && { events: wanted }),
    ...(filter !== undefined && !isDeepStrictEqual(filter, before.filter) && { filter: filter ?? Prisma.DbNull }),
    ...(skipOwn !== undefined && skipOwn !== before.skipOwn && { skipOwn }),
    // One that was created without a key, in the developer area or by the command line.
    ...(skipOwn === true && before.keyId === null && keyId !== undefined && { keyId }),
    ...(resumes || (hasNewUrl && !before.held) ? healthy : {}),
    ...(paused === true && !before.held && { held: true }),
  };
}

/** A secret; undefined where the key that encrypted it is known no more. */
function readable(cipher: SecretCipher, secret: Uint8Array, owner: SubscriptionRef): string | undefined {
  try {
    return cipher.decrypt(secret, owner);
  } catch {
    return undefined;
  }
}

/** All that a patch may change, as it is: it is one statement whatever is changed, which is kept prepared. */
function patchable(row: WebhookRow): Prisma.WebhookSubscriptionUncheckedUpdateManyInput {
  const { url, secret, previousSecret, previousSecretUntil, events, filter, skipOwn, keyId, held, firstSucceededAt } =
    row;
  const { failures, failingSince, openUntil, openings, pausedAt, pausedReason } = row;
  return {
    ...{
      url,
      secret,
      previousSecret,
      previousSecretUntil,
      events,
      filter: filter ?? Prisma.DbNull,
      skipOwn,
      keyId,
      held,
      firstSucceededAt,
    },
    ...{ failures, failingSince, openUntil, openings, pausedAt, pausedReason },
  };
}

/** A subscription whose endpoint has not failed (webhooks/health.ts). */
const healthy = {
  held: false,
  failures: 0,
  failingSince: null,
  openUntil: null,
  openings: 0,
  pausedAt: null,
  pausedReason: null,
} as const;

/** Has the workers look at what is due to a subscription. */
async function sendWhatWaits({ db, dispatchJobs, afterCommit, wakeWorkers }: Context & Transaction, id: bigint) {
  await dispatchJobs.addWithin(db, [{ tenantId: db.$tenantId, subscriptionId: id }]);
  afterCommit(wakeWorkers);
}

/**
 * Has deliveries of an active subscription sent again, or sooner, by the workers: the same cost however many there are.
 * `getReplay` tells how far they are. An open circuit becomes half-open, so that one of them is sent at once.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR when too many are under way
 */
export function replayWebhook(
  context: Context,
  id: number,
  replay: WebhookReplay,
): Promise<WebhookReplayStarted & { id: number }> {
  return transaction(context, async (context) => {
    const { db } = context;
    const { id: subscriptionId, held } = await lockActive(db, id);
    const { since } = replay;
    const states = [...new Set<DeliveryState>(replay.states ?? ['EXHAUSTED'])];
    if ((await db.webhookReplay.count({ where: { subscriptionId: id, finishedAt: null } })) >= maxReplays) {
      const message = `This subscription has the maximum of ${maxReplays} replays in progress. Retry when one of them has finished.`;
      throw new ApiError('VALIDATION_ERROR', message);
    }
    const matching = await countMadeSince(db, { subscriptionId: id, states, since, limit: maxCountedReplay });
    // Before the others are, which are pending from then on.
    const inTurn = states.toSorted((a, b) => Number(b === 'PENDING') - Number(a === 'PENDING'));
    const replayId = await insertReplay(db, { subscriptionId: id, since, states: inTurn });
    if (await halfOpen(rawClient(db), { tenantId: db.$tenantId, subscriptionIds: [subscriptionId] })) {
      await sendWhatWaits(context, subscriptionId);
    }
    return { id: serializeId(replayId), webhookId: id, since, states, matching, paused: held };
  });
}

/** How far deliveries are that are sent again together. */
export interface ReplayProgress {
  id: number;
  webhookId: number;
  since: string;
  askedAt: string;
  /** How many there were to send, of which `mostReplayCounted` are counted; null until that is done. */
  matching: number | null;
  sent: number;
  /** Null while it is under way; a day after it the replay is forgotten. */
  finishedAt: string | null;
}

/** One replay of a subscription. @throws ApiError NOT_FOUND */
export async function getReplay({ db }: Context, webhookId: number, id: number): Promise<ReplayProgress> {
  const row = await db.webhookReplay.findFirst({ where: { id, subscriptionId: webhookId } });
  if (row === null) throw notFound('replay');
  return presentReplay(row);
}

/** The last replays of a subscription, newest first. */
export async function listReplays({ db }: Context, webhookId: number, limit: number): Promise<ReplayProgress[]> {
  const where = { subscriptionId: webhookId };
  const rows = await db.webhookReplay.findMany({ where, orderBy: { id: 'desc' }, take: limit });
  return rows.map(presentReplay);
}

function presentReplay(row: Prisma.WebhookReplayGetPayload<object>): ReplayProgress {
  const { matching, sent } = row;
  return {
    id: serializeId(row.id),
    webhookId: serializeId(row.subscriptionId),
    since: serializeTimestamp(row.since),
    askedAt: serializeTimestamp(row.askedAt),
    ...{ matching, sent },
    finishedAt: serializeTimestamp(row.finishedAt),
  };
}

/**
 * Deactivates a subscription; again when repeated (spec §3). From then on nothing is sent to it: what waits is left to
 * the workers, who cancel it, so that this costs the same however much there is.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED
 */
export function deleteWebhook(context: Context, id: number): Promise<TrackedWebhook> {
  return transaction(context, async ({ db, ifMatch, now }) => {
    if (!(await lockRow(db, 'webhook_subscriptions', id))) throw notFound('webhook subscription');
    const current = await db.webhookSubscription.findFirst({ where: { id, ...known } });
    if (current === null) throw notFound('webhook subscription');
    requireMatch(ifMatch, presentWebhook(current, now()));
    const where = { id, active: true };
    const [row] = await db.webhookSubscription.updateManyAndReturn({ where, data: { active: false } });
    return presentWebhook(row ?? current, now());
  });
}

/**
 * Activates a subscription that was deactivated, as if it had never failed: it is sent what happens from now on, and what no
 * worker has cancelled yet. Again when repeated. No endpoint of v1 calls it; the command line does.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR when there are too many, or nothing can be sent there any more
 */
export function activateWebhook(context: Context, id: number): Promise<TrackedWebhook> {
  return transaction(context, async (context) => {
    const { db, now } = context;
    if (!(await lockRow(db, 'webhook_subscriptions', id))) throw notFound('webhook subscription');
    const before = await getWebhook(context, id);
    if (before.active) return before;
    context.targets.checkUrl(before.url);
    await refuseUnreadable(context, id);
    await refuseTooMany(db);
    const data = { active: true, ...healthy };
    const [row] = await db.webhookSubscription.updateManyAndReturn({ where: { id }, data });
    if (row === undefined) throw notFound('webhook subscription');
    return presentWebhook(row, now());
  });
}

/** No process starts while an active subscription has a secret that it can't read. @throws ApiError VALIDATION_ERROR */
async function refuseUnreadable({ db, secretCipher }: Context, id: number): Promise<void> {
  const { secret } = await db.webhookSubscription.findFirstOrThrow({ where: { id } });
  if (readable(secretCipher, secret, { tenantId: db.$tenantId, subscriptionId: BigInt(id) }) !== undefined) return;
  const message =
    "The signing secret can't be decrypted, because its encryption key was removed. Register a new subscription.";
  throw new ApiError('VALIDATION_ERROR', message);
}

/** Presents a subscription as the API returns it, without its secret, and its health at this moment. */
function presentWebhook(row: WebhookRow, now: Date): TrackedWebhook {
  const { health, healthReason, nextAttemptAt, pausedAt, pausedReason } = presentHealth(row, now);
  const noted = {
    nextAttemptAt: serializeTimestamp(nextAttemptAt),
    lastSuccessAt: serializeTimestamp(row.lastSuccessAt),
    lastFailureAt: serializeTimestamp(row.lastFailureAt),
    pausedAt: serializeTimestamp(pausedAt),
  };
  const webhook = {
    id: serializeId(row.id),
    url: row.url,
    // Of those that a later release knows nothing can be said here (docs/decisions/schema-migrations.md).
    events: row.events.filter((event): event is EventType => Object.hasOwn(events, event)),
    filter: row.filter,
    skipOwn: row.skipOwn,
    active: row.active,
    ...{ health, healthReason },
    ...noted,
    pausedReason,
    ...serializeTimestamps(row),
  };
  return withVersion(row.version, webhook, Object.values(noted));
}
