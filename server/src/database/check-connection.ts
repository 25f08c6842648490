import { Connection, type Timeouts } from './connection.ts';
import { hearsNotifications } from './listener.ts';
import { SilenceWatch } from './silence-watch.ts';

/** Throws, in one line that names `DATABASE_URL`, when the server that it names can't be used. */
export async function checkConnection(databaseUrl: string, timeouts: Timeouts): Promise<void> {
  const watch = new SilenceWatch();
  const connection = new Connection({
    connectionString: databaseUrl,
    application_name: 'itsm-api start',
    timeouts,
    watch,
  });
  try {
    await connection.connect().catch((error: { message: string; code?: string }) => {
      // Several addresses refused at once make an error without a message.
      throw new Error(`DATABASE_URL: PostgreSQL can't be used there: ${error.message || error.code}`);
    });
    if (await hearsNotifications(connection)) return;
    throw new Error(
      'DATABASE_URL: leads through a pooler that gives each transaction another connection (PgBouncer: ' +
        'pool_mode=transaction or statement). Revocations of keys would not be heard, and roles would get mixed up. ' +
        'Use pool_mode=session, or connect to PostgreSQL directly.',
    );
  } finally {
    connection.sever('It was opened for a check.');
    watch.close();
  }
}
