import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { TestOptions } from 'vitest';
import { skipUnless } from './skip-unless.ts';

/** The folder of the Python client. */
export const pythonClient = join(import.meta.dirname, '../../client/python');

/** The environment in which programs import the Python client from its folder. */
export const pythonEnvironment = {
  PATH: process.env.PATH,
  PYTHONPATH: join(pythonClient, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONIOENCODING: 'utf-8',
  // A proxy of the machine must not receive the requests of the tests.
  NO_PROXY: '*',
};

// Debian's Python sees the packages of Debian, such as pytest.
const candidates = ['/usr/bin/python3', 'python3'].filter((path) => !path.startsWith('/') || existsSync(path));
const isSupported = (path: string) =>
  spawnSync(path, ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).status === 0;

/** The first Python that can run the client, or undefined. */
export const python = candidates.find(isSupported);

/** Returns options of `it` and `describe` that skip tests unless Python 3.11 or later is installed. */
export const skipUnlessPython = (): TestOptions =>
  skipUnless(python !== undefined, 'Python 3.11 or later is not installed.');

/** Runs Python with the client. Returns its exit code and its output. */
export async function runPython(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const env = { ...pythonEnvironment, ...options.env };
  return promisify(execFile)(python ?? 'python3', args, { ...options, env, maxBuffer: 2 ** 24 })
    .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
    .catch(({ code, stdout, stderr }) => ({ code: Number(code), stdout: String(stdout), stderr: String(stderr) }));
}

/** A Python program that reads a task from each line of its standard input, and prints a result. */
export interface PythonProcess<Result> {
  run(task: object): Promise<Result>;
  stop(): Promise<void>;
}

/** The outcome of a call: its value, or the properties of its error. */
export interface Outcome {
  value?: unknown;
  error?: Record<string, unknown>;
}

/** A Python process that runs the calls in `sources` concurrently, and returns their outcomes. */
export type PythonDriver = PythonProcess<Outcome[]>;

/** Starts test/client/python/driver.py. */
export function startPythonDriver(): PythonDriver {
  return startPythonProcess(join(import.meta.dirname, '../client/python/driver.py'));
}

/** Starts a Python program that runs tasks. */
export function startPythonProcess<Result>(file: string, cwd?: string): PythonProcess<Result> {
  const child = spawn(python ?? 'python3', [file], {
    cwd,
    env: pythonEnvironment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(task) {
      child.stdin.write(`${JSON.stringify(task)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error('The Python process ended.');
      return JSON.parse(value);
    },
    async stop() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
