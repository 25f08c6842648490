import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pruneAudit } from '@itsm-api/server/resources/audit/audit-retention.ts';
import { updateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { api } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { folder, itWithCommands as it, itsm } from './itsm.ts';

let mine: Workspace;
let theirs: Workspace;
/** The id of the user that the tests change. */
let user: number;

it.beforeAll(async () => {
  [mine, theirs] = [await createWorkspace(api), await createWorkspace(api)];
  user = (await mine.createUser()).id;
  await updateUser(mine.context, user, { role: 'REQUESTER', name: 'Grace' });
  await theirs.createUser();
});

/** Exports entries of the workspace `mine`. Returns the entries, and the output of the command. */
async function exported(options = '') {
  const file = join(folder, 'audit.jsonl');
  const { code, stdout, stderr } = await itsm(`audit export ${file} --tenant ${mine.tenantId} --yes --json${options}`);
  expect(code, stderr).toBe(0);
  const content = await readFile(file, 'utf8');
  const entries = content
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return { ...JSON.parse(stdout), entries, content };
}

describe('audit export', () => {
  it('writes all entries of the workspace, oldest first, and prints the SHA-256 of the file', async () => {
    const { entries, content, ...printed } = await exported();
    expect(printed).toEqual({
      exported: entries.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'user.created',
      'user.created',
      'user.updated',
    ]);
    expect(entries[2]).toEqual({
      ...{ id: expect.any(Number), at: expect.stringMatching(/^20.*Z$/), count: 1, subject: null },
      ...{ userId: mine.userId, keyId: Number(mine.context.keyId), osUser: null, address: '', userAgent: '' },
      ...{ action: 'user.updated', targetType: 'user', targetId: user },
      changes: { role: { from: 'AGENT', to: 'REQUESTER' }, name: null },
    });
  });

  it('filters by time, actor and target', async () => {
    const countOf = async (options: string) => (await exported(` ${options}`)).exported;
    await api.prisma.auditEntry.updateMany({
      where: { tenantId: mine.tenantId, action: 'user.updated' },
      data: { at: new Date('2026-01-02T10:00:00Z') },
    });
    const { email } = await api.prisma.user.findFirstOrThrow({ where: { id: BigInt(mine.userId) } });
    expect(await countOf(`--since 2026-01-02 --until 2026-01-03 --actor ${email} --target user:${user}`)).toBe(1);
    expect(await countOf('--until 2026-01-02T10:00:00Z')).toBe(0);
    expect(await countOf('--target key')).toBe(0);
    const { code, stderr } = await itsm(`audit export x --tenant ${mine.tenantId} --target keys`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('must be one of user, team, category, form, key')]);
  });
});

it('deletes entries after the retention period, in batches', async () => {
  const day = 86_400_000;
  const entry = { action: 'user.updated', address: '', userAgent: '' };
  await api.prisma.auditEntry.createMany({
    data: [mine, mine, mine, theirs].map(({ tenantId }) => ({
      ...{ ...entry, tenantId, at: new Date(Date.now() - 400 * day - 60_000) },
    })),
  });
  const kept = { ...entry, tenantId: mine.tenantId, at: new Date(Date.now() - 400 * day + 3_600_000) };
  await api.prisma.auditEntry.create({ data: kept });
  const before = await api.prisma.auditEntry.count();
  expect(await pruneAudit(api.databases.system.prisma, 400, 2)).toBe(4);
  expect(await api.prisma.auditEntry.count()).toBe(before - 4);
});
