import type { Api } from './api.ts';

/**
 * Returns the number of database connections that wait for a lock. By default, counts only the connections that
 * requests use.
 */
export async function requestsWaiting(
  { prisma }: Pick<Api, 'prisma'>,
  connections: 'requests' | 'system' = 'requests',
): Promise<number> {
  const rows = await prisma.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE application_name = ${`itsm-api ${connections}`} AND datname = current_database() AND wait_event_type = 'Lock'`;
  return rows[0]?.count ?? 0;
}
