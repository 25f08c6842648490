import {
  type DeliveryState,
  maxCountedReplay,
  maxReplays,
  type WebhookReplay,
  type WebhookReplayStarted,
} from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { ApiError, requireRow } from '../../shared/errors.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import { halfOpen } from '../../webhooks/delivery/circuit-breaker.ts';
import { countMadeSince } from '../deliveries/sql.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { lockActive } from './queries.ts';
import { insertReplay } from './sql.ts';

/** Adds a dispatch job for a subscription, and wakes the workers after the commit. */
export async function notifyWorkers({ db, dispatchJobs, afterCommit, wakeWorkers }: Context & Transaction, id: bigint) {
  await dispatchJobs.addWithin([{ tenantId: db.$tenantId, subscriptionId: id }]);
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
  const row = requireRow(await db.webhookReplay.findFirst({ where: { id, subscriptionId: webhookId } }), 'replay');
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
