import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { loadData } from './api/data.ts';
import { measuredPaths } from './api/paths.ts';
import { freePort, startServer, untilReady } from './api/servers.ts';
import { requestsOf, shoot } from './api/shots.ts';
import { residentOf } from './api/usage.ts';

/** The memory of the API in MB, and the time in milliseconds from the start of the server to its first response. */
export interface MemoryResult {
  afterTenThousandMb: number;
  afterAMillionMb: number;
  startMs: number;
}

interface MemoryOptions {
  dataDir: string;
  onProgress: (text: string) => void;
}

/**
 * Measures the memory of the API after ten thousand and after a million requests, and how long the server takes to
 * start.
 */
export async function benchMemory(options: MemoryOptions): Promise<{ table: string; result: MemoryResult }> {
  const result = { ...(await measureGrowth(options)), startMs: await measureStart(options.dataDir) };
  const { afterTenThousandMb, afterAMillionMb, startMs } = result;
  const table = `Resident memory after ten thousand requests  ${afterTenThousandMb} MB
Resident memory after a million requests      ${afterAMillionMb} MB, ${(afterAMillionMb / afterTenThousandMb).toFixed(2)} times as much
From start to the first answer                ${startMs} ms
`;
  return { table, result };
}

async function measureGrowth({ dataDir, onProgress }: MemoryOptions): Promise<Omit<MemoryResult, 'startMs'>> {
  const database = await openEmbedded({ dataDir, holder: { type: 'command' } });
  try {
    await migrateDatabase(database.url);
    const data = await loadData(database.url, 10_000, onProgress);
    const requests = measuredPaths.flatMap((path) => requestsOf(path, data).slice(0, 64));
    const server = await startServer('api', database.url);
    let sent = 0;
    const sendUntil = async (total: number) => {
      for (; sent < total; sent += 10_000) {
        if (sent % 100_000 === 0) onProgress(`${sent} requests sent: ${residentOf(server.pid)} MB`);
        await shoot(server, { connections: 16, seconds: 0, amount: 10_000, requests });
      }
      return residentOf(server.pid);
    };
    const afterTenThousandMb = await sendUntil(10_000);
    const afterAMillionMb = await sendUntil(1_000_000);
    await server.stop();
    return { afterTenThousandMb, afterAMillionMb };
  } finally {
    await database.stop();
  }
}

/**
 * Starts the server like `pnpm start`, with embedded PostgreSQL and an existing database. Returns the time to the first
 * response, in milliseconds.
 */
async function measureStart(dataDir: string): Promise<number> {
  const PORT = String(await freePort());
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const started = performance.now();
  const child = spawn('sh', ['-c', packageJson.scripts.start], {
    cwd: root,
    env: { ...process.env, PORT, DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilReady(`http://127.0.0.1:${PORT}/api/public/v1/ping`, child);
  const took = performance.now() - started;
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  await exited;
  return Math.round(took);
}
