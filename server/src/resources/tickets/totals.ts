import type { PgBoss } from 'pg-boss';
import type { Queue } from '../../database/job-schema.ts';
import { scheduleNightly } from '../../database/jobs.ts';
import type { PrismaClient } from '../../database/prisma.ts';

/** A total that is kept and is not what counting gives. */
export interface WrongTotal {
  tenantId: bigint;
  /** What is counted: the tickets of a kind, or their ordinals. */
  what: string;
  kept: number;
  counted: number;
}

/** Compares every total that is kept with what counting gives, in one snapshot. An empty list is good. */
export async function findWrongTotals(prisma: PrismaClient): Promise<WrongTotal[]> {
  return prisma.$transaction(
    async (tx) => {
      // It reads every ticket, however long that takes.
      await tx.$executeRaw`SET LOCAL statement_timeout = 0`;
      return tx.$queryRaw<WrongTotal[]>`
      WITH counted AS (
        SELECT tenant_id, a.id AS assignee_id, status, priority, type, COALESCE(category, '') AS category,
          count(*)::int AS count
        FROM tickets CROSS JOIN LATERAL (VALUES (0::bigint), (assignee_id)) AS a (id)
        WHERE a.id IS NOT NULL
        GROUP BY 1, 2, 3, 4, 5, 6
      )
      SELECT tenant_id AS "tenantId",
        concat_ws(' ', 'tickets', status, priority, type, NULLIF(category, ''), 'of user ' || NULLIF(assignee_id, 0)) AS what,
        COALESCE(k.count, 0) AS kept, COALESCE(c.count, 0) AS counted
      FROM ticket_counts k FULL JOIN counted c USING (tenant_id, assignee_id, status, priority, type, category)
      WHERE COALESCE(k.count, 0) <> COALESCE(c.count, 0)
      UNION ALL
      SELECT tenant_id, 'ordinals of tickets', COALESCE(s.total, 0), COALESCE(c.count, 0)
      FROM ticket_sequences s FULL JOIN (
        SELECT tenant_id, CASE WHEN count(*) = max(ordinal) AND min(ordinal) = 1 THEN count(*)::int ELSE -1 END AS count
        FROM tickets GROUP BY 1
      ) c USING (tenant_id)
      WHERE COALESCE(s.total, 0) <> COALESCE(c.count, 0)`;
    },
    { timeout: 30 * 60 * 1000 },
  );
}

interface TotalsCheck {
  prisma: PrismaClient;
  onWrong: (wrong: WrongTotal[]) => void;
}

export const totalsQueue: Queue = { name: 'totals-check', policy: 'exclusive', options: {} };

/** Has the totals checked every night. */
export function scheduleTotalsCheck(boss: PgBoss, { prisma, onWrong }: TotalsCheck): Promise<void> {
  return scheduleNightly(boss, totalsQueue, async () => {
    const wrong = await findWrongTotals(prisma);
    if (wrong.length > 0) onWrong(wrong);
  });
}
