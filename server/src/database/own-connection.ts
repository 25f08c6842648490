import { Connection } from './connection.ts';
import type { Databases } from './databases.ts';
import { systemRole } from './roles.ts';

/** The purpose, as `pg_stat_activity` shows it, and how long each statement may take, in milliseconds. */
interface Purpose {
  name: string;
  statementMs: number;
  /** The system's unless it is told; undefined: that of the URL. */
  role?: typeof systemRole | undefined;
}

/** Does long work over all tenants on a connection of its own, so that nobody waits for one meanwhile. */
export async function withOwnConnection<Result>(
  { url, timeouts, watch, reachability }: Databases['options'],
  purpose: Purpose,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = new Connection({
    connectionString: url,
    application_name: `itsm-api ${purpose.name}`,
    role: 'role' in purpose ? purpose.role : systemRole,
    timeouts: { ...timeouts, statementMs: purpose.statementMs },
    watch,
    reachability,
  });
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}
