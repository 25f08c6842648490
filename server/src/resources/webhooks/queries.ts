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
import type { Prisma } from '../../../generated/prisma/client.ts';
import { dbNull } from '../../database/client/json-column.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockRow, lockTenant } from '../../database/row-lock.ts';
import { ApiError, deactivatedSubscription, notFound } from '../../shared/errors.ts';
import { requireMatch, withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamp, serializeTimestamps } from '../../shared/serialize.ts';
import { checkAll } from '../../shared/validation.ts';
import { halfOpen, presentHealth } from '../../webhooks/delivery/circuit-breaker.ts';
import { newSecret } from '../../webhooks/secrets/new-secret.ts';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';
import type { SubscriptionRef } from '../../webhooks/subscription-ref.ts';
import { auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { countMadeSince } from '../deliveries/sql.ts';
import { type Context, type Transaction, transaction, type UserContext } from '../shared/context.ts';
import { type Page, readPage } from '../shared/lists.ts';
import { checkFilter } from './filter.ts';
import { inHours, insertReplay, newSubscriptionId } from './sql.ts';

type WebhookRow = Prisma.WebhookSubscriptionGetPayload<object>;

/** A webhook subscription with `healthReason`, which API v1 doesn't return. */
export interface TrackedWebhook extends Webhook {
  healthReason: string | null;
}

interface ListOptions {
  /** Whether to include deactivated subscriptions. */
  inactive?: boolean;
  /** Limits the list to subscriptions that were created with one of this user's API keys. */
  madeBy?: bigint | undefined;
  /** Whether to return only subscriptions that aren't healthy, except those that a user has paused. */
  failing?: boolean;
}

/**
 * The Prisma condition for subscriptions with at least one event type that this release supports
 * (docs/decisions/schema-migrations.md).
 */
const known = { events: { hasSome: [...EventType.options] } };

/** Returns a page of webhook subscriptions, newest first (spec §4). By default, returns only active subscriptions. */
export function listWebhooks(
  { db, now }: Context,
  query: WebhookQuery,
  { inactive = false, madeBy, failing = false }: ListOptions = {},
): Promise<Page<TrackedWebhook>> {
  const where = {
    ...known,
    ...(!inactive && { active: true }),
    ...(madeBy !== undefined && { key: { userId: madeBy } }),
    ...(failing && isFailing),
  };
  return readPage(query, {
    count: () => db.webhookSubscription.count({ where }),
    find: async (range) => {
      const rows = await db.webhookSubscription.findMany({ where, orderBy: { id: 'desc' }, ...range });
      return rows.map((row) => presentWebhook(row, now()));
    },
  });
}

/** The Prisma condition for subscriptions that aren't healthy. Keep it consistent with `presentHealth`. */
const isFailing = {
  OR: [
    { quotaReachedAt: { not: null } },
    { held: false, pausedAt: { not: null } },
    { held: false, failures: { gt: 0 } },
  ],
};

/** Returns one webhook subscription, active or deactivated. @throws ApiError NOT_FOUND */
export async function getWebhook({ db, now }: Context, id: number): Promise<TrackedWebhook> {
  const row = await db.webhookSubscription.findFirst({ where: { id, ...known } });
  if (row === null) throw notFound('webhook subscription');
  return presentWebhook(row, now());
}

/**
 * Creates a webhook subscription and encrypts its signing secret (docs/decisions/webhook-subscriptions.md). If the
 * input has no secret, generates a secret and returns it.
 * @throws ApiError VALIDATION_ERROR if the target policy rejects the URL, the filter is invalid, or the workspace has
 * too many active subscriptions
 */
export function createWebhook(
  context: Context & Partial<UserContext>,
  input: NewWebhook,
): Promise<TrackedWebhook & CreatedWebhook> {
  checkAll(
    () => context.targets.checkUrl(input.url),
    () => checkFilter(input),
  );
  return transaction(context, async (context) => {
    const { db, keyId, secretCipher, now } = context;
    await checkActiveLimit(db);
    const id = await newSubscriptionId(db);
    const secret = input.secret ?? newSecret();
    const created = await db.webhookSubscription.create({
      data: {
        id,
        url: input.url,
        secret: secretCipher.encrypt(secret, { tenantId: db.$tenantId, subscriptionId: id }),
        events: [...new Set(input.events)],
        filter: input.filter ?? dbNull,
        skipOwn: input.skipOwn ?? false,
        keyId: keyId ?? null,
      },
    });
    const webhook = presentWebhook(input.paused ? await holdNew(db, created) : created, now());
    const changes = auditChanges({}, auditedOf(webhook), ['url', 'events', 'filter', 'skipOwn', 'paused']);
    await recordAudit(context, { action: 'webhook.created', target: targetOf(webhook), changes });
    return input.secret === undefined ? Object.assign(webhook, { secret }) : webhook;
  });
}

/**
 * Returns the fields whose values the audit log stores. Of the URL, it stores only the origin, because the path can
 * contain a secret.
 */
function auditedOf({ url, events, filter, skipOwn, pausedAt }: TrackedWebhook) {
  return { url: new URL(url).origin, events, filter, skipOwn, paused: pausedAt !== null };
}

function targetOf({ id }: Pick<TrackedWebhook, 'id'>) {
  return { type: 'webhook', id } as const;
}

/** Pauses a new subscription. The trigger that opens the circuit of a paused subscription runs only on updates. */
async function holdNew(db: TenantClient, { id }: WebhookRow): Promise<WebhookRow> {
  const [row] = await db.webhookSubscription.updateManyAndReturn({ where: { id }, data: { held: true } });
  if (row === undefined) throw notFound('webhook subscription');
  return row;
}

/**
 * Converts the response of `createWebhook` to and from the form that is stored for an `Idempotency-Key`. The stored
 * form contains a digest of the generated secret instead of the secret itself. The secret has 256 random bits, so it
 * can't be recovered from the digest.
 */
export const newWebhookFormat = {
  serialize: ({ secret, ...webhook }: CreatedWebhook): object => {
    return secret === undefined ? webhook : { ...webhook, secretDigest: hash('sha256', secret) };
  },
  /**
   * Restores the response. Includes the generated secret, unless the secret has changed or the subscription has been
   * deactivated in the meantime.
   */
  restore: async (
    { db, secretCipher }: Context,
    stored: Webhook & { secretDigest?: string },
  ): Promise<CreatedWebhook> => {
    const { secretDigest, ...webhook } = stored;
    if (secretDigest === undefined) return webhook;
    const row = await db.webhookSubscription.findFirst({ where: { id: webhook.id, active: true } });
    const owner = { tenantId: db.$tenantId, subscriptionId: BigInt(webhook.id) };
    const secret = row === null ? undefined : tryDecrypt(secretCipher, row.secret, owner);
    return secret !== undefined && hash('sha256', secret) === secretDigest ? { ...webhook, secret } : webhook;
  },
};

/** Returns the number of active subscriptions of the workspace. */
export function countActiveWebhooks({ db }: Pick<Context, 'db'>): Promise<number> {
  return db.webhookSubscription.count({ where: { active: true } });
}

/**
 * Checks that the workspace has fewer than `maxActiveWebhooks` active subscriptions. Acquires a lock, so that
 * concurrent requests can't exceed the limit.
 * @throws ApiError VALIDATION_ERROR
 */
async function checkActiveLimit(db: TenantClient): Promise<void> {
  await lockTenant(db, 'webhookCount');
  if ((await countActiveWebhooks({ db })) < maxActiveWebhooks) return;
  const message = `This workspace has the maximum of ${maxActiveWebhooks} active webhook subscriptions. Deactivate one first.`;
  throw new ApiError('VALIDATION_ERROR', message);
}

/**
 * Updates an active webhook subscription. If the patch changes nothing, `updatedAt` stays the same. Pending deliveries
 * use the new values (docs/decisions/webhook-subscriptions.md).
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
    const data = await toChangedColumns(context, before, patch);
    // Validates only the fields in the patch, so that a client can change them even if current rules reject the stored
    // value of another field.
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
    if (data.openUntil === null) await notifyWorkers(context, row.id);
    const after = presentWebhook(row, now());
    const changes = {
      ...(data.url !== undefined && { url: null }),
      ...(data.secret !== undefined && { secret: null }),
      ...auditChanges(auditedOf(webhook), auditedOf(after), ['url', 'events', 'filter', 'skipOwn', 'paused']),
    };
    await recordAudit(context, { action: 'webhook.changed', target: targetOf(after), changes });
    return after;
  });
}

/** Locks an active subscription until the end of the transaction and returns it. @throws ApiError NOT_FOUND */
async function lockActive(db: TenantClient, id: number): Promise<WebhookRow> {
  const row = (await lockRow(db, 'webhook_subscriptions', id))
    ? await db.webhookSubscription.findFirst({ where: { id, ...known } })
    : null;
  if (row === null) throw notFound('webhook subscription');
  if (!row.active) throw deactivatedSubscription();
  return row;
}

/** Returns the columns that a patch changes, with their new values. */
async function toChangedColumns(
  { db, keyId, secretCipher }: Context & Partial<UserContext>,
  before: WebhookRow,
  { url, secret, events, filter, skipOwn, paused }: WebhookPatch,
): Promise<Prisma.WebhookSubscriptionUncheckedUpdateManyInput> {
  const owner = { tenantId: db.$tenantId, subscriptionId: before.id };
  const uniqueEvents = events && [...new Set(events)];
  const hasNewUrl = url !== undefined && url !== before.url;
  const current = tryDecrypt(secretCipher, before.secret, owner);
  const hasNewSecret = secret !== undefined && secret !== current;
  const resumes = paused === false && (before.pausedAt !== null || before.openUntil !== null || before.failures > 0);
  return {
    ...(hasNewUrl && { url, firstSucceededAt: null }),
    ...(hasNewSecret && {
      secret: secretCipher.encrypt(secret, owner),
      previousSecret: current === undefined ? null : new Uint8Array(before.secret),
      previousSecretUntil: current === undefined ? null : await inHours(db, secretOverlapHours),
    }),
    ...(uniqueEvents && !isDeepStrictEqual(uniqueEvents, before.events) && { events: uniqueEvents }),
    ...(filter !== undefined && !isDeepStrictEqual(filter, before.filter) && { filter: filter ?? dbNull }),
    ...(skipOwn !== undefined && skipOwn !== before.skipOwn && { skipOwn }),
    // If a subscription was created in the developer area or on the command line, it has no API key. `skipOwn` needs an
    // API key to recognize the subscriber's own changes.
    ...(skipOwn === true && before.keyId === null && keyId !== undefined && { keyId }),
    ...(resumes || (hasNewUrl && !before.held) ? healthy : {}),
    ...(paused === true && !before.held && { held: true }),
  };
}

/**
 * Decrypts a signing secret. Returns undefined if the decryption fails, for example because the encryption key was
 * removed.
 */
function tryDecrypt(cipher: SecretCipher, secret: Uint8Array, owner: SubscriptionRef): string | undefined {
  try {
    return cipher.decrypt(secret, owner);
  } catch {
    return undefined;
  }
}

/**
 * Returns the current values of all columns that a patch can change. Every patch writes all of these columns, so all
 * patches use one prepared statement.
 */
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
      filter: filter ?? dbNull,
      skipOwn,
      keyId,
      held,
      firstSucceededAt,
    },
    ...{ failures, failingSince, openUntil, openings, pausedAt, pausedReason },
  };
}

/** The values of the health columns for a subscription without failures (webhooks/delivery/circuit-breaker.ts). */
const healthy = {
  held: false,
  failures: 0,
  failingSince: null,
  openUntil: null,
  openings: 0,
  pausedAt: null,
  pausedReason: null,
} as const;

/** Adds a dispatch job for a subscription, and wakes the workers after the commit. */
async function notifyWorkers({ db, dispatchJobs, afterCommit, wakeWorkers }: Context & Transaction, id: bigint) {
  await dispatchJobs.addWithin(db, [{ tenantId: db.$tenantId, subscriptionId: id }]);
  afterCommit(wakeWorkers);
}

/**
 * Starts a replay for an active subscription. The workers process it later, so the cost of the request doesn't depend
 * on the number of deliveries. `getReplay` returns the progress. An open circuit becomes half-open, so that a worker
 * sends one delivery immediately.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if too many replays are in progress
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
    // Processes PENDING deliveries first, because the replay changes the status of all other deliveries to PENDING.
    const ordered = states.toSorted((a, b) => Number(b === 'PENDING') - Number(a === 'PENDING'));
    const replayId = await insertReplay(db, { subscriptionId: id, since, states: ordered });
    if (await halfOpen(db, [subscriptionId])) {
      await notifyWorkers(context, subscriptionId);
    }
    return { id: serializeId(replayId), webhookId: id, since, states, matching, paused: held };
  });
}

/** The progress of a replay of a subscription's deliveries. */
export interface ReplayProgress {
  id: number;
  webhookId: number;
  since: string;
  requestedAt: string;
  /** The number of matching deliveries, at most `maxDeliveriesCounted`. Null until a worker has counted them. */
  matching: number | null;
  sent: number;
  /**
   * When the replay finished, or null while it is in progress. A nightly job deletes replays that finished more than a
   * day ago.
   */
  finishedAt: string | null;
}

/** Returns one replay of a subscription. @throws ApiError NOT_FOUND */
export async function getReplay({ db }: Context, webhookId: number, id: number): Promise<ReplayProgress> {
  const row = await db.webhookReplay.findFirst({ where: { id, subscriptionId: webhookId } });
  if (row === null) throw notFound('replay');
  return presentReplay(row);
}

/** Returns up to `limit` replays of a subscription, newest first. */
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
    requestedAt: serializeTimestamp(row.requestedAt),
    ...{ matching, sent },
    finishedAt: serializeTimestamp(row.finishedAt),
  };
}

/**
 * Deactivates a webhook subscription. A repeated call has no effect (spec §3). The workers cancel pending deliveries
 * later, so the cost of the request doesn't depend on the number of deliveries.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED
 */
export function deleteWebhook(context: Context, id: number): Promise<TrackedWebhook> {
  return transaction(context, async (context) => {
    const { db, ifMatch, now } = context;
    if (!(await lockRow(db, 'webhook_subscriptions', id))) throw notFound('webhook subscription');
    const current = await db.webhookSubscription.findFirst({ where: { id, ...known } });
    if (current === null) throw notFound('webhook subscription');
    requireMatch(ifMatch, presentWebhook(current, now()));
    const where = { id, active: true };
    const [row] = await db.webhookSubscription.updateManyAndReturn({ where, data: { active: false } });
    if (row !== undefined) await recordAudit(context, { action: 'webhook.deleted', target: targetOf({ id }) });
    return presentWebhook(row ?? current, now());
  });
}

/**
 * Reactivates a webhook subscription and resets its health. The subscription gets new events and any pending deliveries
 * that no worker has canceled yet. A repeated call has no effect. API v1 has no endpoint for this function. @throws
 * ApiError NOT_FOUND, or VALIDATION_ERROR if the workspace has too many active subscriptions, the target policy rejects
 * the URL, or the server can't decrypt the secret
 */
export function activateWebhook(context: Context, id: number): Promise<TrackedWebhook> {
  return transaction(context, async (context) => {
    const { db, now } = context;
    if (!(await lockRow(db, 'webhook_subscriptions', id))) throw notFound('webhook subscription');
    const before = await getWebhook(context, id);
    if (before.active) return before;
    context.targets.checkUrl(before.url);
    await checkSecretReadable(context, id);
    await checkActiveLimit(db);
    const data = { active: true, ...healthy };
    const [row] = await db.webhookSubscription.updateManyAndReturn({ where: { id }, data });
    if (row === undefined) throw notFound('webhook subscription');
    await recordAudit(context, { action: 'webhook.activated', target: targetOf({ id }) });
    return presentWebhook(row, now());
  });
}

/**
 * Checks that the server can decrypt a subscription's signing secret, because a process doesn't start if it can't
 * decrypt the secret of an active subscription.
 * @throws ApiError VALIDATION_ERROR
 */
async function checkSecretReadable({ db, secretCipher }: Context, id: number): Promise<void> {
  const { secret } = await db.webhookSubscription.findFirstOrThrow({ where: { id } });
  if (tryDecrypt(secretCipher, secret, { tenantId: db.$tenantId, subscriptionId: BigInt(id) }) !== undefined) return;
  const message =
    "The signing secret can't be decrypted, because its encryption key was removed. Register a new subscription.";
  throw new ApiError('VALIDATION_ERROR', message);
}

/** Serializes a webhook subscription for API responses. Includes its current health, but not its secret. */
function presentWebhook(row: WebhookRow, now: Date): TrackedWebhook {
  const { health, healthReason, nextAttemptAt, pausedAt, pausedReason } = presentHealth(row, now);
  const timestamps = {
    nextAttemptAt: serializeTimestamp(nextAttemptAt),
    lastSuccessAt: serializeTimestamp(row.lastSuccessAt),
    lastFailureAt: serializeTimestamp(row.lastFailureAt),
    pausedAt: serializeTimestamp(pausedAt),
  };
  const webhook = {
    id: serializeId(row.id),
    url: row.url,
    // Omits event types that only a later release supports (docs/decisions/schema-migrations.md).
    events: row.events.filter((event): event is EventType => Object.hasOwn(events, event)),
    filter: row.filter,
    skipOwn: row.skipOwn,
    active: row.active,
    ...{ health, healthReason },
    ...timestamps,
    pausedReason,
    ...serializeTimestamps(row),
  };
  return withEtag(row.version, webhook, Object.values(timestamps));
}
