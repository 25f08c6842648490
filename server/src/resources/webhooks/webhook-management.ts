import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type CreatedWebhook,
  maxActiveWebhooks,
  type NewWebhook,
  secretOverlapHours,
  type Webhook,
  type WebhookPatch,
} from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { dbNull } from '../../database/client/json-column.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockRow, lockTenant } from '../../database/row-lock.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import { requireMatch } from '../../shared/etag.ts';
import { checkAll } from '../../shared/validation.ts';
import { newSecret } from '../../webhooks/secrets/new-secret.ts';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';
import type { SubscriptionRef } from '../../webhooks/subscription-ref.ts';
import { auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction, type UserContext } from '../shared/context.ts';
import { checkFilter } from './filter.ts';
import {
  countActiveWebhooks,
  getWebhook,
  known,
  lockActive,
  presentWebhook,
  type TrackedWebhook,
  type WebhookRow,
} from './queries.ts';
import { inHours, newSubscriptionId } from './sql.ts';
import { notifyWorkers } from './webhook-replays.ts';

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
export const healthy = {
  held: false,
  failures: 0,
  failingSince: null,
  openUntil: null,
  openings: 0,
  pausedAt: null,
  pausedReason: null,
} as const;

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
