import type { Api } from './api.ts';

/** Returns how many statements of requests, or on the given connections, wait for a lock. */
export async function requestsWaiting(
  { prisma }: Pick<Api, 'prisma'>,
  connections: 'requests' | 'system' = 'requests',
): Promise<number> {
  const rows = await prisma.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE application_name = ${`itsm-api ${connections}`} AND datname = current_database() AND wait_event_type = 'Lock'`;
  return rows[0]?.count ?? 0;
}
