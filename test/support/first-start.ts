import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { compiled } from './compiled.ts';

/** A server process after its first start, with a worker, a database and the demo workspace. */
export interface FirstStart {
  /** The origin of the pages and the API. */
  origin: string;
  /** The API key that the server prints. */
  key: string;
  /** The sign-in link of the developer area that the server prints. */
  link: string;
  stop(): Promise<void>;
}

const main = join(import.meta.dirname, '../../server/src/main.ts');

/** Starts a server in a new folder, like a user who has cloned the repository. */
export async function firstStart(): Promise<FirstStart> {
  const folder = await mkdtemp(join(tmpdir(), 'itsm-first-'));
  // If root runs the test, PostgreSQL runs as another user, which needs access to the folder.
  await chmod(folder, 0o755);
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, ...compiled, PORT: '0', DATA_DIR: folder, DRAIN_SECONDS: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const { key, area } = await greetingOf(child.stdout);
  return {
    origin: new URL(area).origin,
    key,
    link: area,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Waits for the log line about the demo workspace.
 * @throws if the process exits before it logs the line
 */
function greetingOf(output: Readable): Promise<{ key: string; area: string }> {
  return new Promise((resolve, reject) => {
    const lines = createInterface(output);
    // Reads all output of the process. Otherwise, the process would block when the pipe is full.
    lines.on('line', (line) => {
      if (line.includes('"demo"')) resolve(JSON.parse(line).demo);
    });
    lines.on('close', () => reject(new Error('The server ended before it was ready.')));
  });
}
