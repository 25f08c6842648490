import type { SystemClient } from '../../database/client/prisma.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { allTenants, command, type None, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { notInMaintenance } from '../../database/tenant-maintenance.ts';
import type { SubscriptionRef } from '../subscription-ref.ts';

/** The parameters of a reset. `state` and `settledBy` are null if it isn't restricted to a status. */
type Reset = { ids: bigint[]; state: string | null; settledBy: Date | null };

const resetDeliveries = rows<Reset, { subscriptionId: bigint }>(
  ({ ids, state, settledBy }) => sql`
    UPDATE deliveries SET state = 'PENDING', attempts = 0, lost = 0, next_attempt_at = now(), settled_at = NULL
    WHERE tenant_id = ${tenant} AND id = ANY (ARRAY(
      SELECT id FROM deliveries WHERE tenant_id = ${tenant} AND id = ANY (${ids}::bigint[]) AND claim IS NULL
        AND (${state}::text IS NULL OR state = ${state}
          AND (state = 'PENDING' OR settled_at <= ${settledBy}::timestamptz))
      ORDER BY id FOR NO KEY UPDATE))
    RETURNING subscription_id AS "subscriptionId"`,
);

/**
 * Resets deliveries to PENDING with all retries, and keeps their ids and earlier attempts. Skips deliveries that a
 * worker is sending. Locks the rows in the order of their ids, and waits for rows that another transaction has locked.
 * @param only restricts the reset to deliveries with this status; settled deliveries must also have been settled by the
 * time `settledBy`
 * @returns the subscription of each delivery that was reset
 */
export function sendAgain(
  db: Pick<TenantClient, '$sql'>,
  { ids, only }: { ids: bigint[]; only?: { state: string; settledBy: Date } },
): Promise<{ subscriptionId: bigint }[]> {
  return db.$sql(resetDeliveries, { ids, state: only?.state ?? null, settledBy: only?.settledBy ?? null });
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
  system: SystemClient,
  { maxCounted = maxDeliveriesCounted } = {},
): Promise<SubscriptionRef | null | undefined> {
  let replay = undefined as Replay | undefined;
  try {
    return await system.$transaction(async () => {
      [replay] = await system.$sql(lockNext);
      if (replay === undefined) return undefined;
      const db = system.$tenant(replay.tenantId);
      if (!replay.isCounted) await db.$sql(count, { ...countOf(replay), maxCounted });
      return await replayBatch(db, replay);
    });
  } catch (error) {
    // If the database is unreachable, the move also fails, and the replay keeps its position in the queue.
    if (replay !== undefined) {
      await system
        .$tenant(replay.tenantId)
        .$sql(moveToEnd, { id: replay.id })
        .catch(() => undefined);
    }
    throw error;
  }
}

async function replayBatch(db: TenantClient, replay: Replay): Promise<SubscriptionRef | null> {
  const { tenantId, subscriptionId, since, requestedAt } = replay;
  const { id, states, afterId } = replay;
  const [state = ''] = states;
  const found = states.length === 0 ? [] : await db.$sql(readBatch, { subscriptionId, state, afterId });
  // Pending deliveries have no `settledAt`, so the filter uses their `createdAt`.
  const ids = found
    .filter(({ createdAt, settledAt }) => createdAt >= since && (settledAt ?? createdAt) <= requestedAt)
    .map(({ id }) => id);
  const sent = ids.length > 0 ? await sendAgain(db, { ids, only: { state, settledBy: requestedAt } }) : [];
  const last = found.length === batchSize ? found.at(-1)?.id : undefined;
  const left = last === undefined ? states.slice(1) : states;
  await db.$sql(advance, { id, states: left, afterId: last ?? 0n, sent: sent.length, isDone: left.length === 0 });
  return sent.length > 0 ? { tenantId, subscriptionId } : null;
}

/**
 * Locks and selects the next replay, so only one worker processes it. Chooses the tenant that has waited the longest
 * since its last batch. A tenant with many replays therefore gets no advantage. Replays of inactive tenants and of
 * tenants in maintenance wait.
 *
 * If the subscription is inactive, the returned replay has no statuses, so it finishes immediately.
 */
const lockNext = allTenants.rows<None, Replay>(
  () => sql`
    SELECT r.tenant_id AS "tenantId", r.id, r.subscription_id AS "subscriptionId", r.since, r.requested_at AS "requestedAt",
      CASE WHEN s.active THEN r.states ELSE '{}' END AS states, r.after_id AS "afterId",
      r.matching IS NOT NULL AS "isCounted"
    FROM webhook_replays r JOIN webhook_subscriptions s ON s.tenant_id = r.tenant_id AND s.id = r.subscription_id
    JOIN tenants t ON t.id = r.tenant_id AND t.active AND ${notInMaintenance}
    WHERE r.finished_at IS NULL
    ORDER BY (
      SELECT max(o.worked_at) FROM webhook_replays o WHERE o.tenant_id = r.tenant_id AND o.finished_at IS NULL
    ), r.worked_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED`,
);

/**
 * Counts the matching deliveries and stores the number. The worker counts them, because the request that creates the
 * replay must not wait. Checks at most `maxCounted` deliveries per status to stay within the statement timeout.
 */
const count = command<ReplayRange & { maxCounted: number }>(
  ({ id, subscriptionId, states, since, requestedAt, maxCounted }) => sql`
    UPDATE webhook_replays SET matching = (
      SELECT least(count(*), ${maxCounted}::int) FROM unnest(${states}::text[]) AS wanted (state) CROSS JOIN LATERAL (
        SELECT created_at, settled_at FROM deliveries
        WHERE tenant_id = ${tenant} AND subscription_id = ${subscriptionId} AND state = wanted.state
        ORDER BY id DESC LIMIT ${maxCounted}::int
      ) d WHERE created_at >= ${since} AND coalesce(settled_at, created_at) <= ${requestedAt})
    WHERE tenant_id = ${tenant} AND id = ${id}`,
);

/** The values of a replay that `count` needs. */
type ReplayRange = Pick<Replay, 'id' | 'subscriptionId' | 'states' | 'since' | 'requestedAt'>;

function countOf({ id, subscriptionId, states, since, requestedAt }: Replay): ReplayRange {
  return { id, subscriptionId, states, since, requestedAt };
}

/** Moves a replay to the end of the queue, unless another worker has locked it. */
const moveToEnd = command<{ id: bigint }>(
  ({ id }) => sql`
    UPDATE webhook_replays SET worked_at = now() WHERE (tenant_id, id) IN (
      SELECT tenant_id, id FROM webhook_replays
      WHERE tenant_id = ${tenant} AND id = ${id} FOR UPDATE SKIP LOCKED)`,
);

interface ReplayedDelivery {
  id: bigint;
  createdAt: Date;
  settledAt: Date | null;
}

const readBatch = rows<{ subscriptionId: bigint; state: string; afterId: bigint }, ReplayedDelivery>(
  ({ subscriptionId, state, afterId }) => sql`
    SELECT id, created_at AS "createdAt", settled_at AS "settledAt" FROM deliveries
    WHERE tenant_id = ${tenant} AND subscription_id = ${subscriptionId} AND state = ${state} AND id > ${afterId}
    ORDER BY id LIMIT ${batchSize}`,
);

/** Stores the progress of a replay: the remaining statuses, and the delivery after which the replay continues. */
const advance = command<{ id: bigint; states: string[]; afterId: bigint; sent: number; isDone: boolean }>(
  ({ id, states, afterId, sent, isDone }) => sql`
    UPDATE webhook_replays SET states = ${states}, after_id = ${afterId}, sent = sent + ${sent}::int, worked_at = now(),
      finished_at = CASE WHEN ${isDone} THEN now() END
    WHERE tenant_id = ${tenant} AND id = ${id}`,
);
