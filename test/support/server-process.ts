import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { v8Options } from '../../testing/src/v8-options.ts';
import { compiled } from './compiled.ts';

const main = join(import.meta.dirname, '../../server/src/main.ts');

/** A process that runs `server/src/main.ts`. */
export interface ServerProcess {
  child: ChildProcess;
  /** Resolves when the process logs that it is running. Rejects if the process exits first. */
  ready: Promise<void>;
  /** Resolves to the exit code when the process exits. */
  exited: Promise<number | null>;
  /** Returns the last part of the process output. */
  output(): string;
}

/**
 * Spawns a server process with the given environment variables instead of those of the test process, and with the same
 * options of V8 as in production.
 * @param cwd the folder that contains its `.env` file
 */
export function spawnServer(env: Record<string, string>, nodeOptions: string[] = [], cwd?: string): ServerProcess {
  const child = spawn(process.execPath, [...v8Options, ...nodeOptions, main], {
    cwd,
    env: { PATH: process.env.PATH, ...compiled, LOG_LEVEL: 'error', DRAIN_SECONDS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  let output = '';
  const exited = once(child, 'exit').then(([code]) => {
    process.off('exit', onExit);
    return code as number | null;
  });
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk).slice(-100_000);
        if (output.includes('is running.')) resolve();
      });
    }
    exited.then((code) => reject(new Error(`The server exited with ${code}: ${output}`)));
  });
  ready.catch(() => undefined);
  return { child, ready, exited, output: () => output };
}

/** A server whose process is restarted whenever it exits. */
export interface Supervised {
  /** Resolves when the process is ready. */
  ready(): Promise<void>;
  /** Kills the process with SIGKILL. Returns false if no process runs. */
  kill(): boolean;
  /** The last output of each process that exited unexpectedly after it was ready. */
  crashes: string[];
  stop(): Promise<void>;
}

/** Runs a server process and restarts it whenever it exits, as a supervisor does. */
export function supervise(env: Record<string, string>): Supervised {
  const crashes: string[] = [];
  let stopped = false;
  let current = spawnServer(env);

  const ended = (async () => {
    while (!stopped) {
      const { child, ready, exited, output } = current;
      const wasReady = await ready.then(
        () => true,
        () => false,
      );
      await exited;
      if (wasReady && !child.killed) crashes.push(output());
      await sleep(100);
      if (!stopped) current = spawnServer(env);
    }
  })();

  return {
    crashes,
    async ready() {
      // The process can exit during its start, because PostgreSQL might not be available yet.
      while (
        !(await current.ready.then(
          // Also checks `killed`, because Node.js reports the exit of a killed process with a delay.
          () => current.child.exitCode === null && current.child.signalCode === null && !current.child.killed,
          () => false,
        ))
      ) {
        await sleep(50);
      }
    },
    kill: () => current.child.exitCode === null && current.child.kill('SIGKILL'),
    async stop() {
      stopped = true;
      current.child.kill('SIGTERM');
      await ended;
    },
  };
}
