import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compiled } from '../support/compiled.ts';

const main = join(import.meta.dirname, '../../server/src/main.ts');

/** One run of `server/src/main.ts`. */
export interface ServerProcess {
  child: ChildProcess;
  /** Resolves when it says that it is running; rejects when it ends before. */
  ready: Promise<void>;
  exited: Promise<void>;
  /** The end of what it has printed. */
  output(): string;
}

/** Starts the server, be it of another release, as a process of its own, with this environment and nothing else. */
export function spawnServer(env: Record<string, string>, nodeOptions: string[] = [], program = main): ServerProcess {
  const child = spawn(process.execPath, [...nodeOptions, program], {
    env: { PATH: process.env.PATH, ...compiled, LOG_LEVEL: 'error', DRAIN_SECONDS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  let output = '';
  const exited = once(child, 'exit').then(() => {
    process.off('exit', onExit);
  });
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk).slice(-4000);
        if (output.includes('is running.')) resolve();
      });
    }
    exited.then(() => reject(new Error(`the server ended: ${output}`)));
  });
  ready.catch(() => undefined);
  return { child, ready, exited, output: () => output };
}

/** A server process that is started again whenever it ends. */
export interface Supervised {
  /** Resolves when it is ready the next time, or at once when it is. */
  ready(): Promise<void>;
  /** SIGKILLs it; false when there is none at the moment. */
  kill(): boolean;
  /** The last words of every process that was ready and then ended without having been killed. */
  crashes: string[];
  stop(): Promise<void>;
}

/** Keeps a server process running, as a supervisor would. */
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
      // It may end while it starts: PostgreSQL may not be there yet.
      while (
        !(await current.ready.then(
          // Of what was killed just now the end isn't known yet.
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
