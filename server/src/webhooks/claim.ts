import { randomUUID } from 'node:crypto';
import type { Prisma } from '../database/generated/client.ts';
import type { PrismaClient } from '../database/prisma.ts';
import { batch } from './batch.ts';
import { circuitOf } from './health.ts';
import { claimLease } from './schedule.ts';
import { refKey, type SubscriptionRef } from './subscription-ref.ts';

/** A delivery that this process may attempt now, and nobody else. */
export interface ClaimedDelivery extends SubscriptionRef {
  id: bigint;
  /** What settling it must present: another worker's claim has another. */
  claim: string;
  /** When it was claimed, by the clock of the database: that is when its attempt counts as begun. */
  claimedAt: Date;
  /** Since when it was due, by `performance.now()` of this process. */
  dueSince: number;
  /** Which attempt this is, from 1. */
  attempt: number;
  /** How many of those before ended with their worker. */
  lost: number;
  /** Whether it is the one that is tried while the circuit is half-open. */
  probe: boolean;
  url: string;
  /** Encrypted. */
  secret: Uint8Array;
  /** The one before, while it signs, too. */
  previousSecret: Uint8Array | null;
  eventId: string;
  eventType: string;
  body: string;
  /** What its event was written in, as a `traceparent`; null where nobody traced. */
  traceParent: string | null;
}

/** A subscription and how many deliveries to it may be taken. */
export interface Wanted extends SubscriptionRef {
  slots: number;
}

/** What a claim has to know of a subscription. */
interface Subscription extends SubscriptionRef {
  url: string;
  secret: Uint8Array;
  previousSecret: Uint8Array | null;
  openUntil: Date | null;
  now: Date;
}

/** A due delivery as it is taken. */
type Taken = SubscriptionRef &
  Pick<ClaimedDelivery, 'id' | 'attempt' | 'lost' | 'eventId' | 'eventType' | 'body' | 'traceParent'> & {
    dueAt: Date;
    /** When it had been taken before, where the worker that had it never settled it. */
    lostAt: Date | null;
  };

/**
 * Takes due deliveries, at most so many to each subscription, for `claimLease` and in one short transaction: none where
 * subscription or tenant is inactive or the circuit is open, and one to be the probe where it is half-open.
 * An attempt that was begun and never settled is recorded as lost here.
 */
export function claimDue(prisma: PrismaClient, wanted: Wanted[]): Promise<ClaimedDelivery[]> {
  const claim = randomUUID();
  const asked = performance.now();
  return prisma.$transaction(async (tx) => {
    const subscriptions = new Map((await readActive(tx, wanted)).map((row) => [refKey(row), row]));
    const circuitAt = (ref: SubscriptionRef) => {
      const found = subscriptions.get(refKey(ref));
      return found && circuitOf(found, found.now);
    };
    const probed = await lockHalfOpen(
      tx,
      wanted.filter((each) => circuitAt(each) === 'half-open'),
    );
    const taken = await takeDue(tx, claim, [
      ...wanted.filter((each) => circuitAt(each) === 'closed'),
      ...probed.map((each) => ({ ...each, slots: 1 })),
    ]);

    const probes = new Set(probed.map(refKey));
    await holdOpen(
      tx,
      probed.filter((each) => taken.some((delivery) => refKey(delivery) === refKey(each))),
    );
    await recordLost(tx, taken);
    return taken.flatMap(({ lostAt: _, dueAt, ...delivery }) => {
      const found = subscriptions.get(refKey(delivery));
      if (found === undefined) return [];
      const { url, secret, previousSecret, now } = found;
      const dueSince = asked - (now.getTime() - dueAt.getTime());
      const probe = probes.has(refKey(delivery));
      return [{ ...delivery, claim, claimedAt: now, dueSince, probe, url, secret, previousSecret }];
    });
  });
}

/** The active ones of active tenants, as they are now. */
function readActive(tx: Prisma.TransactionClient, refs: SubscriptionRef[]): Promise<Subscription[]> {
  return tx.$queryRaw`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", s.url, s.secret,
      CASE WHEN s.previous_secret_until > now() THEN s.previous_secret END AS "previousSecret",
      s.open_until AS "openUntil", now() AS now
    FROM json_to_recordset(${batch(refs)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint)
    JOIN webhook_subscriptions s ON s.tenant_id = w."tenantId" AND s.id = w."subscriptionId" AND s.active
    JOIN tenants t ON t.id = s.tenant_id AND t.active`;
}

/** Those that are half-open still, each for one worker at a time. */
async function lockHalfOpen(tx: Prisma.TransactionClient, refs: SubscriptionRef[]): Promise<SubscriptionRef[]> {
  if (refs.length === 0) return [];
  return tx.$queryRaw`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId"
    FROM json_to_recordset(${batch(refs)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint)
    JOIN webhook_subscriptions s ON s.tenant_id = w."tenantId" AND s.id = w."subscriptionId"
    WHERE s.active AND s.open_until <= now()
    FOR NO KEY UPDATE OF s SKIP LOCKED`;
}

/**
 * What has been due for longest, as far as nobody else is taking it. The limit over all leaves nothing out: PostgreSQL
 * takes those of each, which it can't know beforehand, for a tenth of all that waits, and would read the whole table.
 */
async function takeDue(tx: Prisma.TransactionClient, claim: string, wanted: Wanted[]): Promise<Taken[]> {
  if (wanted.length === 0) return [];
  return tx.$queryRaw`
    WITH due AS MATERIALIZED (
      SELECT d.*
      FROM json_to_recordset(${batch(wanted)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint, slots int)
      CROSS JOIN LATERAL (
        SELECT tenant_id, id, event_id, next_attempt_at AS due_at,
          CASE WHEN claim IS NOT NULL THEN next_attempt_at END AS lease_end FROM deliveries
        WHERE tenant_id = w."tenantId" AND subscription_id = w."subscriptionId"
          AND state = 'PENDING' AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT w.slots
        FOR NO KEY UPDATE SKIP LOCKED
      ) d
      LIMIT ${wanted.reduce((sum, { slots }) => sum + slots, 0)}
    )
    UPDATE deliveries d
    SET attempts = d.attempts + 1, lost = d.lost + (due.lease_end IS NOT NULL)::int,
      claim = ${claim}::uuid, next_attempt_at = now() + ${claimLease}::int * interval '1 millisecond'
    FROM due JOIN events e ON e.tenant_id = due.tenant_id AND e.id = due.event_id
    WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.tenant_id AS "tenantId", d.id, d.subscription_id AS "subscriptionId", d.attempts AS attempt, d.lost,
      e.public_id AS "eventId", e.type AS "eventType", e.body,
      e.trace_parent AS "traceParent", due.due_at AS "dueAt",
      due.lease_end - ${claimLease}::int * interval '1 millisecond' AS "lostAt"`;
}

/** Keeps the circuit open for all others while the probe is under way, and no longer if it is lost. */
async function holdOpen(tx: Prisma.TransactionClient, refs: SubscriptionRef[]): Promise<void> {
  if (refs.length === 0) return;
  await tx.$executeRaw`
    UPDATE webhook_subscriptions s SET open_until = now() + ${claimLease}::int * interval '1 millisecond'
    FROM json_to_recordset(${batch(refs)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint)
    WHERE s.tenant_id = w."tenantId" AND s.id = w."subscriptionId"`;
}

async function recordLost(tx: Prisma.TransactionClient, taken: Taken[]): Promise<void> {
  const lost = taken.flatMap(({ tenantId, id, attempt, lostAt }) =>
    lostAt === null ? [] : [{ tenantId, id, number: attempt - 1, startedAt: lostAt }],
  );
  if (lost.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, error)
    SELECT "tenantId", id, number, "startedAt", ${claimLease}, 'the worker was lost'
    FROM json_to_recordset(${batch(lost)}::text::json)
      AS l ("tenantId" bigint, id bigint, number int, "startedAt" timestamptz)`;
}
