import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { startServer } from '../api/servers.ts';
import { allowedRatio, measureBeside } from './beside.ts';
import { loadSkewedData } from './data.ts';
import { type Drawn, drawRequests } from './draw.ts';
import { type Ranked, rankRequests } from './measure.ts';
import { besideTable, isGood, summarize, tableOf, writeResult } from './report.ts';

interface Options {
  dataDir: string;
  tickets: number;
  seed: number;
  /** The kinds of requests to measure. By default, the search measures all kinds. */
  only: string[] | undefined;
  onProgress: (text: string) => void;
}

/** The number of slow requests that the largest tenant sends while another tenant sends its own requests. */
const worst = 20;

type Printed = { table: string; result: unknown; good: boolean };

/** Searches for the slowest requests that a key can send (evaluation/bench/README.md). */
export async function benchSlowest({ dataDir, tickets, seed, only, onProgress }: Options): Promise<Printed> {
  // `shared_buffers` is a quarter of 24 GB of memory, as PostgreSQL's manual recommends.
  const settings = { shared_buffers: '6GB', max_wal_size: '16GB' };
  const database = await openEmbedded({ dataDir, holder: { type: 'command' }, settings });
  try {
    await migrateDatabase(database.url);
    const data = await loadSkewedData({ databaseUrl: database.url, dataDir, tickets, seed, onProgress });
    const kept = join(dataDir, 'slowest-ranking.json');
    if (only?.includes('beside')) {
      const ranking = JSON.parse(await readFile(kept, 'utf8')) as Ranked[];
      const slowest = ranking.filter(({ request }) => request.startsWith('GET ')).slice(0, worst);
      const beside = await measureBeside({ databaseUrl: database.url, data, slowest, onProgress });
      return { table: besideTable(beside), result: beside, good: beside.every(({ ratio }) => ratio <= allowedRatio) };
    }
    const drawn = drawRequests(seed).filter(({ kind }) => only?.includes(kind) ?? true);
    const ranking = await measure(drawn, { dataDir, databaseUrl: database.url, key: data.keys[0] ?? '', onProgress });
    const result = { tickets, seed, ...summarize(ranking), ranking };
    if (only === undefined) await writeResult(result);
    await writeFile(kept, JSON.stringify(ranking));
    return { table: tableOf(result), result, good: isGood(result) };
  } finally {
    // Waits until PostgreSQL has closed the connections of the server.
    await sleep(500);
    await database.stop();
  }
}

interface Measurement extends Pick<Options, 'dataDir' | 'onProgress'> {
  databaseUrl: string;
  key: string;
}

async function measure(drawn: Drawn[], { dataDir, databaseUrl, key, onProgress }: Measurement): Promise<Ranked[]> {
  const postmaster = Number.parseInt(await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
  const server = await startServer('api', databaseUrl, { env: { STATEMENT_TIMEOUT_MS: '' } });
  const target = { url: server.url, key, pids: [server.pid, postmaster], onProgress };
  return rankRequests(drawn, target).finally(() => server.stop());
}
