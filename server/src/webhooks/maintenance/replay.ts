import type { Prisma } from '../../../generated/prisma/client.ts';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { notInMaintenanceSql } from '../../database/tenant-maintenance.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { SubscriptionRef } from '../subscription-ref.ts';

/**
 * Resets deliveries to PENDING with all retries, and keeps their ids and earlier attempts. Skips deliveries that a
 * worker is sending. Locks the rows in the order of their ids, and waits for rows that another transaction has locked.
 * @param only restricts the reset to deliveries with this status; settled deliveries must also have been settled by the
 * time `settledBy`
 * @returns the subscription of each delivery that was reset
 */
export function sendAgain(
  client: Pick<PrismaClient, '$queryRaw'>,
  { tenantId, ids, only }: { tenantId: TenantId; ids: bigint[]; only?: { state: string; settledBy: Date } },
): Promise<{ subscriptionId: bigint }[]> {
  return client.$queryRaw`
    UPDATE deliveries SET state = 'PENDING', attempts = 0, lost = 0, next_attempt_at = now(), settled_at = NULL
    WHERE tenant_id = ${tenantId} AND id = ANY (ARRAY(
      SELECT id FROM deliveries WHERE tenant_id = ${tenantId} AND id = ANY (${ids}::bigint[]) AND claim IS NULL
        AND (${only === undefined} OR state = ${only?.state ?? null}
          AND (state = 'PENDING' OR settled_at <= ${only?.settledBy ?? null}::timestamptz))
      ORDER BY id FOR NO KEY UPDATE))
    RETURNING subscription_id AS "subscriptionId"`;
}

/** A replay in progress. */
interface Replay extends SubscriptionRef {
  id: bigint;
  since: Date;
  requestedAt: Date;
  /**
   * The statuses that the replay still has to process. `afterId` is the id of the last processed delivery with the
   * first of these statuses.
   */
  states: string[];
  afterId: bigint;
  /** Whether a worker has counted the matching deliveries. */
  isCounted: boolean;
}

/** The maximum number of deliveries that the worker processes in one transaction. */
const batchSize = 1000;

/** The maximum number of deliveries per status that the worker checks to estimate the size of a replay. */
export const maxDeliveriesCounted = 100_000;

/**
 * Processes one batch of the next replay: resets the matching deliveries and stores the progress, in one transaction.
 * If the worker stops before the commit, another worker repeats the batch. If the batch fails, the replay moves to the
 * end of the queue.
 *
 * Excludes deliveries that were settled after the client requested the replay. A replay therefore resets each delivery
 * at most once.
 * @returns the subscription of the reset deliveries, null if no delivery was reset, or undefined if there is no replay
 */
export async function replaySome(
  prisma: PrismaClient,
  { maxCounted = maxDeliveriesCounted } = {},
): Promise<SubscriptionRef | null | undefined> {
  let replay = undefined as Replay | undefined;
  try {
    return await prisma.$transaction(async (tx) => {
      replay = await lockNext(tx);
      if (replay === undefined) return undefined;
      if (!replay.isCounted) await count(tx, replay, maxCounted);
      return await replayBatch(tx, replay);
    });
  } catch (error) {
    // If the database is unreachable, the move also fails, and the replay keeps its position in the queue.
    if (replay !== undefined) await moveToEnd(prisma, replay).catch(() => undefined);
    throw error;
  }
}

async function replayBatch(tx: Prisma.TransactionClient, replay: Replay): Promise<SubscriptionRef | null> {
  const { tenantId, subscriptionId, since, requestedAt } = replay;
  const [state = ''] = replay.states;
  const found = await readBatch(tx, replay);
  // Pending deliveries have no `settledAt`, so the filter uses their `createdAt`.
  const ids = found
    .filter(({ createdAt, settledAt }) => createdAt >= since && (settledAt ?? createdAt) <= requestedAt)
    .map(({ id }) => id);
  const sent = ids.length > 0 ? await sendAgain(tx, { tenantId, ids, only: { state, settledBy: requestedAt } }) : [];
  await advance(tx, replay, { sent: sent.length, ...(found.length === batchSize && { afterId: found.at(-1)?.id }) });
  return sent.length > 0 ? { tenantId, subscriptionId } : null;
}

/**
 * Locks and returns the next replay, so only one worker processes it. Chooses the tenant that has waited the longest
 * since its last batch. A tenant with many replays therefore gets no advantage. Replays of inactive tenants and of
 * tenants in maintenance wait.
 *
 * If the subscription is inactive, the returned replay has no statuses, so it finishes immediately.
 */
async function lockNext(tx: Prisma.TransactionClient): Promise<Replay | undefined> {
  const [found] = await tx.$queryRaw<Replay[]>`
    SELECT r.tenant_id AS "tenantId", r.id, r.subscription_id AS "subscriptionId", r.since, r.requested_at AS "requestedAt",
      CASE WHEN s.active THEN r.states ELSE '{}' END AS states, r.after_id AS "afterId",
      r.matching IS NOT NULL AS "isCounted"
    FROM webhook_replays r JOIN webhook_subscriptions s ON s.tenant_id = r.tenant_id AND s.id = r.subscription_id
    JOIN tenants t ON t.id = r.tenant_id AND t.active AND ${notInMaintenanceSql}
    WHERE r.finished_at IS NULL
    ORDER BY (
      SELECT max(o.worked_at) FROM webhook_replays o WHERE o.tenant_id = r.tenant_id AND o.finished_at IS NULL
    ), r.worked_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED`;
  return found;
}

/**
 * Counts the matching deliveries and stores the number. The worker counts them, because the request that creates the
 * replay must not wait. Checks at most `maxCounted` deliveries per status to stay within the statement timeout.
 */
async function count(
  tx: Prisma.TransactionClient,
  { tenantId, id, subscriptionId, states, since, requestedAt }: Replay,
  maxCounted: number,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE webhook_replays SET matching = (
      SELECT least(count(*), ${maxCounted}::int) FROM unnest(${states}::text[]) AS wanted (state) CROSS JOIN LATERAL (
        SELECT created_at, settled_at FROM deliveries
        WHERE tenant_id = ${tenantId} AND subscription_id = ${subscriptionId} AND state = wanted.state
        ORDER BY id DESC LIMIT ${maxCounted}::int
      ) d WHERE created_at >= ${since} AND coalesce(settled_at, created_at) <= ${requestedAt})
    WHERE tenant_id = ${tenantId} AND id = ${id}`;
}

/** Moves a replay to the end of the queue, unless another worker has locked it. */
async function moveToEnd(prisma: PrismaClient, { tenantId, id }: Replay): Promise<void> {
  await prisma.$executeRaw`
    UPDATE webhook_replays SET worked_at = now() WHERE (tenant_id, id) IN (
      SELECT tenant_id, id FROM webhook_replays
      WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE SKIP LOCKED)`;
}

interface ReplayedDelivery {
  id: bigint;
  createdAt: Date;
  settledAt: Date | null;
}

async function readBatch(
  tx: Prisma.TransactionClient,
  { tenantId, subscriptionId, states: [state], afterId }: Replay,
): Promise<ReplayedDelivery[]> {
  if (state === undefined) return [];
  return tx.$queryRaw`
    SELECT id, created_at AS "createdAt", settled_at AS "settledAt" FROM deliveries
    WHERE tenant_id = ${tenantId} AND subscription_id = ${subscriptionId} AND state = ${state} AND id > ${afterId}
    ORDER BY id LIMIT ${batchSize}`;
}

/**
 * Stores the progress of a replay. After the last status, finishes the replay.
 * @param afterId the delivery after which the replay continues; if undefined, the replay continues with the next status
 */
async function advance(
  tx: Prisma.TransactionClient,
  { tenantId, id, states }: Replay,
  { sent, afterId }: { sent: number; afterId?: bigint | undefined },
): Promise<void> {
  const left = afterId === undefined ? states.slice(1) : states;
  await tx.$executeRaw`
    UPDATE webhook_replays SET states = ${left}, after_id = ${afterId ?? 0n}, sent = sent + ${sent}::int, worked_at = now(),
      finished_at = CASE WHEN ${left.length === 0} THEN now() END
    WHERE tenant_id = ${tenantId} AND id = ${id}`;
}
