import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { addKeys } from '../api/data.ts';
import { loadAfterTickets, loadBeforeTickets } from './records.ts';
import { idsPerTenant, loadSkewedTickets } from './tickets.ts';

/** The description of the loaded data. The data folder contains it as `slowest-data.json`. */
export interface SkewedData {
  tickets: number;
  seed: number;
  /** API keys of an administrator of the largest tenant. */
  keys: string[];
  /** API keys and ticket ids of another tenant. */
  otherKeys: string[];
  otherTicketIds: number[];
}

interface LoadOptions {
  databaseUrl: string;
  dataDir: string;
  tickets: number;
  seed: number;
  onProgress: (text: string) => void;
}

/** Loads data into an empty, migrated database, unless the data folder already contains it. */
export async function loadSkewedData({
  databaseUrl,
  dataDir,
  tickets,
  seed,
  onProgress,
}: LoadOptions): Promise<SkewedData> {
  const file = join(dataDir, 'slowest-data.json');
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) {
    const data = JSON.parse(kept) as SkewedData;
    if (data.tickets !== tickets || data.seed !== seed) {
      throw new Error(`The folder contains ${data.tickets} tickets of the seed ${data.seed}. Choose another --data.`);
    }
    return data;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    onProgress('loading users, teams and assets');
    await loadBeforeTickets(client);
    await loadSkewedTickets(databaseUrl, { count: tickets, seed, onProgress });
    onProgress('loading the other resources');
    const keys = await addKeys(client, 1, 2);
    await loadAfterTickets(client);
    const otherKeys = await addKeys(client, 2, idsPerTenant + 2);
    // The ids of the second tenant are the multiples of 8.
    const otherTicketIds = Array.from({ length: 1000 }, (_, i) => 8 * (1 + (i % Math.floor(tickets / 8))));
    const data = { tickets, seed, keys, otherKeys, otherTicketIds };
    await writeFile(file, JSON.stringify(data));
    return data;
  } finally {
    await client.end();
  }
}
