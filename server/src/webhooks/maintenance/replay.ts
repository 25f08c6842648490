import type { Prisma } from '../../../generated/prisma/client.ts';
import type { PrismaClient } from '../../database/client/prisma.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { SubscriptionRef } from '../subscription-ref.ts';

/**
 * Has deliveries sent again, as if they were new but for their id and the attempts before; those that are being sent just
 * now are left alone. Waits for whoever holds one, who may yet leave it as it was: in the order of their ids, as all do.
 * Resolves to the subscription of each that was there.
 * @param only those that are in this state still and, but for pending ones, were settled then or before: they may have been
 * sent again meanwhile
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

/** A replay that is under way, and where it has got to. */
interface Replay extends SubscriptionRef {
  id: bigint;
  since: Date;
  askedAt: Date;
  /** What is still to be looked through, and the last delivery of the first state that was looked at. */
  states: string[];
  afterId: bigint;
  /** Whether it is known how many there are to send. */
  isCounted: boolean;
}

/** How many deliveries are looked at in one transaction. */
const batchSize = 1000;

/** Of each state so many are looked at to tell how many there are to send. */
export const maxReplayCounted = 100_000;

/**
 * Goes on with the replay that has waited for longest: looks at a batch of its deliveries, has those sent again that it
 * asks for, and notes how far it has got, all in one transaction. What is killed half-way has done nothing, and is done
 * again; what was settled after the replay was asked for is not its own any more, so that none goes out twice. One that
 * fails waits until all others have had their turn.
 * Resolves to the subscription that has something due now, or null; undefined when no replay is under way.
 */
export async function replaySome(
  prisma: PrismaClient,
  { mostCounted = maxReplayCounted } = {},
): Promise<SubscriptionRef | null | undefined> {
  let replay = undefined as Replay | undefined;
  try {
    return await prisma.$transaction(async (tx) => {
      replay = await lockNext(tx);
      if (replay === undefined) return undefined;
      if (!replay.isCounted) await count(tx, replay, mostCounted);
      return await replayBatch(tx, replay);
    });
  } catch (error) {
    // Where the database is away it keeps its place.
    if (replay !== undefined) await putBehind(prisma, replay).catch(() => undefined);
    throw error;
  }
}

async function replayBatch(tx: Prisma.TransactionClient, replay: Replay): Promise<SubscriptionRef | null> {
  const { tenantId, subscriptionId, since, askedAt } = replay;
  const [state = ''] = replay.states;
  const found = await lookAt(tx, replay);
  // What is pending was not settled: it was made by then.
  const ids = found
    .filter(({ createdAt, settledAt }) => createdAt >= since && (settledAt ?? createdAt) <= askedAt)
    .map(({ id }) => id);
  const sent = ids.length > 0 ? await sendAgain(tx, { tenantId, ids, only: { state, settledBy: askedAt } }) : [];
  await advance(tx, replay, { sent: sent.length, ...(found.length === batchSize && { afterId: found.at(-1)?.id }) });
  return sent.length > 0 ? { tenantId, subscriptionId } : null;
}

/**
 * That of the tenant none of whose has had a turn for longest, however many others have. Each is one worker's at a time; that
 * of a subscription which was deactivated ends, and that of a tenant waits.
 */
async function lockNext(tx: Prisma.TransactionClient): Promise<Replay | undefined> {
  const [found] = await tx.$queryRaw<Replay[]>`
    SELECT r.tenant_id AS "tenantId", r.id, r.subscription_id AS "subscriptionId", r.since, r.asked_at AS "askedAt",
      CASE WHEN s.active THEN r.states ELSE '{}' END AS states, r.after_id AS "afterId",
      r.matching IS NOT NULL AS "isCounted"
    FROM webhook_replays r JOIN webhook_subscriptions s ON s.tenant_id = r.tenant_id AND s.id = r.subscription_id
    JOIN tenants t ON t.id = r.tenant_id AND t.active
    WHERE r.finished_at IS NULL
    ORDER BY (
      SELECT max(o.worked_at) FROM webhook_replays o WHERE o.tenant_id = r.tenant_id AND o.finished_at IS NULL
    ), r.worked_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED`;
  return found;
}

/**
 * Notes how many there are to send: whoever asked for it is not kept waiting for that. However many there are, no more are
 * looked at than a statement has time for.
 */
async function count(
  tx: Prisma.TransactionClient,
  { tenantId, id, subscriptionId, states, since, askedAt }: Replay,
  mostCounted: number,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE webhook_replays SET matching = (
      SELECT least(count(*), ${mostCounted}::int) FROM unnest(${states}::text[]) AS wanted (state) CROSS JOIN LATERAL (
        SELECT created_at, settled_at FROM deliveries
        WHERE tenant_id = ${tenantId} AND subscription_id = ${subscriptionId} AND state = wanted.state
        ORDER BY id DESC LIMIT ${mostCounted}::int
      ) d WHERE created_at >= ${since} AND coalesce(settled_at, created_at) <= ${askedAt})
    WHERE tenant_id = ${tenantId} AND id = ${id}`;
}

/** Has a replay wait as if it had just been worked on, unless somebody else does so already. */
async function putBehind(prisma: PrismaClient, { tenantId, id }: Replay): Promise<void> {
  await prisma.$executeRaw`
    UPDATE webhook_replays SET worked_at = now() WHERE (tenant_id, id) IN (
      SELECT tenant_id, id FROM webhook_replays
      WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE SKIP LOCKED)`;
}

interface LookedAt {
  id: bigint;
  createdAt: Date;
  settledAt: Date | null;
}

async function lookAt(
  tx: Prisma.TransactionClient,
  { tenantId, subscriptionId, states: [state], afterId }: Replay,
): Promise<LookedAt[]> {
  if (state === undefined) return [];
  return tx.$queryRaw`
    SELECT id, created_at AS "createdAt", settled_at AS "settledAt" FROM deliveries
    WHERE tenant_id = ${tenantId} AND subscription_id = ${subscriptionId} AND state = ${state} AND id > ${afterId}
    ORDER BY id LIMIT ${batchSize}`;
}

/** Goes on behind a delivery or, without one, with the next state; a replay without a state left is done. */
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
