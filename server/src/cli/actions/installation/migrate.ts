import { resolve } from 'node:path';
import * as z from 'zod';
import { migrateDatabase } from '../../../process/ensure-schema.ts';
import { openDatabase } from '../../../process/runtime.ts';
import { createAction } from '../../lib/run-command.ts';

export const run = createAction({
  open: async (settings) => {
    const { url, stop } = await openDatabase(settings, { type: 'command' });
    return { url, location: formatLocation(settings.DATABASE_URL, settings.DATA_DIR), close: stop };
  },
  input: z.strictObject({}),
  work: async ({ url, location }, _, report) => {
    return { database: location, applied: await migrateDatabase(url, { onProgress: report }) };
  },
  format: ({ database, applied }) =>
    `The database ${database} is up to date. ${applied.length === 0 ? 'Nothing to apply' : `Applied ${applied.join(', ')}`}.`,
});

/** Returns the location of the database without credentials: the host and database name, or the data directory. */
function formatLocation(databaseUrl: string | undefined, dataDir: string): string {
  if (databaseUrl === undefined) return resolve(dataDir);
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}
