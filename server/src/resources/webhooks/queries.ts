import { EventType, events, type Webhook, type WebhookQuery } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockRow } from '../../database/row-lock.ts';
import { deactivatedSubscription, notFound, requireRow } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamp, serializeTimestamps } from '../../shared/serialize.ts';
import { presentHealth } from '../../webhooks/delivery/circuit-breaker.ts';
import type { Context } from '../shared/context.ts';
import { type Page, readPage } from '../shared/lists.ts';

export type WebhookRow = Prisma.WebhookSubscriptionGetPayload<object>;

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
export const known = { events: { hasSome: [...EventType.options] } };

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
  const row = requireRow(await db.webhookSubscription.findFirst({ where: { id, ...known } }), 'webhook subscription');
  return presentWebhook(row, now());
}

/** Returns the number of active subscriptions of the workspace. */
export function countActiveWebhooks({ db }: Pick<Context, 'db'>): Promise<number> {
  return db.webhookSubscription.count({ where: { active: true } });
}

/** Serializes a webhook subscription for API responses. Includes its current health, but not its secret. */
export function presentWebhook(row: WebhookRow, now: Date): TrackedWebhook {
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

/** Locks an active subscription until the end of the transaction and returns it. @throws ApiError NOT_FOUND */
export async function lockActive(db: TenantClient, id: number): Promise<WebhookRow> {
  const row = (await lockRow(db, 'webhook_subscriptions', id))
    ? await db.webhookSubscription.findFirst({ where: { id, ...known } })
    : null;
  if (row === null) throw notFound('webhook subscription');
  if (!row.active) throw deactivatedSubscription();
  return row;
}
