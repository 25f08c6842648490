import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { steadyPort } from './postgres-server.ts';
import { pathOf, skipUnlessInstalled } from './programs.ts';

/** A Redis server for one test, without persistence. The server keeps its port when it restarts. */
export interface TestRedis {
  url: string;
  /**
   * Starts Redis with the given options of `redis-server`, unless Redis is already running. Resolves when Redis
   * responds.
   */
  start(...options: string[]): Promise<void>;
  kill(): Promise<void>;
  /** Pauses Redis. A paused Redis accepts connections and commands, but doesn't respond. */
  silence(): void;
  wake(): void;
  /** Sends a command to Redis with `redis-cli`, and returns the response. */
  send(...command: string[]): Promise<string>;
}

const programs = ['redis-server', 'valkey-server'];

/** Returns options that skip tests unless Redis is installed. */
export const skipUnlessRedis = () => skipUnlessInstalled(programs);

export async function openRedis(): Promise<TestRedis> {
  const program = pathOf(programs);
  const client = program.replace(/server$/, 'cli');
  const port = await steadyPort();
  let server: ReturnType<typeof spawn> | undefined;
  process.once('exit', () => server?.kill('SIGKILL'));

  const send: TestRedis['send'] = async (...command) => {
    const { stdout } = await promisify(execFile)(client, ['-p', String(port), '-e', ...command]);
    return stdout.trim();
  };

  return {
    url: `redis://127.0.0.1:${port}`,
    send,
    async start(...options) {
      if (server !== undefined) return;
      const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
      server = spawn(program, [...settings, ...options], { stdio: 'ignore' });
      while (
        !(await send('PING').then(
          () => true,
          () => server?.exitCode !== null,
        ))
      ) {
        await sleep(10);
      }
      if (server.exitCode !== null) throw new Error(`${program} ended with ${server.exitCode}`);
    },
    async kill() {
      if (server === undefined) return;
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      await exited;
      server = undefined;
    },
    silence: () => server?.kill('SIGSTOP'),
    wake: () => server?.kill('SIGCONT'),
  };
}

/** Returns the Redis permissions that docs/operations/install-and-upgrade.md documents for the user in REDIS_URL. */
export async function documentedRights(): Promise<string[]> {
  const page = await readFile(join(import.meta.dirname, '../../docs/operations/install-and-upgrade.md'), 'utf8');
  const rights = /`ACL SETUSER itsm on >password ([^`]+)`/.exec(page)?.[1];
  if (rights === undefined) throw new Error('docs/operations/install-and-upgrade.md names no rights.');
  return rights.split(/\s+/);
}
