import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { api } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { folder, itWithCommands as it, itsm } from './itsm.ts';

let workspace: Workspace;

it.beforeAll(async () => {
  workspace = await createWorkspace(api);
  const theirs = await createWorkspace(api);
  for (const [id, path, by] of [
    ['first', '/users', workspace],
    ['second', '/assets/2147483647', workspace],
    ['theirs', '/users', theirs],
  ] as const) {
    await by.call('GET', path, undefined, { 'x-request-id': id });
  }
  await api.requestLog.flush();
});

describe('itsm requests', () => {
  it('lists the requests of a tenant, filtered by key, error and time', async () => {
    const list = async (options = '') => {
      const { stdout } = await itsm(`requests list --tenant ${workspace.tenantId} --json${options}`);
      return JSON.parse(stdout).map(({ requestId }: { requestId: string }) => requestId);
    };
    expect(await list()).toEqual(['second', 'first']);
    expect(await list(' --limit 1')).toEqual(['second']);
    expect(await list(' --error any --since 1h')).toEqual(['second']);
    expect(await list(` --key ${workspace.context.keyId} --until 2026-01-01`)).toEqual([]);
    const future = await itsm(`requests list --tenant ${workspace.tenantId} --since 2099-01-01`);
    expect(future).toMatchObject({ code: 2, stderr: expect.stringContaining('a past time') });
  });

  it('shows a request by its id', async () => {
    const found = await itsm(`requests show second --tenant ${workspace.tenantId}`);
    expect(found).toMatchObject({ code: 0, stderr: '' });
    expect(found.stdout).toMatch(/request +GET \/api\/public\/v1\/assets\/2147483647\nstatus +404\nerror +NOT_FOUND/);
    const missing = await itsm(`requests show theirs --tenant ${workspace.tenantId}`);
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toContain('no request with this ID');
  });

  it('exports requests as JSON Lines', async () => {
    const file = join(folder, 'requests.jsonl');
    const exported = await itsm(`requests export ${file} --tenant ${workspace.tenantId}`);
    expect(exported).toEqual({ code: 0, stdout: 'Exported 2 requests.\n', stderr: '' });
    const lines = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      expect.objectContaining({ requestId: 'second', status: 404, errorCode: 'NOT_FOUND' }),
      expect.objectContaining({ requestId: 'first', status: 200, errorCode: null }),
    ]);
    expect(await readdir(folder)).toEqual(['requests.jsonl']);
    expect((await itsm(`requests export ${file} --tenant ${workspace.tenantId}`)).code).toBe(2);
    const filters = `--error any --key ${workspace.context.keyId} --since 1h`;
    await itsm(`requests export ${file} --yes --tenant ${workspace.tenantId} ${filters}`);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ requestId: 'second' });
  });
});
