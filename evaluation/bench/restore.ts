import { Agent } from 'node:http';
import { loadavg } from 'node:os';
import { pathPrefix } from '@itsm-api/contract';
import { run } from '@itsm-api/server/embedded-postgres/binaries.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { openArchivedPostgres } from '../../test/support/archived-postgres.ts';
import { query } from '../../test/support/database.ts';
import { type Data, loadData } from './api/data.ts';
import { startServer } from './api/servers.ts';
import { send } from './send.ts';

/** The durations of a backup and of a recovery to a time, in seconds, and the sizes of their files, in MB. */
export interface Restore {
  tickets: number;
  /** The number of tickets that clients created between the backup and the time of the recovery. */
  creates: number;
  backUpSeconds: number;
  backupMb: number;
  verifySeconds: number;
  /**
   * The WAL of the first 1% of the creates, of the first 10%, and of all. The first writes after a checkpoint need more
   * WAL, because PostgreSQL logs each page once as a whole. The backup starts with a checkpoint.
   */
  walMb: [number, number, number];
  /** The duration of copying the backup to the folder of the new server. */
  copySeconds: number;
  /** The time from the start of PostgreSQL until it has applied the WAL and accepts writes. */
  replaySeconds: number;
  /** The time from the start of the API until its first response. */
  apiSeconds: number;
  /** The load average of the machine at the end. */
  load: number;
}

interface RestoreOptions {
  tickets: number;
  creates: number;
  onProgress: (text: string) => void;
}

const ticket = JSON.stringify({
  title: 'VPN drops',
  description: 'Since this morning the connection is lost every few minutes. '.repeat(4),
  type: 'INCIDENT',
  category: 'NETWORK',
});
const concurrency = 16;

/** Measures a backup with `pg_basebackup`, and a recovery of PostgreSQL to a time after the backup. */
export async function benchRestore(options: RestoreOptions): Promise<{ table: string; result: Restore }> {
  const { tickets, creates, onProgress } = options;
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const settings = { shared_buffers: '1GB', max_wal_size: '4GB', max_connections: '150' };
    const postgres = await openArchivedPostgres(stops, settings);
    await migrateDatabase(postgres.url);
    // A recovery doesn't need the WAL of the load, which is larger than the backup.
    await configure(postgres.url, "SET archive_command = '/bin/true'");
    const data = await loadData(postgres.url, tickets, onProgress);
    await configure(postgres.url, 'RESET archive_command');

    onProgress('backing up');
    const backUpSeconds = await secondsOf(postgres.backUp);
    const verifySeconds = await secondsOf(postgres.verify);
    const server = await startServer('api', postgres.url);
    onProgress('creating tickets');
    const begin = await readWal(postgres.url);
    const createSome = async (share: number) => {
      await createTickets(server.url, data, share * creates);
      return ((await readWal(postgres.url)) - begin) / 1e6;
    };
    const walMb: Restore['walMb'] = [await createSome(0.01), await createSome(0.09), await createSome(0.9)];
    const [now] = await query<{ time: string }>(postgres.url, 'SELECT clock_timestamp()::text AS time');
    // PostgreSQL stops before the first transaction that was committed after the time.
    await createTickets(server.url, data, 1);
    await postgres.archive();
    await server.stop();
    await postgres.lose();

    onProgress('recovering');
    const copySeconds = await secondsOf(postgres.restore);
    const replaySeconds = await secondsOf(() => postgres.recover(now?.time as string));
    const apiSeconds = await secondsOf(async () => {
      const { url, stop } = await startServer('api', postgres.url);
      stops.push(stop);
      await call(url, data, 'GET', '/tickets');
    });
    const [found] = await query<{ count: number }>(postgres.url, 'SELECT count(*)::int AS count FROM tickets');
    if (found?.count !== tickets + creates) {
      throw new Error(`The recovered database has ${found?.count} tickets instead of ${tickets + creates}.`);
    }
    const backupMb = await sizeOf(postgres.folders.backup);
    const times = { backUpSeconds, verifySeconds, copySeconds, replaySeconds, apiSeconds };
    const result = { tickets, creates, ...times, backupMb, walMb, load: loadavg()[1] as number };
    return { table: tableOf(result), result };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function createTickets(url: string, data: Data, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  let sent = 0;
  const work = async () => {
    while (sent < count) await call(url, data, 'POST', '/tickets', ticket, { agent, place: sent++ });
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  agent.destroy();
}

async function call(
  url: string,
  { keys }: Data,
  method: string,
  path: string,
  body?: string,
  { agent, place = 0 }: { agent?: Agent; place?: number } = {},
): Promise<void> {
  const headers = { authorization: `Bearer ${keys[place % keys.length]}`, 'content-type': 'application/json' };
  await send(new URL(`${pathPrefix}${path}`, url), { method, headers, ...(agent && { agent }) }, body);
}

/** Changes a setting of PostgreSQL. */
async function configure(url: string, change: string): Promise<void> {
  await query(url, `ALTER SYSTEM ${change}`);
  await query(url, 'SELECT pg_reload_conf()');
}

/** Returns the position in the WAL, in bytes. */
async function readWal(url: string): Promise<number> {
  const [found] = await query<{ bytes: string }>(url, `SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  return Number(found?.bytes);
}

async function sizeOf(folder: string): Promise<number> {
  return Number.parseInt((await run('du', ['-sk', folder])).output, 10) / 1000;
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

function tableOf(result: Restore): string {
  const lines = Object.entries(result).map(([name, value]) =>
    [name.padEnd(16), ...[value].flat().map((each) => each.toFixed(1).padStart(12))].join(''),
  );
  return `${lines.join('\n')}\n`;
}
