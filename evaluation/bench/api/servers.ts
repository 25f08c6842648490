import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { steadyPort } from '../../../test/support/postgres-server.ts';
import { v8Options } from '../../../testing/src/v8-options.ts';

type Name = 'api' | 'apiDefaultShare' | 'barePg' | 'securedPg' | 'plainStack';

/** A running server that the benchmark measures. */
export interface Measured {
  name: Name;
  url: string;
  pid: number;
  stop(): Promise<void>;
}

const api = { file: '../../../server/src/main.ts', options: v8Options };
const programs: Record<Name, { file: string; options?: string[]; env?: Record<string, string> }> = {
  // Raises the concurrency limit, because one tenant sends all requests.
  api: { ...api, env: { TENANT_CONCURRENCY_SHARE: '1' } },
  apiDefaultShare: api,
  barePg: { file: './bare.ts' },
  securedPg: { file: './bare.ts', env: { ROW_LEVEL_SECURITY: '1' } },
  plainStack: { file: './plain.ts' },
};
export const serverNames = Object.keys(programs) as Name[];

interface ServerOptions {
  /** Environment variables that extend or replace the default settings. */
  env?: Record<string, string>;
  nodeOptions?: string[];
  /** The options of V8 instead of those in production. */
  v8Options?: string[];
}

/** The key with which measured servers encrypt the secrets of webhooks. */
export const webhookSecretKey = Buffer.alloc(32, 1).toString('base64');

/**
 * Starts a reference server or the API. The API runs in production mode, with rate limits that the benchmark never
 * reaches.
 */
export async function startServer(
  name: Name,
  databaseUrl: string,
  { env = {}, nodeOptions = [], v8Options: ownOptions }: ServerOptions = {},
): Promise<Measured> {
  const port = await steadyPort();
  const { file, options = [], env: defaults } = programs[name];
  const program = fileURLToPath(new URL(file, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [...(ownOptions ?? options), ...nodeOptions, program], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      WEBHOOK_SECRET_KEY: webhookSecretKey,
      ROLES: 'api',
      STATEMENT_TIMEOUT_MS: '60000',
      RATE_LIMIT_GLOBAL: '1000000000',
      RATE_LIMIT_GROUP: '1000000000',
      ...defaults,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  stopAtExit(child);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/api/public/v1/ping`, child);
  return {
    name,
    url,
    pid: child.pid ?? 0,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Stops a child process when this process exits. */
export function stopAtExit(child: ChildProcess): void {
  const stop = () => child.kill();
  process.once('exit', stop);
  child.once('exit', () => process.off('exit', stop));
}

/**
 * Waits until the server responds.
 * @throws if the process exits before it responds
 */
async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`A measured server exited with ${child.exitCode}.`);
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
  }
  throw new Error(`${url} does not respond.`);
}
