import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pnpm } from '../support/pnpm.ts';
import { openPostgres, type Postgres, steadyPort } from '../support/postgres-server.ts';
import { type ServerProcess, spawnServer } from '../support/server-process.ts';

/*
 * Rehearses an upgrade from the first release to the present, with the commands of the chapter "Upgrades" and the client
 * of the first release. It installs the first release from Git, so it runs only in `pnpm test:nightly upgrade`.
 */
const firstRelease = 'f17ce7e9';
const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);

/** A program with the client of the first release. It reads all rows, writes some, and follows the changes. */
const program = `
import { ItsmClient } from './client/src/index.ts';

const { ITSM_URL: baseUrl, ITSM_KEY: apiKey, CURSOR: cursor } = process.env;
const client = new ItsmClient({ baseUrl, apiKey });
const read = {};
for (const resource of ['tickets', 'assets', 'projects', 'users', 'webhooks', 'articles'])
  read[resource] = await Array.fromAsync(client[resource].list());
const changes = client.tickets.changes({ cursor });
const changed = [];
for await (const { id } of changes) changed.push(id);
const ticket = await client.tickets.create({
  title: 'Written by the first release', description: 'x', type: 'INCIDENT', category: 'NETWORK',
});
const updated = await client.tickets.update(ticket.id, { priority: 'HIGH' }, { ifMatch: ticket.etag });
await client.comments.create(ticket.id, { body: 'x', visibility: 'PUBLIC' });
await client.tickets.updateMany([{ id: ticket.id, status: 'IN_PROGRESS' }]);
const { status } = await client.tickets.get(ticket.id);
const { data: me } = await client.me.get().withResponse();
console.log(JSON.stringify({
  read, changed, cursor: changes.cursor, written: ticket.id, priority: updated.priority, status, user: me.user.id,
}));
`;

interface Result {
  read: Record<string, { id: number }[]>;
  changed: number[];
  cursor: string;
  written: number;
  priority: string;
  status: string;
}

describe.skipIf(process.env.UPGRADE_REHEARSAL === undefined)('upgrade from the first release', () => {
  let folder: string;
  let old: string;
  let postgres: Postgres;
  let env: Record<string, string>;
  let key: string;
  const servers: ServerProcess[] = [];

  const itsm = async (cwd: string, command: string) =>
    (await execute('sh', ['-c', command], { cwd, env: { PATH: process.env.PATH, ...env } })).stdout.trim();
  const start = async (main?: string) => {
    const port = String(await steadyPort());
    const server = spawnServer({ ...env, PORT: port }, [], main);
    servers.push(server);
    await server.ready;
    return { server, url: `http://127.0.0.1:${port}` };
  };
  const useOldClient = async (url: string, cursor?: string): Promise<Result> => {
    const settings = {
      PATH: process.env.PATH,
      ITSM_URL: url,
      ITSM_KEY: key,
      ...(cursor !== undefined && { CURSOR: cursor }),
    };
    const { stdout } = await execute(process.execPath, ['client.mts'], { cwd: old, env: settings, maxBuffer: 2 ** 26 });
    return JSON.parse(stdout);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'itsm-upgrade-'));
    old = join(folder, 'first-release');
    await mkdir(old);
    await execute('sh', ['-c', `git archive ${firstRelease} | tar --extract --directory "${old}"`], { cwd: root });
    await pnpm(['install', '--prod', '--frozen-lockfile', '--filter', '.', '--filter', '@itsm-api/server...'], old);
    await writeFile(join(old, 'client.mts'), program);
    postgres = await openPostgres();
    env = {
      DATABASE_URL: postgres.url,
      WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'),
      DATA_DIR: join(folder, 'data'),
    };
  });
  afterAll(async () => {
    for (const { child } of servers) child.kill('SIGKILL');
    await postgres?.remove();
    await rm(folder, { recursive: true });
  });

  it('keeps all data, cursors and the client of the first release', { timeout: 300_000 }, async () => {
    await itsm(old, './itsm migrate && ./itsm seed');
    const user = "--tenant 'Acme Corporation' --user ada.okafor@acme.example";
    key = /itsm_\w+/.exec(await itsm(old, `./itsm keys create ${user} --name rehearsal --scopes all`))?.[0] ?? '';
    const before = await start(join(old, 'server/src/main.ts'));
    const first = await useOldClient(before.url);
    expect(first).toMatchObject({ priority: 'HIGH', status: 'IN_PROGRESS' });
    expect(first.read.tickets?.length).toBeGreaterThan(30);

    const [, chapter = ''] =
      /^## Upgrade without downtime\n(.*?)^##/ms.exec(
        await readFile(join(root, 'docs/operations/install-and-upgrade.md'), 'utf8'),
      ) ?? [];
    const [migrate, doctor] = [...chapter.matchAll(/^\d\. Run `(\.\/itsm \w+)`/gm)].map(([, command = '']) => command);
    expect([migrate, doctor]).toEqual(['./itsm migrate', './itsm doctor']);
    await itsm(root, migrate ?? '');
    // The processes of the first release use the new schema until they are replaced.
    const between = await useOldClient(before.url, first.cursor);
    const after = await start();
    before.server.child.kill('SIGTERM');
    await before.server.exited;
    const last = await useOldClient(after.url, between.cursor);

    expect(between.changed).toContain(first.written);
    expect(last.changed).toContain(between.written);
    for (const [resource, rows] of Object.entries(first.read)) {
      const present = new Map(last.read[resource]?.map((row) => [row.id, row]));
      for (const row of rows) expect(present.get(row.id), `${resource} ${row.id}`).toMatchObject(row);
    }
    expect(last).toMatchObject({ priority: 'HIGH', status: 'IN_PROGRESS' });
    // Prints each finding, and exits with 1 if one is wrong.
    expect(await itsm(root, doctor ?? '')).toContain('row-level security');
  });
});
