import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '@itsm-api/server/embedded-postgres/binaries.ts';
import type { Cluster } from '@itsm-api/server/embedded-postgres/cluster.ts';
import pg from 'pg';
import { type Postgres, urlOf } from '../../support/postgres-server.ts';

/** A PostgreSQL server, which is either the primary or the standby. */
export interface Member {
  cluster: Cluster;
  port: number;
  postgres: Postgres;
}

/** The application name of the server that is currently the standby. */
const name = 'standby';

const maxSyncMs = 60_000;

/**
 * Makes a server the standby of another server. Copies the files of the running server, because the embedded PostgreSQL
 * lacks `pg_basebackup`. Resolves when commits wait for the standby.
 */
export async function attachStandby(primary: Member, standby: Member): Promise<void> {
  const folder = join(standby.cluster.dataDir, 'postgres');
  await withAdmin(primary, async (client) => {
    await client.query(`SELECT pg_backup_start('${name}', true)`);
    await copyFiles(primary.cluster, standby.cluster);
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
    const connection = `host=127.0.0.1 port=${primary.port} user=postgres password=${primary.cluster.password}`;
    await writeFile(join(folder, 'backup_label'), rows[0].labelfile);
    await writeFile(join(folder, 'standby.signal'), '');
    // Replaces the copied settings, because the standby has no standby of its own.
    const file = join(folder, 'postgresql.auto.conf');
    await writeFile(file, `primary_conninfo = '${connection} application_name=${name}'\n`);
    await giveTo(
      standby.cluster,
      ['backup_label', 'standby.signal', 'postgresql.auto.conf'].map((each) => join(folder, each)),
    );
    await standby.postgres.start();
    await waitForStandby(client);
  });
}

/**
 * Copies the files of a PostgreSQL server. Excludes the files of its process, and the WAL, which the standby requests
 * from the primary.
 */
async function copyFiles(from: Cluster, to: Cluster): Promise<void> {
  const folder = join(to.dataDir, 'postgres');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(to.dataDir, 0o755);
  await giveTo(to, [folder]);
  const left = ['postmaster.*', 'pg_wal/*', 'pg_replslot/*'].map((each) => `--exclude='./${each}'`).join(' ');
  // Files can change during the copy. The WAL contains these changes, and the standby applies them later.
  const script = `tar -C '${join(from.dataDir, 'postgres')}' --warning=no-file-changed --warning=no-file-removed ${left} -cf - . |
    tar -C '${folder}' -xpf -`;
  const user = await to.findUser();
  const { code, output } = await run('/bin/sh', ['-c', script], { cwd: '/', ...(user && { user }) });
  if (code !== 0) throw new Error(`The files of PostgreSQL could not be copied: ${output}`);
}

async function giveTo(cluster: Cluster, paths: string[]): Promise<void> {
  const user = await cluster.findUser();
  if (user !== undefined) for (const path of paths) await chown(path, user.uid, user.gid);
}

/**
 * Waits until the standby receives changes, makes commits wait for the standby, and then waits until the standby has
 * all earlier data.
 */
async function waitForStandby(primary: pg.Client): Promise<void> {
  await until(primary, `state = 'streaming'`);
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await primary.query('SELECT pg_reload_conf()');
  await until(primary, `sync_state = 'sync' AND flush_lsn >= pg_current_wal_lsn()`);
}

/** Waits until a condition on the replication status is true. */
async function until(primary: pg.Client, condition: string): Promise<void> {
  for (const deadline = Date.now() + maxSyncMs; Date.now() < deadline; await sleep(50)) {
    const { rows } = await primary.query(
      `SELECT FROM pg_stat_replication WHERE application_name = '${name}' AND ${condition}`,
    );
    if (rows.length > 0) return;
  }
  throw new Error(`The standby did not catch up within ${maxSyncMs / 1000} seconds.`);
}

/** Stops the replication to a standby. */
export async function leave(standby: Member): Promise<void> {
  await withAdmin(standby, async (client) => {
    await client.query(`ALTER SYSTEM SET primary_conninfo = ''`);
    await client.query('SELECT pg_reload_conf()');
  });
}

/** Turns off synchronous commits, so waiting commits complete. */
export async function turnOffSynchronousCommits(primary: Member): Promise<void> {
  await withAdmin(primary, async (client) => {
    await client.query('ALTER SYSTEM RESET synchronous_standby_names');
    await client.query('SELECT pg_reload_conf()');
  });
}

/** Connects to the given server as the administrator, and runs `work` with the connection. */
export async function withAdmin<Result>(
  { cluster, port }: Member,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const connectionString = urlOf(cluster, port);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5000, application_name: 'administrator' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
