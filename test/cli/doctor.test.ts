import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { systemRole } from '@itsm-api/server/database/roles.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startApi } from '../support/api.ts';
import { secretKey } from '../support/command-process.ts';
import { cloneDatabase, execute, query, type TestDatabase } from '../support/database.ts';
import { skipUnlessPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { steadyPort } from '../support/postgres-server.ts';
import { documentedRights, openRedis, skipUnlessRedis } from '../support/redis.ts';
import { createWorkspace } from '../support/workspace.ts';
import { commandLine } from './itsm.ts';

/* Tests `itsm doctor` with healthy and broken installations. */
let database: TestDatabase;

beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(() => database.drop());

interface Finding {
  check: string;
  level: string;
  message: string;
  advice?: string;
}

async function examine(env: Record<string, string> = {}) {
  const { DATABASE_URL = database.url, ...others } = env;
  const { code, stdout, stderr } = await commandLine(DATABASE_URL, others)('doctor --json');
  expect(stderr).toBe('');
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout);
  expect(code).toBe(ok ? 0 : 1);
  return { ok, findings, of: (check: string) => findings.filter((finding) => finding.check === check) };
}

const all = [
  'listener',
  'PostgreSQL',
  'roles',
  'migrations',
  'row-level security',
  'data files',
  'WEBHOOK_SECRET_KEY',
  'Redis',
  'clock',
  'deliveries',
  'circuits',
  'quota',
  'attachments',
  'exports',
  'sequences',
  'asset tags',
  'totals',
];

it('reports ok for every `itsm doctor` check of a healthy installation', async () => {
  const { code, stdout, stderr } = await commandLine(database.url)('doctor');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => /^ok {5}([\w -]+): \S.*\.$/.exec(line)?.[1])).toEqual(all);
});

it('reports a solution for each problem that `itsm doctor` finds', async () => {
  const [firstKey, unknownKey] = [1, 2].map(() => randomBytes(32).toString('base64')) as [string, string];
  // Encrypts one secret with the older of the two configured keys and one secret with an unknown key.
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
    `UPDATE webhook_subscriptions SET failures = 5, open_until = now() - interval '2 hours', quota_reached_at = now()
     WHERE id = (SELECT min(id) FROM webhook_subscriptions)`,
  );
  await execute(
    database.url,
    'UPDATE ticket_counts SET count = count + 1 WHERE ctid = (SELECT min(ctid) FROM ticket_counts)',
  );
  await execute(database.url, 'ALTER TABLE assets DISABLE ROW LEVEL SECURITY');
  await execute(database.url, 'UPDATE installation SET attachments_marked_at = now()');

  const { ok, findings, of } = await examine({
    WEBHOOK_SECRET_KEY: `${firstKey},${secretKey}`,
    ATTACHMENTS_DIR: '/nowhere/attachments',
  });
  expect(ok).toBe(false);
  expect(of('row-level security')).toMatchObject([{ level: 'wrong', message: expect.stringContaining('assets') }]);
  expect(of('WEBHOOK_SECRET_KEY')).toMatchObject([
    { level: 'ok', message: 'Key 1 encrypts 0 webhook secrets.' },
    {
      level: 'note',
      message: 'Key 2 still encrypts 1 webhook secrets.',
      advice: expect.stringContaining('itsm secrets re-encrypt'),
    },
    {
      level: 'wrong',
      message: expect.stringContaining('encrypts 1 webhook secrets, 1 of them for active subscriptions'),
    },
  ]);
  expect(of('deliveries')).toMatchObject([
    {
      level: 'wrong',
      message: expect.stringMatching(/has been due for 36\d\d s\.$/),
      advice: expect.stringContaining('ROLES=worker'),
    },
  ]);
  expect(of('circuits')).toMatchObject([
    { level: 'note', message: expect.stringMatching(/^1 subscription .* subscription \d+ of tenant \d+\.$/) },
  ]);
  expect(of('quota')).toMatchObject([
    { level: 'wrong', message: expect.stringMatching(/for subscription \d+ of tenant \d+\.$/) },
  ]);
  expect(of('attachments')).toMatchObject([
    { level: 'wrong', message: expect.stringContaining('lacks the file installation-id') },
  ]);
  expect(of('totals')).toMatchObject([{ level: 'wrong', message: expect.stringMatching(/stored 2, counted 1\.$/) }]);
  for (const { level, advice } of findings) expect(advice === undefined).toBe(level === 'ok');

  const [tenantId] = /\d+/.exec(of('totals')[0]?.message ?? '') ?? [''];

  // Without --json, the command prints the problems as text.
  const { code, stdout } = await commandLine(database.url)('doctor');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^wrong {2}totals: Tenant \d+: .*\n {7}→ \S/m);

  // The SQL statement from docs/operations/monitor-and-repair.md must correct the wrong total.
  const page = await readFile(new URL('../../docs/operations/monitor-and-repair.md', import.meta.url), 'utf8');
  const sql = /## When a total is wrong\n.*?```sql\n(.*?)```/s.exec(page)?.[1] ?? '';
  await execute(database.url, sql.replaceAll('= 12', `= ${tenantId}`));
  expect((await examine()).of('totals')).toMatchObject([{ level: 'ok' }]);
});

it('lists asset tags that the migration kept, because another asset has the normalized tag', async () => {
  const api = await startApi({ databaseUrl: database.url });
  const workspace = await createWorkspace(api);
  const given = [
    { tag: 'Gera\u0308t', kept: 'Gera\u0308t' },
    { tag: 'Ger\u00e4t', kept: 'Ger\u00e4t' },
    { tag: 'A\u030a-2', kept: 'A\u030a-2' },
    { tag: '\u212b-2', kept: '\u00c5-2' },
    { tag: '\u00e9-3', kept: '\u00e9-3' },
    { tag: 'e\u0301-3', kept: 'e\u0301-3' },
    { tag: 'LT\u200b-5 \u202e', kept: 'LT-5' },
    { tag: '\u200b', kept: '\u200b' },
    { tag: 'LT-6\u200d', kept: 'LT-6\u200d' },
    { tag: 'LT-6', kept: 'LT-6' },
  ];
  const ids: number[] = [];
  const changed = await workspace.createAsset({ assetTag: 'changed', serialNumber: 'PF4N2KD8' });
  await query(database.url, "UPDATE assets SET serial_number = 'e\u0301-old' WHERE id = $1", [changed.id]);
  for (const { tag } of given) {
    const { id } = await workspace.createAsset({ serialNumber: 'PF4N2KD8' });
    const sql = 'UPDATE assets SET asset_tag = $1, serial_number = $2 WHERE id = $3 RETURNING id';
    await query(database.url, sql, [tag, `e\u0301\u2066${id}`, id]);
    ids.push(id);
  }
  await execute(database.url, "DELETE FROM _prisma_migrations WHERE migration_name LIKE '%asset_texts'");
  // Changes a serial number after the migration has read it.
  await execute(
    database.url,
    `CREATE FUNCTION change_serial() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       UPDATE assets SET serial_number = 'PF-NEW' WHERE id = ${changed.id};
       RETURN NULL;
     END $$;
     CREATE TRIGGER change_serial AFTER UPDATE ON assets
       FOR EACH ROW WHEN (NEW.id = ${ids.at(-1)}) EXECUTE FUNCTION change_serial();`,
  );
  expect(await migrateDatabase(database.url)).toEqual([expect.stringMatching(/asset_texts$/)]);
  await execute(database.url, 'DROP TRIGGER change_serial ON assets; DROP FUNCTION change_serial');

  const find = async (filter: string, value: string) =>
    (await workspace.call('GET', `/assets?${filter}=${encodeURIComponent(value)}`)).body.data ?? [];
  for (const [index, { kept }] of given.entries()) {
    const [asset] = await find('serialNumber', `e\u0301${ids[index]}`);
    expect(asset).toMatchObject({ id: ids[index], assetTag: kept, serialNumber: `\u00e9${ids[index]}` });
    expect((await find('assetTag', kept)).map(({ id }: { id: number }) => id)).toContain(ids[index]);
  }
  expect((await find('serialNumber', 'PF-NEW')).map(({ id }: { id: number }) => id)).toEqual([changed.id]);
  expect((await workspace.call('GET', '/assets?q=LT-6')).body.meta.totalCount).toBe(2);

  const { ok, of } = await examine();
  expect(ok).toBe(true);
  expect(of('asset tags').map(({ level, message }) => [level, message])).toEqual([
    [
      'note',
      `Tenant ${workspace.tenantId}: the tag of the asset ${ids[0]} looks like the tag of the asset ${ids[1]}: Ger\u00e4t.`,
    ],
    [
      'note',
      `Tenant ${workspace.tenantId}: the tag of the asset ${ids[2]} looks like the tag of the asset ${ids[3]}: \u00c5-2.`,
    ],
    [
      'note',
      `Tenant ${workspace.tenantId}: the tag of the asset ${ids[5]} looks like the tag of the asset ${ids[4]}: \u00e9-3.`,
    ],
    ['note', `Tenant ${workspace.tenantId}: the tag of the asset ${ids[7]} is not normalized.`],
    [
      'note',
      `Tenant ${workspace.tenantId}: the tag of the asset ${ids[8]} looks like the tag of the asset ${ids[9]}: LT-6.`,
    ],
  ]);

  const assets = Array.from({ length: 100 }, (_, index) => ({ assetTag: `PC-${index}`, name: 'PC', type: 'DESKTOP' }));
  await workspace.call('POST', '/assets/upsert', { assets });
  await api.close();
  await execute(database.url, "UPDATE assets SET asset_tag = asset_tag || '\u200b' WHERE asset_tag LIKE 'PC-%'");
  const many = (await examine()).of('asset tags');
  expect(many).toHaveLength(101);
  expect(many.at(-1)).toMatchObject({ level: 'note', message: expect.stringContaining('More assets have such tags.') });
});

it('skips all later checks of `itsm doctor` if migrations are missing', async () => {
  await execute(database.url, "DELETE FROM _prisma_migrations WHERE migration_name LIKE '%baseline'");
  const { ok, findings, of } = await examine();
  expect(ok).toBe(false);
  expect(findings.at(-1)?.check).toBe('migrations');
  expect(of('migrations')).toMatchObject([
    {
      level: 'wrong',
      message: expect.stringMatching(/it lacks \d+_baseline, job queues\.$/),
      advice: expect.stringContaining('itsm migrate'),
    },
  ]);
});

it('reports a newer database version in `itsm doctor` as a note', async () => {
  await execute(
    database.url,
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '29990101_later', now())`,
  );
  const { ok, of } = await examine();
  expect(ok).toBe(true);
  expect(of('migrations')).toMatchObject([{ level: 'note', message: expect.stringContaining('29990101_later') }]);
});

it('runs the other checks of `itsm doctor` after an exception in a check', async () => {
  await execute(database.url, `REVOKE ALL ON ticket_counts FROM ${systemRole}`);
  const { of, findings } = await examine();
  expect(of('totals')).toMatchObject([{ level: 'wrong', message: expect.stringContaining('permission denied') }]);
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(all));
});

it('accepts a connection pooler in `itsm doctor` only in session mode', {
  ...skipUnlessPgBouncer(),
}, async () => {
  for (const mode of ['session', 'transaction'] as const) {
    const pooler = await startPgBouncer(database.url, mode);
    const { ok, of, findings } = await examine({ DATABASE_URL: pooler.url });
    await pooler.close();
    expect(ok).toBe(mode === 'session');
    if (ok) continue;
    expect(of('listener')).toMatchObject([
      { level: 'wrong', message: expect.stringContaining('pool_mode=transaction') },
    ]);
    expect(findings).toHaveLength(1);
  }
});

it('reports an unreachable database in `itsm doctor`', async () => {
  const { findings } = await examine({ DATABASE_URL: `postgresql://nobody@127.0.0.1:${await steadyPort()}/itsm` });
  expect(findings).toMatchObject([
    { check: 'listener', level: 'wrong', message: expect.stringMatching(/^DATABASE_URL: .*ECONNREFUSED/) },
  ]);
});

it('reports in `itsm doctor` whether Redis can count requests', skipUnlessRedis(), async () => {
  const redis = await openRedis();
  const find = async (REDIS_URL = redis.url) => {
    const { of } = await examine({ RATE_LIMIT_STORE: 'redis', REDIS_URL });
    return of('Redis')[0];
  };
  expect(await find()).toMatchObject({
    level: 'wrong',
    message: expect.stringContaining('ECONNREFUSED'),
    advice: expect.stringContaining('When Redis is away'),
  });
  await redis.start();
  expect(await find()).toMatchObject({
    level: 'ok',
    message: expect.stringMatching(/: (redis|valkey) \d+\.\d+\.\d+\.$/),
  });

  await redis.send('ACL', 'SETUSER', 'itsm', 'on', '>right', ...(await documentedRights()));
  expect(await find(redis.url.replace('//', '//itsm:right@'))).toMatchObject({ level: 'ok' });
  expect(await find(redis.url.replace('//', '//itsm:wrong@'))).toMatchObject({
    level: 'wrong',
    message: expect.stringContaining('WRONGPASS'),
  });

  redis.silence();
  expect(await find()).toMatchObject({ level: 'wrong', message: expect.stringContaining('did not respond') });
  redis.wake();
  await redis.kill();
});
