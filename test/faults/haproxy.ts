import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { canTest, pathOf } from '../support/programs.ts';
import { steadyPort } from './postgres.ts';

const configs = ['../../deploy/haproxy.cfg', './plain-balancer.cfg'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

const programs = ['haproxy'];

/** Whether HAProxy is installed; says so where it isn't. @throws in CI */
export const hasHaproxy = () => canTest('Rolling restarts', programs);

export interface Haproxy {
  /** Where clients ask through the configuration that operators are given, deploy/haproxy.cfg. */
  deployed: string;
  /** Where they ask through one that sends each request once, plain-balancer.cfg. */
  plain: string;
  stop(): Promise<void>;
}

/** Starts HAProxy before two processes of the API, each `host:port`, with both configurations. */
export async function startHaproxy(processes: [string, string]): Promise<Haproxy> {
  const [deployed, plain] = [await steadyPort(), await steadyPort()].map((port) => `127.0.0.1:${port}`);
  const child = spawn(pathOf(programs), ['-db', ...configs.flatMap((config) => ['-f', config])], {
    env: {
      PATH: process.env.PATH,
      BIND: deployed,
      BIND_PLAIN: plain,
      API_1: processes[0],
      API_2: processes[1],
    },
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
  for (;;) {
    const answers = await fetch(`http://${deployed}`).then(
      () => true,
      () => false,
    );
    if (answers) break;
    if (child.exitCode !== null) throw new Error(`HAProxy ended: ${said}`);
    await sleep(20);
  }
  return {
    deployed: `http://${deployed}`,
    plain: `http://${plain}`,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
