import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { access, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ItsmClient } from '@itsm-api/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../../support/api.ts';
import { pathOf, skipUnlessInstalled } from '../../support/programs.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';

/*
 * Tests the sync programs that users copy. The programs for tickets read more tickets than one rate limit window allows.
 * The test ends each program with kill -9 while it works, and then runs the program again.
 */
const root = new URL('../../../', import.meta.url);
const count = 3100;
let api: Api;
let workspace: Workspace;
let origin: string;

beforeAll(async () => {
  // A program requests 31 pages of 100 tickets, so it needs two rate limit windows.
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
  { source: 'docs/guides/sync-changes.md', file: 'copy.json', read: copied },
  { source: 'examples/sync-tickets.ts', file: 'tickets.ndjson', read: lines },
];

describe.each(samples)('sync program of $source', ({ source, file, read }) => {
  it('copies every ticket with the program in $source, even after a kill -9', async () => {
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
      await expect.poll(finish).toBe(count);
      await expect(access(join(folder, `${file}.part`))).rejects.toThrow('ENOENT');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('sync program of docs/guides/sync-assets.md', () => {
  it('creates each asset once, even after a kill -9, and then writes only the assets that differ', async () => {
    const own = await createWorkspace(api);
    const folder = await mkdtemp(join(tmpdir(), 'itsm-sync-'));
    try {
      const program = await programOf('docs/guides/sync-assets.md', folder);
      const devices = Array.from({ length: 600 }, (_, index) => ({
        ...{ id: `${index}`, assetTag: `LT-${1000 + index}`, name: `Laptop ${index}`, type: 'LAPTOP' },
        ...{ serialNumber: `S-${index}`, location: 'Berlin', warrantyExpiresAt: '2028-03-14T00:00:00.000Z' },
        customFields: { floor: index % 9, macAddresses: [`00:1e:67:69:4c:${index}`] },
      }));
      const saveList = () => writeFile(join(folder, 'inventory.json'), JSON.stringify(devices));
      const finish = async () => {
        const finished = run(program, folder, own);
        const errors = finished.stderr.setEncoding('utf8').toArray();
        const [status] = await once(finished, 'close');
        expect(status, (await errors).join('')).toBe(0);
      };
      const readAssets = async () => {
        const where = { tenantId: own.tenantId };
        const rows = await api.prisma.asset.findMany({ where, orderBy: { assetTag: 'asc' } });
        return rows.map((row) => ({ ...row, warrantyExpiresAt: row.warrantyExpiresAt?.toISOString() }));
      };
      const asset = ({ id, ...device }: (typeof devices)[number], version: number) =>
        expect.objectContaining({ ...device, externalId: `inventory:${id}`, version });

      await saveList();
      const killed = run(program, folder, own);
      const exited = once(killed, 'exit');
      for await (const text of killed.stderr.setEncoding('utf8')) {
        if (text.includes('Sent 300 of 600')) killed.kill('SIGKILL');
      }
      expect(await exited).toEqual([null, 'SIGKILL']);
      await finish();
      expect(await readAssets()).toEqual(devices.map((device) => asset(device, 1)));

      const moved = devices.filter((_, index) => index % 100 === 7);
      for (const device of moved) device.location = 'Munich';
      await saveList();
      const night = new Date().toISOString();
      await finish();
      expect(await readAssets()).toEqual(devices.map((device) => asset(device, moved.includes(device) ? 2 : 1)));
      const { activities, assets } = new ItsmClient({ baseUrl: origin, apiKey: own.key });
      const readTags = async () => {
        const tags: string[] = [];
        const changed = assets.changes({ since: night });
        for await (const { assetTag, updatedAt } of changed) if (updatedAt >= night) tags.push(assetTag);
        return tags;
      };
      const readChanges = async () => {
        const all: object[] = [];
        for await (const { at, changes } of activities.ofAssets({ since: night })) if (at >= night) all.push(changes);
        return all;
      };
      // Transactions in other databases of the PostgreSQL server can delay the newest changes.
      const poll = { interval: 500 };
      await expect.poll(readTags, poll).toEqual(moved.map(({ assetTag }) => assetTag));
      const change = { location: { from: 'Berlin', to: 'Munich' } };
      await expect.poll(readChanges, poll).toEqual(moved.map(() => change));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('examples/inventory.ts', () => {
  it('turns the output of the installed lshw into an asset that the API accepts', {
    ...skipUnlessInstalled(['lshw']),
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'itsm-sync-'));
    try {
      const file = join(folder, 'machine.json');
      const execute = promisify(execFile);
      await writeFile(file, (await execute(pathOf(['lshw']), ['-json'])).stdout);
      const program = fileURLToPath(new URL('examples/inventory.ts', root));
      const [{ id, ...fields }] = JSON.parse((await execute(process.execPath, [program, file])).stdout);
      const assets = [{ ...fields, externalId: `inventory:${id}` }];
      const { body } = await workspace.call('POST', '/assets/upsert', { assets });
      expect(body.data).toMatchObject([{ result: 'CREATED', data: { name: hostname() } }]);
      expect(body.data[0].data.customFields.memoryGiB).toBeGreaterThanOrEqual(1);
      expect((await workspace.call('POST', '/assets/upsert', { assets })).body.data[0].result).toBe('UNCHANGED');
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

function run(program: string, folder: string, { key } = workspace) {
  return spawn(process.execPath, [program], {
    cwd: folder,
    env: { PATH: process.env.PATH, ITSM_URL: origin, ITSM_KEY: key },
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
