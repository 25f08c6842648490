import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { systemRole } from '@itsm-api/server/database/roles.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startApi } from '../support/api.ts';
import { cloneDatabase, execute, type TestDatabase } from '../support/database.ts';
import { createWorkspace } from '../support/workspace.ts';
import { commandLine, secretKey } from './itsm.ts';

/*
 * `itsm doctor` on an installation that is well, and on ones that are not.
 */
let database: TestDatabase;

beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(() => database.drop());

interface Finding {
  check: string;
  level: string;
  says: string;
  advice?: string;
}

async function examine(env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await commandLine(database.url, env)('doctor --json');
  expect(stderr).toBe('');
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout);
  expect(code).toBe(ok ? 0 : 1);
  return { ok, findings, of: (check: string) => findings.filter((finding) => finding.check === check) };
}

const all = [
  'PostgreSQL',
  'roles',
  'migrations',
  'row-level security',
  'WEBHOOK_SECRET_KEY',
  'clock',
  'deliveries',
  'totals',
];

it('finds nothing wrong where all is well, and says what it looked at', { timeout: 30_000 }, async () => {
  const { code, stdout, stderr } = await commandLine(database.url)('doctor');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => /^ok {5}([\w -]+): \S.*\.$/.exec(line)?.[1])).toEqual(all);
});

it('says what is wrong, and what to do', { timeout: 60_000 }, async () => {
  const [firstKey, unknownKey] = [1, 2].map(() => randomBytes(32).toString('base64')) as [string, string];
  // Subscriptions of the old key of the settings, and of a key that they don't hold.
  for (const key of [secretKey, unknownKey]) {
    const api = await startApi({ databaseUrl: database.url, secretKeys: [key] });
    const workspace = await createWorkspace(api);
    await workspace.createWebhook();
    await workspace.createTicket();
    await api.close();
  }
  await execute(database.url, "UPDATE deliveries SET next_attempt_at = now() - interval '1 hour'");
  await execute(
    database.url,
    'UPDATE ticket_counts SET count = count + 1 WHERE ctid = (SELECT min(ctid) FROM ticket_counts)',
  );
  await execute(database.url, 'ALTER TABLE assets DISABLE ROW LEVEL SECURITY');

  const { ok, findings, of } = await examine({ WEBHOOK_SECRET_KEY: `${firstKey},${secretKey}` });
  expect(ok).toBe(false);
  expect(of('row-level security')).toMatchObject([{ level: 'wrong', says: expect.stringContaining('assets') }]);
  expect(of('WEBHOOK_SECRET_KEY')).toMatchObject([
    { level: 'ok', says: 'Key 1 encrypts 0 of the stored secrets.' },
    { level: 'note', says: 'Key 2 still encrypts 1.', advice: expect.stringContaining('itsm secrets reseal') },
    { level: 'wrong', says: expect.stringContaining('has encrypted 1 secrets, 1 of active subscriptions') },
  ]);
  expect(of('deliveries')).toMatchObject([
    {
      level: 'wrong',
      says: expect.stringMatching(/has been so for 36\d\d s\.$/),
      advice: expect.stringContaining('ROLES=worker'),
    },
  ]);
  expect(of('totals')).toMatchObject([{ level: 'wrong', says: expect.stringMatching(/kept 2, counted 1\.$/) }]);
  for (const { level, advice } of findings) expect(advice === undefined).toBe(level === 'ok');

  const [tenantId] = /\d+/.exec(of('totals')[0]?.says ?? '') ?? [''];

  // Who reads it on a terminal gets the same.
  const { code, stdout } = await commandLine(database.url)('doctor');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^wrong {2}totals: Tenant \d+: .*\n {7}→ \S/m);

  // What the page of operations advises puts it right.
  const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const sql = /## When a total is wrong\n.*?```sql\n(.*?)```/s.exec(page)?.[1] ?? '';
  await execute(database.url, sql.replaceAll('= 12', `= ${tenantId}`));
  expect((await examine()).of('totals')).toMatchObject([{ level: 'ok' }]);
});

it('says what a database lacks, and looks no further', { timeout: 30_000 }, async () => {
  await execute(database.url, "DELETE FROM _prisma_migrations WHERE migration_name LIKE '%outbox'");
  const { ok, findings, of } = await examine();
  expect(ok).toBe(false);
  expect(findings.at(-1)?.check).toBe('migrations');
  expect(of('migrations')).toMatchObject([
    {
      level: 'wrong',
      says: expect.stringMatching(/it lacks \d+_outbox\.$/),
      advice: expect.stringContaining('itsm migrate'),
    },
  ]);
});

it('tells of a database that a newer version has migrated', { timeout: 30_000 }, async () => {
  await execute(
    database.url,
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '29990101_later', now())`,
  );
  const { ok, of } = await examine();
  expect(ok).toBe(true);
  expect(of('migrations')).toMatchObject([{ level: 'note', says: expect.stringContaining('29990101_later') }]);
});

it('takes a check that fails for a finding, and makes the others', { timeout: 30_000 }, async () => {
  await execute(database.url, `REVOKE ALL ON ticket_counts FROM ${systemRole}`);
  const { of, findings } = await examine();
  expect(of('totals')).toMatchObject([{ level: 'wrong', says: expect.stringContaining('permission denied') }]);
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(all));
});
