import { errorCode } from '../shared/error-codes.ts';
import { Connection } from './client/connection.ts';
import { ConnectionWatchdog } from './client/connection-watchdog.ts';
import type { Timeouts } from './client/statement-timeout.ts';
import { receivesNotifications } from './listener.ts';

/**
 * PostgreSQL's error code for a prepared statement with a name that already exists. The error occurs if a pooler uses
 * one session for two connections.
 */
const DUPLICATE_PREPARED_STATEMENT = '42P05';

/** The error for a `DATABASE_URL` that points to a connection pooler in transaction or statement mode. */
export class PoolerError extends Error {
  override name = 'PoolerError';

  constructor() {
    super(
      'DATABASE_URL: points to a pooler that runs each transaction on a different connection (PgBouncer: ' +
        'pool_mode=transaction or statement). Notifications of revoked keys would be lost, and roles would be mixed ' +
        'up. Use pool_mode=session, or connect to PostgreSQL directly.',
    );
  }
}

/**
 * Checks that the PostgreSQL server at `DATABASE_URL` accepts connections and delivers notifications.
 * @throws PoolerError if `DATABASE_URL` points to an unsuitable pooler
 * @throws Error if the connection fails; the message is one line that names `DATABASE_URL`
 */
export async function checkConnection(databaseUrl: string, timeouts: Timeouts): Promise<void> {
  const watchdog = new ConnectionWatchdog();
  const opened: Connection[] = [];
  const newConnection = () => {
    const options = { connectionString: databaseUrl, application_name: 'itsm-api start', timeouts, watchdog };
    const connection = new Connection(options);
    opened.push(connection);
    return connection;
  };
  try {
    if (await isUsable(newConnection)) return;
    // The pooler reuses the session for other clients, so this statement removes the prepared statements that the check
    // has created.
    await opened[0]?.query('DISCARD ALL').catch(() => undefined);
    throw new PoolerError();
  } finally {
    for (const each of opened) each.sever('The connection check has finished.');
    watchdog.close();
  }
}

/** Opens two connections. Returns false if a pooler changes the session between transactions. */
async function isUsable(newConnection: () => Connection): Promise<boolean> {
  try {
    // The constructor throws if the URL or its certificate files are invalid, so both connections are created inside
    // `try`.
    const [connection, other] = [newConnection(), newConnection()];
    return !(await isPooled(connection, other)) && (await receivesNotifications(connection));
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    // If several addresses reject the connection, the error has a code but no message.
    throw new Error(
      `DATABASE_URL: can't connect to PostgreSQL: ${message || code}. Check the URL, and that PostgreSQL is running`,
      { cause: error },
    );
  }
}

/**
 * Opens both connections. Returns true if they share a PostgreSQL session, or if the first connection changes its
 * session.
 */
async function isPooled(one: Connection, other: Connection): Promise<boolean> {
  const readSessionPid = async (connection: Connection): Promise<number> => {
    const { rows } = await connection.query('SELECT pg_backend_pid() AS pid');
    return rows[0].pid;
  };
  try {
    await one.connect();
    const session = await readSessionPid(one);
    await other.connect();
    // While the second connection opens, a busy pooler may assign the first connection's session to another client.
    return (await readSessionPid(other)) === session || (await readSessionPid(one)) !== session;
  } catch (error) {
    if (errorCode(error) === DUPLICATE_PREPARED_STATEMENT) return true;
    throw error;
  }
}
