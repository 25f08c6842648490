import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastLine, postgresUser, run } from '@itsm-api/server/embedded-postgres/binaries.ts';
import { temporaryDataDir } from '@itsm-api/server/embedded-postgres/temporary.ts';
import { query, withDatabase } from './database.ts';
import { steadyPort } from './postgres-server.ts';
import { pathOf, skipUnlessInstalled } from './programs.ts';

/**
 * A PostgreSQL server that archives its WAL. It is an installed PostgreSQL, because the embedded PostgreSQL lacks
 * `pg_basebackup` and `pg_verifybackup`. The commands and settings are those of docs/operations/back-up-and-restore.md.
 */
export interface ArchivedPostgres {
  /** The URL of the database `itsm`. The URL stays the same after a recovery. */
  url: string;
  /** The folder of the backup, and the folder of the archived WAL. */
  folders: { backup: string; archive: string };
  /** Creates a backup of the running server with `pg_basebackup`. */
  backUp(): Promise<void>;
  /** Checks the backup with `pg_verifybackup`. @throws if a file of the backup is missing or damaged */
  verify(): Promise<void>;
  /** Ends the current WAL file, and waits until it is archived. */
  archive(): Promise<void>;
  /** Stops the server without a checkpoint, and deletes its files. */
  lose(): Promise<void>;
  /** Copies the backup to the folder of the lost server. */
  restore(): Promise<void>;
  /**
   * Starts the restored server, which applies the archived WAL of all transactions that were committed until `time`.
   * Resolves when the server accepts writes.
   */
  recover(time: string): Promise<void>;
}

const programs = ['pg_verifybackup'];
const maxStartSeconds = 3600;

/** Returns options that skip tests unless PostgreSQL is installed. */
export const skipUnlessPostgres = () => skipUnlessInstalled(programs);

/** Starts a server in a temporary folder. Adds functions to `stops` that stop the server and delete its files. */
export async function openArchivedPostgres(
  stops: (() => Promise<unknown>)[],
  settings: Record<string, string> = {},
): Promise<ArchivedPostgres> {
  const folder = temporaryDataDir();
  const folders = { data: join(folder, 'data'), backup: join(folder, 'backup'), archive: join(folder, 'archive') };
  const user = await postgresUser();
  for (const each of [folder, folders.archive]) {
    await mkdir(each);
    if (user !== undefined) await chown(each, user.uid, user.gid);
  }
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const port = await steadyPort();
  const url = `postgresql://postgres@127.0.0.1:${port}/itsm`;

  /** Runs `cp` or a program of PostgreSQL as the user of PostgreSQL. */
  async function execute(program: string, ...args: string[]): Promise<void> {
    const path = program === 'cp' ? program : join(dirname(pathOf(programs)), program);
    const { code, output } = await run(path, args, { cwd: folder, ...(user && { user }) });
    if (code !== 0) throw new Error(`${program} failed: ${lastLine(output)}`);
  }
  /** Appends settings to a file of the server. */
  const configure = async (file: string, settings: Record<string, string>) => {
    const lines = Object.entries(settings).map(([key, value]) => `${key} = '${value}'\n`);
    await writeFile(join(folders.data, file), lines.join(''), { flag: 'a' });
  };
  const start = () => execute('pg_ctl', 'start', '-w', '-t', String(maxStartSeconds), '-D', 'data', '-l', 'log');
  const lose = async () => {
    await execute('pg_ctl', 'stop', '-m', 'immediate', '-D', 'data');
    await rm(folders.data, { recursive: true });
  };

  await execute('initdb', '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '-A', 'trust', '-D', 'data');
  await configure('postgresql.conf', {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    archive_mode: 'on',
    archive_command: `test ! -f ${folders.archive}/%f && cp %p ${folders.archive}/%f`,
    ...settings,
  });
  await start();
  stops.push(() => lose().catch(() => undefined));
  await query(withDatabase(url, 'postgres'), 'CREATE DATABASE itsm');

  return {
    url,
    folders,
    backUp: () => execute('pg_basebackup', '-d', url, '-D', 'backup', '--checkpoint=fast'),
    verify: () => execute('pg_verifybackup', 'backup'),
    async archive() {
      const [ended] = await query<{ file: string }>(url, 'SELECT pg_walfile_name(pg_switch_wal()) AS file');
      const archived = 'SELECT FROM pg_stat_archiver WHERE last_archived_wal >= $1';
      while ((await query(url, archived, [ended?.file])).length === 0) await sleep(50);
    },
    lose,
    restore: () => execute('cp', '-a', 'backup', 'data'),
    async recover(time) {
      await configure('postgresql.auto.conf', {
        restore_command: `cp ${folders.archive}/%f %p`,
        recovery_target_time: time,
        recovery_target_action: 'promote',
      });
      await configure('recovery.signal', {});
      if (user !== undefined) await chown(join(folders.data, 'recovery.signal'), user.uid, user.gid);
      await start();
      // The server accepts reads before it has applied the WAL.
      while ((await query(url, 'SELECT WHERE pg_is_in_recovery()')).length > 0) await sleep(50);
    },
  };
}
