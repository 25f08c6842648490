import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { access, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../../support/api.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';

/*
 * Tests the sync programs that users copy. The programs read more tickets than one rate limit window allows. The test
 * ends each program with kill -9 while the program writes its file, and then runs the program again.
 */
const root = new URL('../../../', import.meta.url);
const count = 3100;
let api: Api;
let workspace: Workspace;
let origin: string;

beforeAll(async () => {
  // The program requests 31 pages of 100 rows, so it needs two rate limit windows.
  api = await startApi({ ownDatabase: true, env: { RATE_LIMIT_GROUP: '20', RATE_LIMIT_WINDOW_SECONDS: '1' } });
  workspace = await createWorkspace(api);
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  await api.owner.pool.query(
    `INSERT INTO tickets (tenant_id, ordinal, number, type, title, description, category, requester_id, updated_at)
     SELECT $1, n, n, 'CHANGE', 'x', 'x', 'EMAIL', $2, now() FROM generate_series(1, $3::int) AS n`,
    [workspace.tenantId, workspace.userId, count],
  );
  const total = 'INSERT INTO ticket_sequences (tenant_id, total, change) VALUES ($1, $2, $2)';
  await api.owner.pool.query(total, [workspace.tenantId, count]);
});
afterAll(() => api.close());

interface Sample {
  source: string;
  /** The path of the file that the sync program writes. */
  file: string;
  read(text: string): object[];
}

const copied = (text: string) => Object.values(JSON.parse(text).tickets) as object[];
const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const samples: Sample[] = [
  { source: 'README.md', file: 'tickets.json', read: copied },
  { source: 'docs/index.md', file: 'tickets.json', read: copied },
  { source: 'docs/guides/sync-changes.md', file: 'copy.json', read: copied },
  { source: 'examples/sync-tickets.ts', file: 'tickets.ndjson', read: lines },
];

describe.each(samples)('sync program of $source', ({ source, file, read }) => {
  it('copies every ticket with the program in $source, even after a kill -9', {
    timeout: 60_000,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'itsm-sync-'));
    try {
      const program = await programOf(source, folder);
      const killed = run(program, folder);
      for await (const name of namesWritten(folder, killed)) if (name.startsWith(file)) killed.kill('SIGKILL');
      expect(killed.signalCode).toBe('SIGKILL');

      const finish = async () => {
        const finished = run(program, folder);
        const errors = finished.stderr.setEncoding('utf8').toArray();
        const [status] = await once(finished, 'close');
        expect(status, (await errors).join('')).toBe(0);
        return read(await readFile(join(folder, file), 'utf8')).length;
      };
      // Transactions in other databases of the PostgreSQL server can delay the newest changes, so the test retries.
      await expect.poll(finish, { timeout: 40_000 }).toBe(count);
      await expect(access(join(folder, `${file}.part`))).rejects.toThrow('ENOENT');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Returns the path of a sync program. If the program is a code block of a page, saves it to a file first. */
async function programOf(source: string, folder: string): Promise<string> {
  if (source.endsWith('.ts')) return fileURLToPath(new URL(source, root));
  const page = await readFile(new URL(source, root), 'utf8');
  const blocks = [...page.matchAll(/^```(?:js|ts)[^\n]*\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const file = join(folder, 'sync.mts');
  await writeFile(file, blocks.find((code) => code.includes('writeFile(')) ?? '');
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  return file;
}

function run(program: string, folder: string) {
  return spawn(process.execPath, [program], {
    cwd: folder,
    env: { PATH: process.env.PATH, ITSM_URL: origin, ITSM_KEY: workspace.key },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Yields the name of each changed file in a folder. Ends when the program exits. */
async function* namesWritten(folder: string, program: ReturnType<typeof run>): AsyncGenerator<string> {
  const ended = new AbortController();
  program.once('exit', () => ended.abort());
  const changes = watch(folder, { signal: ended.signal });
  const names: string[] = [];
  changes.on('change', (_, name) => names.push(String(name)));
  while (!ended.signal.aborted) {
    await Promise.race([once(changes, 'change'), once(program, 'exit')]);
    yield* names.splice(0);
  }
}
