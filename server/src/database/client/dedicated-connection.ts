import { systemRole } from '../roles.ts';
import { Connection } from './connection.ts';
import type { Databases } from './databases.ts';

interface Purpose {
  /** The name in `pg_stat_activity`. */
  name: string;
  /** The statement timeout in milliseconds. */
  statementMs: number;
  /** Whether the connection keeps the role of `DATABASE_URL` instead of the system role. */
  asRoleOfUrl?: boolean;
}

/** Runs long work for all tenants on a dedicated connection, so the work doesn't occupy a pool connection. */
export async function withDedicatedConnection<Result>(
  { url, timeouts, watchdog, outages }: Databases['options'],
  { name, statementMs, asRoleOfUrl = false }: Purpose,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = new Connection({
    connectionString: url,
    application_name: `itsm-api ${name}`,
    role: asRoleOfUrl ? undefined : systemRole,
    timeouts: { ...timeouts, statementMs },
    watchdog,
    outages,
  });
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}
