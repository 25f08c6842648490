import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { compiled } from './compiled.ts';

/** A server as the first start makes it: a process of its own, with worker, database and demo workspace. */
export interface FirstStart {
  /** Where browsers find it, and programs the API. */
  origin: string;
  /** The key that it prints. */
  key: string;
  /** The link to the developer area that it prints. */
  link: string;
  stop(): Promise<void>;
}

const main = join(import.meta.dirname, '../../server/src/main.ts');

/** Starts a server in a folder of its own, as whoever has just cloned the repository. */
export async function firstStart(): Promise<FirstStart> {
  const folder = await mkdtemp(join(tmpdir(), 'itsm-first-'));
  // As root, PostgreSQL runs as another user, who must get in.
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

/** What it says of the demo workspace, in a line of its log. @throws when it ends before */
function greetingOf(output: Readable): Promise<{ key: string; area: string }> {
  return new Promise((resolve, reject) => {
    const lines = createInterface(output);
    // It goes on being read to its end, or the process would wait for a reader.
    lines.on('line', (line) => {
      if (line.includes('"demo"')) resolve(JSON.parse(line).demo);
    });
    lines.on('close', () => reject(new Error('The server ended before it was ready.')));
  });
}
