import { once } from 'node:events';
import { access, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { spawnCommand } from '../support/command-process.ts';
import { api } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { folder, itWithCommands as it, itsm } from './itsm.ts';

let workspace: Workspace;

it.beforeAll(async () => {
  workspace = await createWorkspace(api);
  // Creates a ticket in another workspace. No export may contain this ticket.
  await (await createWorkspace(api)).createTicket();
});

async function rowsIn(file: string): Promise<{ id: number }[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line));
}

/**
 * Returns the IDs of the assets in the change feed after a cursor. If transactions ran concurrently, the feed can
 * repeat assets that it listed before the cursor.
 */
async function idsAfter(owner: Workspace, cursor: string): Promise<number[]> {
  const ids: number[] = [];
  for (let next = cursor, hasMore = true; hasMore; ) {
    const { data, meta } = (await owner.call('GET', `/assets/changes?cursor=${next}`)).body;
    ids.push(...data.map(({ id }: { id: number }) => id));
    ({ nextCursor: next, hasMore } = meta);
  }
  return ids;
}

// Other tests on the same PostgreSQL server run long transactions, which delay the change feed, so the timeout is long.
describe('export', () => {
  it('exports each resource in the API format and prints a change feed cursor', async () => {
    const project = await workspace.createProject();
    await workspace.createTeam({ memberIds: [workspace.userId] });
    const commented = await workspace.createTicket();
    for (let i = 0; i < 3; i++) {
      await workspace.createTicket({ title: `Ünïcödé ${i}`, watcherUserIds: [workspace.userId] });
      await workspace.createComment(commented.id, { body: `Ünïcödé ${i}` });
      await workspace.createAsset();
      await workspace.createTask({}, project);
    }
    const lists: Record<string, string> = {
      tickets: '/tickets',
      comments: `/tickets/${commented.id}/comments`,
      assets: '/assets',
      projects: '/projects',
      tasks: `/projects/${project.id}/tasks`,
      users: '/users',
      teams: '/teams',
    };
    for (const [resource, path] of Object.entries(lists)) {
      const file = join(folder, `${resource}.jsonl`);
      const done = await itsm(`${resource} export ${file} --tenant ${workspace.tenantId} --json`);
      expect(done, done.stderr).toMatchObject({ code: 0, stderr: '' });
      const { exported, cursor } = JSON.parse(done.stdout);
      const { data } = (await workspace.call('GET', `${path}?perPage=100`)).body;
      expect(await rowsIn(file)).toEqual(data.toReversed());
      expect(exported).toBe(data.length);
      // The change feed can repeat rows that were written while another transaction was open.
      const after = await workspace.call('GET', `/${resource}/changes?cursor=${cursor}`);
      expect(after.body, resource).toMatchObject({ meta: { hasMore: false } });
      expect(data).toEqual(expect.arrayContaining(after.body.data));
    }
  });

  it('prints a cursor from which the next export repeats no rows if no earlier transaction is open', async () => {
    const file = join(folder, 'settled.jsonl');
    const again = async () => {
      const { stdout } = await itsm(`users export ${file} --tenant ${workspace.tenantId} --json --yes`);
      return (await workspace.call('GET', `/users/changes?cursor=${JSON.parse(stdout).cursor}`)).body.data;
    };
    await expect.poll(again).toEqual([]);
  });

  it('prints an export cursor that returns all changes after the export', async () => {
    const file = join(folder, 'followed.jsonl');
    const { stdout } = await itsm(`tickets export ${file} --tenant ${workspace.tenantId}`);
    const [, count, query] = /^Exported (\d+) tickets. .+GET \/api\/public\/v1(\S+)\n$/.exec(stdout) ?? [];
    expect(Number(count)).toBe((await rowsIn(file)).length);
    const { id } = await workspace.createTicket();
    await expect
      .poll(async () => (await workspace.call('GET', query ?? '')).body.data.map((row: { id: number }) => row.id))
      .toContain(id);
  });

  it('writes a complete export file if two exports write to it concurrently', async () => {
    const owner = await createWorkspace(api);
    await api.owner.pool.query(`INSERT INTO assets (tenant_id, name, asset_tag, type, updated_at)
      SELECT ${owner.tenantId}, 'Laptop', 'LT-' || i, 'LAPTOP', now() FROM generate_series(1, 20000) AS i`);
    const file = join(folder, 'twice.jsonl');
    const args = ['assets', 'export', file, '--tenant', String(owner.tenantId), '--yes'];
    const codes = [1, 2].map(async () => (await once(spawnCommand(args, api.databaseUrl), 'exit'))[0]);
    expect(await Promise.all(codes)).toEqual([0, 0]);
    const ids = (await rowsIn(file)).map((row) => row.id);
    expect([ids.length, new Set(ids).size]).toEqual([20_000, 20_000]);
    expect((await readdir(folder)).filter((name) => /^twice.+partial$/.test(name))).toEqual([]);
  });

  it('leaves no incomplete export file after an export is killed', async () => {
    const owner = await createWorkspace(api);
    await api.owner.pool.query(`INSERT INTO assets (tenant_id, name, asset_tag, type, updated_at)
      SELECT ${owner.tenantId}, 'Laptop', 'LT-' || i, 'LAPTOP', now() FROM generate_series(1, 8000) AS i`);
    const file = join(folder, 'killed.jsonl');
    const args = ['assets', 'export', file, '--tenant', String(owner.tenantId), '--json'];
    const partials = async () => (await readdir(folder)).filter((name) => /^killed.+partial$/.test(name));
    const written = async () => {
      const [partial] = await partials();
      return partial === undefined ? 0 : (await stat(join(folder, partial))).size;
    };
    // The command removes its temporary file after SIGINT.
    const interrupted = spawnCommand(args, api.databaseUrl);
    await expect.poll(written, { interval: 5 }).toBeGreaterThan(0);
    interrupted.kill('SIGINT');
    expect(await once(interrupted, 'exit')).toEqual([130, null]);
    expect(await partials()).toEqual([]);

    const child = spawnCommand(args, api.databaseUrl);
    await expect.poll(written, { interval: 5 }).toBeGreaterThan(0);
    child.kill('SIGKILL');
    const [stdout] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    // A killed command must print no cursor. A client that used the cursor would miss the rows that were not exported.
    expect(stdout).toBe('');
    await expect(access(file)).rejects.toThrow('ENOENT');

    const { id } = await owner.createAsset({ name: 'Created between exports' });
    const done = await itsm(args.join(' '));
    const { exported, cursor } = JSON.parse(done.stdout);
    const { id: later } = await owner.createAsset({ name: 'Created later' });
    const ids = (await rowsIn(file)).map((row) => row.id);
    expect([ids.length, new Set(ids).size, ids.at(-1)]).toEqual([exported, 8001, id]);
    await expect.poll(() => idsAfter(owner, cursor)).toContain(later);
  });

  it('replaces an existing export file only with --yes', async () => {
    const file = join(folder, 'kept.jsonl');
    await writeFile(file, 'mine');
    const command = `users export ${file} --tenant ${workspace.tenantId}`;
    expect(await itsm(command)).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: --yes is required to replace ${file} without a terminal\n`,
    });
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect((await itsm(`${command} --yes`)).code).toBe(0);
    expect((await rowsIn(file)).length).toBeGreaterThan(0);
    expect((await readdir(folder)).filter((name) => /^kept.+partial$/.test(name))).toEqual([]);
    const nowhere = await itsm(`users export ${folder}/none/file --tenant ${workspace.tenantId}`);
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining("can't be written") });
  });
});
