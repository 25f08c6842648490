import pg from 'pg';

/** Throws, in one line that names `DATABASE_URL`, when the server that it names can't be used. */
export async function checkConnection(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    // Several addresses refused at once make an error without a message.
    const { message, code } = error as { message: string; code?: string };
    throw new Error(`DATABASE_URL: PostgreSQL can't be used there: ${message || code}`);
  } finally {
    await client.end();
  }
}
