import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobName } from './job-name.ts';
import { v8Options } from './v8-options.ts';
import { createWorkspace, runJobs, type Workspace } from './workspace.ts';

export type { Fault } from './fault-proxy.ts';
export type { JobName } from './job-name.ts';
export type { Receiver } from './receiver.ts';
export {
  type Aged,
  createWorkspace,
  type Duration,
  type NewTestKey,
  type NewTestUser,
  runJobs,
  type Workspace,
} from './workspace.ts';

/** A server for tests, with its own PostgreSQL. */
export interface Itsm {
  /** The origin of the server, such as `http://127.0.0.1:40123`. The function `createWorkspace` also accepts it. */
  readonly url: string;
  /** Creates an empty workspace. The workspaces of a server can't access each other. */
  createWorkspace(): Promise<Workspace>;
  /**
   * Runs a scheduled job now, for all workspaces, and resolves when it has ended.
   * @param name the name of a job, or `retention` for all jobs that delete old rows
   */
  runJobs(name: JobName): Promise<void>;
  /** Stops the server and deletes all its data. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ItsmOptions {
  /** Whether the server limits the number of requests per API key and minute. Default: false. */
  rateLimits?: boolean;
  /**
   * The delays between the attempts of a webhook delivery, in milliseconds, at least 10. After the last delay, the
   * server makes one final attempt. The times of the circuit breaker and of the pause change in the same proportion.
   * Default: the delays in production, which take more than three days.
   */
  retrySchedule?: readonly number[];
}

/**
 * The program of the server. Node.js runs the TypeScript sources in the repository, but only JavaScript in
 * `node_modules`, where the ES module and the CommonJS module of this file run the same bundle.
 */
const program = import.meta.dirname.endsWith('src')
  ? join(import.meta.dirname, '../../server/src/testing/index.ts')
  : join(import.meta.dirname.replace(/cjs$/, ''), 'server/src/testing/bundle/index.mjs');

/** The number of milliseconds after which the start fails. The first start on a machine creates the database. */
const maxStartMs = 60_000;

/**
 * Starts a server with its own PostgreSQL in a child process. The server ends when this process ends.
 * @throws Error with the output of the server if it doesn't start
 */
export async function startItsm(options: ItsmOptions = {}): Promise<Itsm> {
  const child = spawn(process.execPath, [...v8Options, program, ...argumentsOf(options)], {
    env: {
      ...pick(['PATH', 'HOME', 'USER', 'TMPDIR', 'TEMP', 'SystemRoot']),
      NODE_COMPILE_CACHE: join(tmpdir(), 'itsm-compile-cache'),
      HOST: '127.0.0.1',
      PORT: '0',
    },
    // The server ends when the channel closes.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // In a terminal, Ctrl-C would otherwise also stop the server, before the tests have ended.
    detached: true,
  });
  const exited = once(child, 'exit');
  const url = await readUrl(child, exited);
  // A test process that doesn't call `stop` can end.
  child.unref();
  child.channel?.unref();
  for (const stream of [child.stdout, child.stderr]) (stream as unknown as { unref(): void } | null)?.unref();
  const stop = async () => {
    child.ref();
    if (child.connected) child.disconnect();
    await exited;
  };
  return {
    ...{ url, createWorkspace: () => createWorkspace(url), runJobs: (name: JobName) => runJobs(url, name) },
    ...{ stop, [Symbol.asyncDispose]: stop },
  };
}

/** Returns the arguments of the server's program. */
function argumentsOf({ rateLimits = false, retrySchedule }: ItsmOptions): string[] {
  return [
    ...(rateLimits ? ['--rate-limits'] : []),
    ...(retrySchedule === undefined ? [] : [`--retry-schedule=${retrySchedule.join(',')}`]),
  ];
}

/** Returns the origin that the server logs when it is ready. */
async function readUrl(child: ChildProcess, exited: Promise<unknown[]>): Promise<string> {
  let output = '';
  const ready = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-10_000);
      const url = /"api":"(http[^"]+?)\/api\//.exec(output)?.[1];
      if (url !== undefined) ready.resolve(url);
    });
  }
  exited.then(() => ready.reject(new Error(`The ITSM server did not start: ${output.trim()}`)));
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
    ready.reject(new Error(`The ITSM server was not ready after ${maxStartMs / 1000} s: ${output.trim()}`));
  }, maxStartMs);
  try {
    return await ready.promise;
  } finally {
    clearTimeout(timer);
  }
}

function pick(names: string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}
