import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { median } from '../../support/percentiles.ts';
import { freePort, untilReady } from './api/servers.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * The measured commands and their limits (docs/decisions/command-line.md). A limit is the maximum ratio of the
 * command's duration to the duration of `node -e 0`.
 */
const calls: readonly [call: string, maxRatio: number][] = [
  ['--help', 4],
  ['assets create --help', 4],
  ['completion bash', 4],
  ['complete ten', 4],
  ['users create --tenant 1', 4],
  ['assets template', 4],
  ['tenants list', 10],
  ['users list --tenant 1', 10],
  ['keys list --tenant 1', 10],
  ['projects list --tenant 1', 10],
  ['assets list --tenant 1', 10],
  ['deliveries list --tenant 1', 10],
  ['complete users show --tenant 1 ', 10],
];

export interface CliTime {
  call: string;
  /** The median duration in all rounds, in milliseconds. */
  medianMs: number;
  /** The duration divided by the duration of `node -e 0`. */
  times: number;
  maxRatio: number;
}

interface CliOptions {
  dataDir: string;
  rounds: number;
  onProgress: (text: string) => void;
}

/** Measures the duration of commands while an otherwise idle server runs. Each round also measures `node -e 0`. */
export async function benchCli(options: CliOptions): Promise<{ table: string; result: CliTime[] }> {
  const { dataDir, onProgress } = options;
  const port = String(await freePort());
  const env = { ...process.env, DATA_DIR: dataDir, PORT: port, LOG_LEVEL: 'silent', NODE_OPTIONS: '' };
  const server = spawn(process.execPath, ['server/src/main.ts'], { cwd: root, env, stdio: 'ignore' });
  process.once('exit', () => server.kill());
  try {
    onProgress('starting a server');
    await untilReady(`http://127.0.0.1:${port}/api/public/v1/ping`, server);
    const result = measure(env, options);
    const lines = result.map(({ call, medianMs, times, maxRatio }) => {
      return `${call.padEnd(32)}${medianMs.toFixed(0).padStart(6)} ms${times.toFixed(1).padStart(6)} of ${maxRatio}`;
    });
    return { table: `${lines.join('\n')}\n`, result };
  } finally {
    server.kill();
    if (server.exitCode === null) await once(server, 'exit');
  }
}

function measure(env: NodeJS.ProcessEnv, { rounds, onProgress }: CliOptions): CliTime[] {
  const nothing = timer(process.execPath, ['-e', '0'], env);
  const timers = calls.map(([call]) => timer('./itsm', call.split(' '), env));
  // The first call of each command is not measured, because it can fill the compile cache of Node.js.
  for (const time of timers) time();
  const times = { nothing: [] as number[], calls: calls.map(() => [] as number[]) };
  for (let round = 1; round <= rounds; round++) {
    onProgress(`round ${round} of ${rounds}`);
    times.nothing.push(nothing());
    for (const [index, time] of timers.entries()) times.calls[index]?.push(time());
  }
  const base = median(times.nothing);
  const line = calls.map(([call, maxRatio], index) => {
    const medianMs = median(times.calls[index] ?? []);
    return { call: `itsm ${call}`, medianMs, times: medianMs / base, maxRatio };
  });
  return [{ call: 'node -e 0', medianMs: base, times: 1, maxRatio: 1 }, ...line];
}

/** Returns a function that runs a program and returns its duration in milliseconds. */
function timer(program: string, args: string[], env: NodeJS.ProcessEnv): () => number {
  return () => {
    const began = performance.now();
    const { error } = spawnSync(program, args, { cwd: root, env, stdio: 'ignore' });
    if (error !== undefined) throw error;
    return performance.now() - began;
  };
}
