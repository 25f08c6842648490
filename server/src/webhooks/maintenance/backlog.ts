import type { Pool } from '../../database/client/pool.ts';
import { maySend, pendingSubscriptions, sendableSince } from '../outbox/pending.ts';

/** What there is to deliver, in all workspaces together. */
export interface Backlog {
  /** Deliveries that may be sent now; of a subscription whose circuit is half-open that is one. */
  due: number;
  /** All others that are not settled: in flight, to be tried again, or held back by a circuit, a pause or a switch-off. */
  waiting: number;
  /** For how long the oldest due one might have been sent; 0 where none is. */
  oldestDueSeconds: number;
  /** Jobs that wait, by queue. */
  jobs: Record<string, number>;
}

/** What takes longer is given up. Milliseconds. */
const longestReadMs = 1000;

/** More deliveries aren't counted. Each subscription has its part of them, and this much at least. */
const deliveriesCounted = 100_000;
const ofSubscriptionCounted = 100;
/** More jobs of a queue aren't counted. */
const jobsCounted = 10_000;

/**
 * Reads it in one statement that is bounded in time and in what it looks at: the subscriptions with something pending,
 * and of each what is due first.
 */
export async function readBacklog(pool: Pool): Promise<Backlog> {
  const { rows } = await pool.lend(async (connection) => {
    await connection.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${longestReadMs}`);
    try {
      return await connection.query<Backlog>(select);
    } finally {
      await connection.query('ROLLBACK');
    }
  });
  const [backlog] = rows;
  if (backlog === undefined) throw new Error('The backlog is one row.');
  return backlog;
}

const select = `
  WITH RECURSIVE ${pendingSubscriptions},
  of_subscription AS (
    SELECT counted.pending, ${sendableSince('counted.oldest')} AS since,
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
        LIMIT greatest(${ofSubscriptionCounted}, ${deliveriesCounted} / (SELECT count(*) FROM pending))
      ) first
    ) counted
  )
  SELECT
    coalesce(sum(due), 0)::int AS due,
    coalesce(sum(pending - due), 0)::int AS waiting,
    coalesce(extract(epoch FROM now() - min(since) FILTER (WHERE due > 0)), 0)::float AS "oldestDueSeconds",
    (SELECT json_object_agg(name, (
       SELECT count(*) FROM (
         SELECT FROM pgboss.job WHERE job.name = queue.name AND state < 'active' LIMIT ${jobsCounted}
       ) waiting))
     FROM pgboss.queue WHERE name NOT LIKE '\\_\\_%') AS jobs
  FROM of_subscription`;
