import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { steadyPort } from './postgres-server.ts';
import { pathOf, skipUnlessInstalled } from './programs.ts';

const programs = ['pgbouncer'];

/** Returns options that skip tests unless PgBouncer is installed. */
export const skipUnlessPgBouncer = () => skipUnlessInstalled(programs);

/** The Unix user `nobody`. PgBouncer can't run as root. */
const nobody = { uid: 65534, gid: 65534 };

/** A PgBouncer process in front of one database. */
export interface PgBouncer {
  /** The URL of the database through PgBouncer. */
  url: string;
  close(): Promise<void>;
}

export async function startPgBouncer(databaseUrl: string, poolMode: 'session' | 'transaction'): Promise<PgBouncer> {
  const program = pathOf(programs);
  const { hostname, port, pathname, username, password } = new URL(databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), 'itsm-pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  const listenPort = await steadyPort();
  const secret = decodeURIComponent(password);
  await writeFile(
    file,
    `[databases]
itsm = host=${hostname} port=${port} dbname=${pathname.slice(1)} user=${decodeURIComponent(username)} password=${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
default_pool_size = 60
`,
    { mode: 0o600 },
  );
  const asRoot = process.getuid?.() === 0;
  if (asRoot) {
    await chmod(folder, 0o711);
    await chown(file, nobody.uid, nobody.gid);
  }
  const child = spawn(program, [file], { ...(asRoot && nobody), stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  const exited = once(child, 'exit');
  for (const deadline = Date.now() + 10_000; !(await isListening(listenPort)); await sleep(50)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`PgBouncer did not start: ${output}`);
  }
  return {
    url: `postgresql://anybody@127.0.0.1:${listenPort}/itsm`,
    async close() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
