import type { SystemClient } from '../../database/client/prisma.ts';
import { sql } from '../../database/client/sql.ts';
import { allTenants, type None } from '../../database/client/statements.ts';
import { maySend, pendingSubscriptions, sendableSince } from '../outbox/pending.ts';

/** The numbers of pending deliveries and of waiting jobs in all workspaces. */
export interface Backlog {
  /**
   * The number of deliveries that workers can send now. A subscription with a half-open circuit counts as one delivery.
   */
  due: number;
  /**
   * The number of all other pending deliveries. They are in flight or scheduled for a retry, or they wait because of a
   * circuit, a pause, or an inactive subscription or workspace.
   */
  waiting: number;
  /**
   * How many seconds the oldest due delivery has been waiting, or 0 if no delivery is due. Excludes the time while the
   * subscription's circuit was open.
   */
  oldestDueSeconds: number;
  /** The number of waiting jobs per queue. */
  jobs: Record<string, number>;
}

/** The statement timeout of `readBacklog` in milliseconds. */
const maxReadMs = 1000;

/**
 * The maximum number of deliveries that the query counts in total. The query divides this maximum equally among the
 * subscriptions, but counts up to `minPerSubscriptionCounted` deliveries of each.
 */
const maxDeliveriesCounted = 100_000;
const minPerSubscriptionCounted = 100;
/** The maximum number of waiting jobs that the query counts per queue. */
const maxJobsCounted = 10_000;

/**
 * Counts the backlog in one statement. Constants limit the duration of the statement and the numbers of rows that it
 * counts.
 */
export function readBacklog(system: SystemClient): Promise<Backlog> {
  return system.$transaction(async () => {
    await system.$sql(limitStatements);
    const [backlog] = await system.$sql(selectBacklog);
    if (backlog === undefined) throw new Error('The backlog query returned no row.');
    return backlog;
  });
}

const limitStatements = allTenants.rows<None, object>(
  () => sql`SELECT set_config('statement_timeout', ${String(maxReadMs)}, true)`,
);

const selectBacklog = allTenants.rows<None, Backlog>(
  () => sql`
  WITH RECURSIVE ${pendingSubscriptions},
  of_subscription AS (
    SELECT counted.pending, ${sendableSince(sql`counted.oldest`)} AS since,
      CASE WHEN NOT (${maySend}) THEN 0 WHEN s.open_until IS NULL THEN counted.due ELSE least(counted.due, 1) END AS due
    FROM pending
    JOIN tenants t ON t.id = pending.tenant_id
    JOIN webhook_subscriptions s ON s.tenant_id = pending.tenant_id AND s.id = pending.subscription_id
    CROSS JOIN LATERAL (
      SELECT count(*) AS pending, count(*) FILTER (WHERE next_attempt_at <= now()) AS due, min(next_attempt_at) AS oldest
      FROM (
        SELECT next_attempt_at FROM deliveries d
        WHERE d.tenant_id = pending.tenant_id AND d.subscription_id = pending.subscription_id AND d.state = 'PENDING'
        ORDER BY next_attempt_at
        LIMIT greatest(${minPerSubscriptionCounted}, ${maxDeliveriesCounted} / (SELECT count(*) FROM pending))
      ) first
    ) counted
  )
  SELECT
    coalesce(sum(due), 0)::int AS due,
    coalesce(sum(pending - due), 0)::int AS waiting,
    coalesce(extract(epoch FROM now() - min(since) FILTER (WHERE due > 0)), 0)::float AS "oldestDueSeconds",
    (SELECT json_object_agg(name, (
       SELECT count(*) FROM (
         SELECT FROM pgboss.job WHERE job.name = queue.name AND state < 'active' LIMIT ${maxJobsCounted}
       ) waiting))
     FROM pgboss.queue WHERE name NOT LIKE '\\_\\_%') AS jobs
  FROM of_subscription`,
);
