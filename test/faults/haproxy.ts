import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { canTest, pathOf } from '../support/programs.ts';
import { steadyPort } from './postgres.ts';

const config = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url));

const programs = ['haproxy'];

/** Whether HAProxy is installed; says so where it isn't. @throws in CI */
export const hasHaproxy = () => canTest('Rolling restarts', programs);

export interface Haproxy {
  /** Where clients ask. */
  url: string;
  stop(): Promise<void>;
}

/** Starts HAProxy before two processes of the API, each `host:port`, with the configuration that operators are given. */
export async function startHaproxy(processes: [string, string]): Promise<Haproxy> {
  const port = await steadyPort();
  const child = spawn(pathOf(programs), ['-db', '-f', config], {
    env: { PATH: process.env.PATH, BIND: `127.0.0.1:${port}`, API_1: processes[0], API_2: processes[1] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  const exited = once(child, 'exit').then(() => {
    process.off('exit', onExit);
  });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answers) break;
    if (child.exitCode !== null) throw new Error(`HAProxy ended: ${said}`);
    await sleep(20);
  }
  return {
    url,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
