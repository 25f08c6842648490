import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { median } from '../../test/support/percentiles.ts';
import { type Data, loadData } from './api/data.ts';
import { measuredPaths } from './api/paths.ts';
import { type Measured, startServer } from './api/servers.ts';
import { requestsOf, shoot } from './api/shots.ts';

/** The requests per second for a path, with few and with many tickets. The values are medians of the rounds. */
export interface SizeResult {
  path: string;
  few: number;
  many: number;
  /** The median ratio of the request rate with many tickets to the request rate with few tickets in the same round. */
  ratio: number;
}

interface SizesOptions {
  /** The data folder with many tickets. Create this folder with `pnpm bench --tickets 10m --data`. */
  manyDir: string;
  fewDir: string;
  few: number;
  rounds: number;
  seconds: number;
  onProgress: (text: string) => void;
}

const names = ['ticket by id', 'list', 'list by status', 'list by assignee, no match', 'create', 'patch'];
const connections = 16;

/**
 * Measures the API on a database with few tickets and on a database with many tickets. Each database has its own
 * PostgreSQL server, and each round measures both databases.
 */
export async function benchSizes(options: SizesOptions): Promise<{ table: string; result: SizeResult[] }> {
  const { manyDir, fewDir, few, onProgress } = options;
  const stops: (() => Promise<void>)[] = [];
  try {
    const settings = { shared_buffers: '2GB', max_wal_size: '8GB', max_connections: '150' };
    const open = async (dataDir: string) => {
      const database = await openEmbedded({ dataDir, holder: { type: 'command' }, settings });
      stops.push(() => database.stop());
      await migrateDatabase(database.url);
      const server = await startServer('api', database.url);
      stops.push(() => server.stop());
      return { url: database.url, server };
    };
    const [large, small] = [await open(manyDir), await open(fewDir)];
    const kept: Data = JSON.parse(await readFile(join(manyDir, 'bench-data.json'), 'utf8'));
    const made = await loadData(small.url, few, onProgress);
    const result = await measure({ server: small.server, data: made }, { server: large.server, data: kept }, options);
    return { table: tableOf(result, { few, many: kept.tickets }), result };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

interface Side {
  server: Measured;
  data: Data;
}

async function measure(few: Side, many: Side, options: SizesOptions): Promise<SizeResult[]> {
  const { rounds, seconds, onProgress } = options;
  const results: SizeResult[] = [];
  for (const path of measuredPaths.filter(({ name }) => names.includes(name))) {
    const shootAt = async ({ server, data }: Side, seconds: number) =>
      (await shoot(server, { connections, seconds, requests: requestsOf(path, data) })).rps;
    for (const side of [few, many]) await shootAt(side, 10);
    const found: { few: number; many: number }[] = [];
    for (let round = 1; round <= rounds; round++) {
      onProgress(`${path.name}: round ${round} of ${rounds}`);
      found.push({ few: await shootAt(few, seconds), many: await shootAt(many, seconds) });
    }
    results.push({
      path: path.name,
      few: Math.round(median(found.map((each) => each.few))),
      many: Math.round(median(found.map((each) => each.many))),
      ratio: median(found.map((each) => each.many / each.few)),
    });
  }
  return results;
}

function tableOf(results: SizeResult[], { few, many }: { few: number; many: number }): string {
  const head = ['requests/s'.padEnd(28), few.toLocaleString('en').padStart(12), many.toLocaleString('en').padStart(12)];
  const lines = results.map(({ path, few, many, ratio }) =>
    [path.padEnd(28), String(few).padStart(12), String(many).padStart(12), ratio.toFixed(2).padStart(8)].join(''),
  );
  return `${head.join('')}   ratio\n${lines.join('\n')}\n`;
}
