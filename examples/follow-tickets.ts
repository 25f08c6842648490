import { readFile, rename, writeFile } from 'node:fs/promises';
import { ItsmClient, isItsmError, type Ticket } from '@itsm-api/client';

/**
 * Syncs all tickets to a file until you press Ctrl-C. The file also contains the cursor of the change feed, from which
 * the next run continues.
 *
 *     ITSM_KEY=itsm_… node examples/follow-tickets.ts tickets.json
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY, POLL_MS = '10000' } = process.env;
const file = process.argv[2] ?? 'tickets.json';

interface Copy {
  cursor?: string;
  tickets: Record<number, Ticket>;
}

const client = new ItsmClient({
  baseUrl: ITSM_URL,
  apiKey: ITSM_KEY,
  userAgent: 'follow-tickets',
  logger: { debug: () => undefined, warn: (message) => console.error(message) },
});
const end = new AbortController();
process.once('SIGINT', () => end.abort());

const copy: Copy = JSON.parse(await readFile(file, 'utf8').catch(() => '{ "tickets": {} }'));
const query = { cursor: copy.cursor, follow: true, pollMs: Number(POLL_MS) };
try {
  for await (const { data, meta } of client.tickets.changes(query, { signal: end.signal }).pages()) {
    for (const ticket of data) copy.tickets[ticket.id] = ticket;
    copy.cursor = meta.nextCursor;
    // Writes a temporary file and then renames it, so the file with the tickets is always complete.
    await writeFile(`${file}.part`, JSON.stringify(copy));
    await rename(`${file}.part`, file);
    if (data.length > 0)
      console.log(`Synced ${data.length} changed tickets. ${file} has ${Object.keys(copy.tickets).length} tickets.`);
  }
} catch (error) {
  if (!isItsmError(error)) throw error;
  if (error.code !== 'ABORTED') {
    console.error(`${error.message} (${error.code}, request ${error.requestId ?? 'unknown'}) ${error.remedy ?? ''}`);
    process.exitCode = 1;
  }
}
