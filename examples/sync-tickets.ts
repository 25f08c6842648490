import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ItsmClient, isItsmError, type Ticket } from '@itsm-api/client';

/**
 * Exports all tickets of a workspace to a file as JSON Lines, newest first.
 *
 *     ITSM_KEY=itsm_… node examples/sync-tickets.ts tickets.ndjson
 *
 * If the export reaches a rate limit, the client waits and then continues.
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY } = process.env;
const file = process.argv[2] ?? 'tickets.ndjson';

const client = new ItsmClient({
  baseUrl: ITSM_URL,
  apiKey: ITSM_KEY,
  userAgent: 'sync-tickets',
  logger: { debug: () => undefined, warn: (message) => console.error(message) },
});

let count = 0;
async function* lines(tickets: AsyncIterable<Ticket>): AsyncGenerator<string> {
  for await (const ticket of tickets) {
    count += 1;
    yield `${JSON.stringify(ticket)}\n`;
  }
}

try {
  // Writes a temporary file and then renames it, so the exported file is always complete.
  await pipeline(Readable.from(lines(client.tickets.list())), createWriteStream(`${file}.part`));
  await rename(`${file}.part`, file);
  console.log(`Exported ${count} tickets to ${file}.`);
} catch (error) {
  if (!isItsmError(error)) throw error;
  console.error(`${error.message} (${error.code}, page ${error.page}, request ${error.requestId ?? 'unknown'})`);
  process.exitCode = 1;
}
