import { EventType, maxActiveWebhooks, type NewWebhook, type Webhook, type WebhookQuery } from '@itsm-api/contract';
import { type Context, transaction } from '../../context.ts';
import type { Prisma } from '../../database/generated/client.ts';
import { lockRow, lockTenant } from '../../database/lock.ts';
import { requireMatch, withVersion } from '../../entity-tag.ts';
import { ApiError, notFound } from '../../errors.ts';
import { presentId, presentTimestamp, presentTimestamps } from '../../present.ts';
import { type Page, readPage } from '../lists.ts';
import { newSubscriptionId } from './subscription-id.ts';

type WebhookRow = Prisma.WebhookSubscriptionGetPayload<object>;

/** A page of active subscriptions, newest first (spec §4). */
export function listWebhooks({ db }: Context, query: WebhookQuery): Promise<Page<Webhook>> {
  const where = { active: true };
  return readPage(query, {
    count: () => db.webhookSubscription.count({ where }),
    find: async (range) => {
      const rows = await db.webhookSubscription.findMany({ where, orderBy: { id: 'desc' }, ...range });
      return rows.map(presentWebhook);
    },
  });
}

/** One subscription, active or not. @throws ApiError NOT_FOUND */
export async function getWebhook({ db }: Context, id: number): Promise<Webhook> {
  const row = await db.webhookSubscription.findFirst({ where: { id } });
  if (row === null) throw notFound('webhook subscription');
  return presentWebhook(row);
}

/**
 * Registers a subscription; its secret is encrypted before it is stored (docs/decisions/webhook-subscriptions.md).
 * @throws ApiError VALIDATION_ERROR for a URL that deliveries may not go to, or when there are too many
 */
export function createWebhook(context: Context, input: NewWebhook): Promise<Webhook> {
  context.targets.checkUrl(input.url);
  return transaction(context, async ({ db, secretCipher }) => {
    await lockTenant(db, 'webhookCount');
    if ((await db.webhookSubscription.count({ where: { active: true } })) >= maxActiveWebhooks) {
      const message = `This workspace has ${maxActiveWebhooks} active webhook subscriptions, the most it may have; delete one first.`;
      throw new ApiError('VALIDATION_ERROR', message);
    }
    const id = await newSubscriptionId(db);
    const row = await db.webhookSubscription.create({
      data: {
        id,
        url: input.url,
        secret: secretCipher.encrypt(input.secret, { tenantId: db.$tenantId, subscriptionId: id }),
        events: [...new Set(input.events)],
      },
    });
    return presentWebhook(row);
  });
}

/**
 * Deactivates a subscription; again when repeated (spec §3). From then on nothing is sent to it: what waits is left to
 * the workers, who cancel it, so that this costs the same however much there is.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED
 */
export function deleteWebhook(context: Context, id: number): Promise<Webhook> {
  return transaction(context, async ({ db, ifMatch }) => {
    if (!(await lockRow(db, 'webhook_subscriptions', id))) throw notFound('webhook subscription');
    const current = await db.webhookSubscription.findFirst({ where: { id } });
    if (current === null) throw notFound('webhook subscription');
    requireMatch(ifMatch, presentWebhook(current));
    const where = { id, active: true };
    const [row] = await db.webhookSubscription.updateManyAndReturn({ where, data: { active: false } });
    return presentWebhook(row ?? current);
  });
}

/** A subscription as the API answers it, without its secret. */
export function presentWebhook(row: WebhookRow): Webhook {
  return withVersion(row.version, {
    id: presentId(row.id),
    url: row.url,
    events: row.events.map((event) => EventType.parse(event)),
    active: row.active,
    lastSuccessAt: presentTimestamp(row.lastSuccessAt),
    lastFailureAt: presentTimestamp(row.lastFailureAt),
    pausedAt: presentTimestamp(row.pausedAt),
    pausedReason: row.pausedReason,
    ...presentTimestamps(row),
  });
}
