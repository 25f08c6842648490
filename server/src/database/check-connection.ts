import { errorCode } from '../shared/pg-errors.ts';
import { Connection, type Timeouts } from './client/connection.ts';
import { ConnectionWatchdog } from './client/connection-watchdog.ts';
import { receivesNotifications } from './listener.ts';

/** What PostgreSQL says of a name that another connection has prepared there, through the same pooler. */
const DUPLICATE_PREPARED_STATEMENT = '42P05';

/** A pooler that gives each transaction another connection stands before the database. */
export class PoolerError extends Error {
  override name = 'PoolerError';

  constructor() {
    super(
      'DATABASE_URL: leads through a pooler that gives each transaction another connection (PgBouncer: ' +
        'pool_mode=transaction or statement). Revocations of keys would not be heard, and roles would get mixed up. ' +
        'Use pool_mode=session, or connect to PostgreSQL directly.',
    );
  }
}

/**
 * Looks whether the server that `DATABASE_URL` names can be used.
 * @throws PoolerError, or Error when it can't be reached; the message is one line that names `DATABASE_URL`
 */
export async function checkConnection(databaseUrl: string, timeouts: Timeouts): Promise<void> {
  const watch = new ConnectionWatchdog();
  const opened: Connection[] = [];
  const newConnection = () => {
    const options = { connectionString: databaseUrl, application_name: 'itsm-api start', timeouts, watch };
    const connection = new Connection(options);
    opened.push(connection);
    return connection;
  };
  try {
    if (await isUsable(newConnection)) return;
    // What was prepared there would meet the next one who asks.
    await opened[0]?.query('DISCARD ALL').catch(() => undefined);
    throw new PoolerError();
  } finally {
    for (const each of opened) each.sever('It was opened for a check.');
    watch.close();
  }
}

/** Opens two. False where a pooler stands before the database that gives each transaction another connection. */
async function isUsable(newConnection: () => Connection): Promise<boolean> {
  try {
    // What the URL names is read here: certificates, and what is escaped.
    const [connection, other] = [newConnection(), newConnection()];
    return !(await isShared(connection, other)) && (await receivesNotifications(connection));
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    // Several addresses refused at once make an error without a message.
    throw new Error(`DATABASE_URL: PostgreSQL can't be used there: ${message || code}`, { cause: error });
  }
}

/** Opens both. True where they meet on one session of PostgreSQL, or one of them on that of another program. */
async function isShared(one: Connection, other: Connection): Promise<boolean> {
  const sessionOf = async (connection: Connection): Promise<number> => {
    const { rows } = await connection.query('SELECT pg_backend_pid() AS pid');
    return rows[0].pid;
  };
  try {
    await one.connect();
    const session = await sessionOf(one);
    await other.connect();
    // A pooler with much to do may have given the first to somebody else, and gives it another now.
    return (await sessionOf(other)) === session || (await sessionOf(one)) !== session;
  } catch (error) {
    if (errorCode(error) === DUPLICATE_PREPARED_STATEMENT) return true;
    throw error;
  }
}
