import { systemRole } from '../roles.ts';
import { Connection } from './connection.ts';
import type { Databases } from './databases.ts';

interface Purpose {
  /** As `pg_stat_activity` shows it. */
  name: string;
  /** How long each statement may take. Milliseconds. */
  statementMs: number;
  /** Whether it stays the role of the URL, and doesn't become the system's. */
  asRoleOfUrl?: boolean;
}

/** Does long work over all tenants on a connection of its own, so that nobody waits for one meanwhile. */
export async function withDedicatedConnection<Result>(
  { url, timeouts, watch, reachability }: Databases['options'],
  { name, statementMs, asRoleOfUrl = false }: Purpose,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = new Connection({
    connectionString: url,
    application_name: `itsm-api ${name}`,
    role: asRoleOfUrl ? undefined : systemRole,
    timeouts: { ...timeouts, statementMs },
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
