import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { updateArticle } from '@itsm-api/server/resources/articles/queries.ts';
import { backfillFilters } from '@itsm-api/server/resources/custom-fields/filter-backfill.ts';
import { quietAfterMs } from '@itsm-api/server/resources/tenants/maintenance.ts';
import { deleteTenant } from '@itsm-api/server/resources/tenants/tenant-deletion.ts';
import { exportTenant } from '@itsm-api/server/resources/tenants/tenant-export.ts';
import { importTenant } from '@itsm-api/server/resources/tenants/tenant-import.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Api, startApi } from '../support/api.ts';
import { cloneDatabase, query, type TestDatabase } from '../support/database.ts';
import { fillWorkspace } from '../support/filled-workspace.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';
import { commandLine, secretKey, spawnCommand } from './itsm.ts';

/*
 * Exports, imports and deletes tenants with the command line, between two databases. test/system/faults moves
 * a tenant that is in use, and kills the commands.
 */

let folder: string;
let source: Api;
let target: TestDatabase;
let targetApi: Api;
let mine: Workspace;
let theirs: Workspace;
/** A workspace that exists only in the target. */
let other: Workspace;
/** The command lines of the two installations. Each has its own store of attachments. */
let atSource: ReturnType<typeof commandLine>;
let atTarget: ReturnType<typeof commandLine>;
let moved: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'itsm-transfer-'));
  moved = join(folder, 'moved');
  const storeOf = (name: string) => ({ ATTACHMENTS_DIR: join(folder, name) });
  source = await startApi({ ownDatabase: true, secretKeys: [secretKey], env: storeOf('source') });
  target = await cloneDatabase();
  // The other installation isn't empty: its rows have ids that the imported rows also have.
  targetApi = await startApi({ databaseUrl: target.url, secretKeys: [secretKey], env: storeOf('target') });
  await query(target.url, "SELECT setval('tenants_id_seq', 1000)");
  other = await createWorkspace(targetApi);
  await other.createTicket();
  // The tenants of cell 1 have ids from this number on.
  await query(source.databaseUrl, "SELECT setval('tenants_id_seq', 1000000000)");
  [mine, theirs] = [await createWorkspace(source), await createWorkspace(source)];
  for (const workspace of [mine, theirs]) await fillWorkspace(source, workspace);
  // The parent is a later row than its child, and the text has characters that formats of rows often break.
  const child = await mine.createTicket({ description: 'a\u2028b\\n"c"\n\td\\. Größe 🖨', customFields: { a: '\\"' } });
  const grandchild = await mine.createTicket({ parentId: child.id });
  const parent = await mine.createTicket({ parentId: null });
  await mine.call('PATCH', `/tickets/${child.id}`, { parentId: parent.id });
  expect(grandchild.parentId).toBe(child.id);
  await updateArticle(mine.context, (await mine.createArticle()).id, { status: 'ARCHIVED' });
  // Tenants of a large cell have ids that are billions higher than in a new cell.
  const raise = 'UPDATE audit_entries SET id = id + 100000000000 WHERE tenant_id = $1';
  await query(source.databaseUrl, raise, [mine.tenantId]);
  const next = "SELECT setval('audit_entries_id_seq', 100000000000 + last_value) FROM audit_entries_id_seq";
  await query(source.databaseUrl, next);
  atSource = commandLine(source.databaseUrl, { ...storeOf('source'), CELL: '1' });
  atTarget = commandLine(target.url, storeOf('target'));
});
afterAll(async () => {
  await targetApi.close();
  await target.drop();
  await source.close();
  await rm(folder, { recursive: true });
});

/** Starts the maintenance at a time in the past, so that an export doesn't wait for running requests. */
function beginMaintenance({ tenantId }: Workspace) {
  const text = 'UPDATE tenants SET maintenance_since = $2, unavailable_since = $2 WHERE id = $1';
  return query(source.databaseUrl, text, [tenantId, '2026-01-01T12:00Z']);
}

/** Runs a command that must succeed, and returns its result. */
async function succeed(run: typeof atSource, command: string, ...more: string[]) {
  const { code, stdout, stderr } = await run(`${command} --json`, ...more);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function fail(run: typeof atSource, command: string): Promise<string> {
  const { code, stderr } = await run(command);
  expect(code).not.toBe(0);
  return stderr;
}

/**
 * Returns the rows of a tenant in all tables, except what belongs to one installation: positions in feeds, and whether
 * the tenant is in maintenance.
 */
async function readTenant(url: string, tenantId: bigint): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = await client.query<{ name: string; owner: string }>(
    `SELECT c.relname AS name, CASE c.relname WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END AS owner
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND (c.relname = 'tenants'
       OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')) ORDER BY 1`,
  );
  const local = [
    'position',
    'horizon',
    'recorded_at',
    'changed_at',
    'maintenance_since',
    'unavailable_since',
    'incomplete',
  ];
  const found: Record<string, string[]> = {};
  for (const { name, owner } of tables.rows) {
    const text = `SELECT (to_jsonb(t) - $2::text[])::text AS row FROM ${name} t WHERE ${owner} = $1 ORDER BY 1`;
    found[name] = (await client.query<{ row: string }>(text, [tenantId, local])).rows.map(({ row }) => row);
  }
  await client.end();
  return found;
}

describe('tenants export and import', () => {
  it('copies the rows of all tables and the attachments, with the same ids', async () => {
    await beginMaintenance(mine);
    await succeed(atSource, `tenants export ${mine.tenantId} ${moved}`);
    const before = await readTenant(source.databaseUrl, mine.tenantId);
    // If a table has no row, add one to `fillWorkspace`.
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);
    const imported = await succeed(atTarget, `tenants import ${moved}`);
    expect(imported.maintenanceSince).toMatch(/^2026-01-01/);

    const after = await readTenant(target.url, mine.tenantId);
    const { audit_entries: audit = [], ...tables } = after;
    const { audit_entries: auditBefore = [], ...tablesBefore } = before;
    expect(tables).toEqual(tablesBefore);
    const added = audit.filter((row) => !auditBefore.includes(row)).map((row) => JSON.parse(row));
    expect(added).toEqual([expect.objectContaining({ action: 'workspace.imported' })]);
    expect(await findWrongTotals(targetApi.databases.options)).toEqual([]);
  });

  it('creates a folder that only the current user can read, with one file per table', async () => {
    expect((await stat(moved)).mode & 0o777).toBe(0o700);
    const manifest = JSON.parse(await readFile(join(moved, 'manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({
      tenant: { id: Number(mine.tenantId) },
      attachments: 1,
      secretKeys: [expect.stringMatching(/^[\da-f]{8}$/)],
    });
    const files = Object.keys(manifest.tables).map((name) => `${name}.jsonl`);
    expect(await readdir(moved)).toEqual([...files, 'attachments', 'manifest.json'].sort());
    const users = (await readFile(join(moved, 'users.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(users[0]).toMatchObject({ id: String(mine.userId), active: 'true', phone: null });
  });

  it('keeps keys, ETags, feeds and idempotent responses, and continues ids and ticket numbers', async () => {
    const call = (method: string, path: string, body?: unknown, headers = {}) =>
      targetApi.call({ method, path: `/api/public/v1${path}`, key: mine.key, body, headers });
    const inMaintenance = await query(source.databaseUrl, 'SELECT id FROM tickets WHERE tenant_id = $1 ORDER BY id', [
      mine.tenantId,
    ]);
    const last = Number(inMaintenance.at(-1)?.id);
    const read = await call('GET', `/tickets/${last}`);
    const [row] = await query(source.databaseUrl, 'SELECT version FROM tickets WHERE tenant_id = $1 AND id = $2', [
      mine.tenantId,
      last,
    ]);
    expect(read.headers.etag).toContain(String(row?.version));

    const repeated = await call('POST', '/tickets', ticket, { 'idempotency-key': 'x' });
    expect(repeated.headers['idempotent-replayed']).toBe('true');

    const numberOf = ({ body }: Answer) => Number(body.data.ticketNumber.split('-')[1]);
    const created = await call('POST', '/tickets', ticket);
    expect(created.body.data.id).toBeGreaterThan(last);
    expect(numberOf(created)).toBe(numberOf(read) + 1);

    const nextId = async (table: string) =>
      Number((await query(target.url, `SELECT nextval('${table}_id_seq') AS id`))[0]?.id);
    expect(await nextId('audit_entries')).toBeGreaterThan(100_000_000_000);
    const [deleted] = await query(target.url, 'SELECT max(id) AS id FROM deleted_attachments WHERE tenant_id = $1', [
      mine.tenantId,
    ]);
    expect(await nextId('attachments')).toBeGreaterThan(Number(deleted?.id));
    // The target remains cell 0.
    expect(await nextId('tenants')).toBeLessThan(1_000_000_000);

    // Open transactions of other test files on this PostgreSQL server can hold back the newest change.
    const countChanges = async () => (await call('GET', '/tickets/changes?perPage=100')).body.data.length;
    await expect.poll(countChanges, { timeout: 10_000 }).toBe(inMaintenance.length + 1);
    const [team] = (await call('GET', '/teams')).body.data;
    expect(team.memberIds).toEqual([mine.userId]);
    expect((await call('GET', `/tickets?teamId=${team.id}`)).body.meta.totalCount).toBe(1);
    const fields = (await call('GET', '/custom-fields')).body.data;
    expect(fields).toMatchObject([
      { resource: 'ASSET', type: 'BOOLEAN', label: 'Site' },
      { resource: 'TICKET', type: 'BOOLEAN' },
    ]);
    const customFields = { managed: 3 };
    expect((await call('POST', '/tickets', { ...ticket, customFields })).status).toBe(400);
    // The job of the target installation has not yet copied the values.
    expect((await call('GET', '/tickets?customFields[managed]=true')).status).toBe(400);
    await backfillFilters(targetApi.databases.system.prisma);
    for (const path of ['/tickets', '/assets']) {
      expect((await call('GET', `${path}?customFields[managed]=true`)).body.meta.totalCount).toBe(1);
    }
    const categories = (await call('GET', '/ticket-categories')).body.data;
    expect(categories).toMatchObject([{ id: 'a', parentId: 'b' }, { id: 'b' }]);
    expect((await call('GET', '/tickets?categoryConfigId=a')).body.meta.totalCount).toBe(1);
    const download = await call('GET', `/attachments/${await attachmentId()}/content`);
    expect(download.text).toBe('Connection lost.');
  });

  async function attachmentId(): Promise<string> {
    const text = 'SELECT id FROM attachments WHERE tenant_id = $1';
    return String((await query(target.url, text, [mine.tenantId]))[0]?.id);
  }

  it('distinguishes the keys of two tenants that have the same id', async () => {
    // Both databases gave the id 1 to their first key.
    expect([mine.context.keyId, other.context.keyId]).toEqual([1n, 1n]);
    const me = (key: string) => targetApi.call({ method: 'GET', path: '/api/public/v1/me', key });
    const details = await Promise.all([mine, other].map(({ key }) => me(key)));
    expect(details.map(({ body }) => body.data.key.lastFour)).toEqual([mine, other].map(({ key }) => key.slice(-4)));
    expect(await fail(atTarget, 'keys show 1')).toContain('--tenant is required, because several tenants have a key');
    expect((await succeed(atTarget, `keys show 1 --tenant ${other.tenantId}`)).lastFour).toBe(other.key.slice(-4));
  });

  it('rejects an import if the tenant exists', async () => {
    expect(await fail(atTarget, `tenants import ${moved}`)).toMatch(/with the same id exists\. Delete it/);
  });

  it('names other problems first, before the tenant, which an operator would delete for an unusable backup', async () => {
    const file = join(moved, 'manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...manifest, schemaVersion: '20260101000000_other' }));
    expect(await fail(atTarget, `tenants import ${moved}`)).toContain('schema version 20260101000000_other');
    await writeFile(file, JSON.stringify(manifest));
  });

  it('marks an export without maintenance as a backup', async () => {
    const backup = join(folder, 'backup');
    const { stdout } = await atSource(`tenants export ${theirs.tenantId} ${backup}`);
    expect(stdout).toContain(
      'and 1 file of attachments. The export is only a backup, because the tenant is not in maintenance.',
    );
    expect(JSON.parse(await readFile(join(backup, 'manifest.json'), 'utf8')).maintenanceSince).toBeNull();
    expect(await fail(atSource, `tenants export ${theirs.tenantId} ${backup}`)).toContain('already exists');
    await beginMaintenance(theirs);
    const deletion = await fail(atSource, `tenants delete ${theirs.tenantId} --moved ${backup} --yes`);
    expect(deletion).toContain('was made before the current maintenance of the tenant began');
    await query(source.databaseUrl, 'UPDATE tenants SET maintenance_since = NULL WHERE id = $1', [theirs.tenantId]);
  });

  it('rejects another schema version or an unknown secret key before it imports a row', async () => {
    const file = join(folder, 'backup/manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...manifest, schemaVersion: '20260101000000_other' }));
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain('schema version 20260101000000_other');
    await writeFile(file, JSON.stringify({ ...manifest, secretKeys: ['00000000'] }));
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain('lacks the keys with the ids 00000000');
    await writeFile(file, JSON.stringify(manifest));
    expect((await readTenant(target.url, theirs.tenantId)).tenants).toEqual([]);
  });

  it('rejects a store of attachments of another installation before it imports a row', async () => {
    const store = join(folder, 'foreign');
    await mkdir(store);
    await writeFile(join(store, 'installation-id'), 'f7c4cbba-0ac9-4a86-9ec1-4a1f0e8a7e5a\n');
    const withForeignStore = commandLine(target.url, { ATTACHMENTS_DIR: store });
    expect(await fail(withForeignStore, `tenants import ${folder}/backup`)).toContain(
      'belongs to another installation',
    );
    expect((await readTenant(target.url, theirs.tenantId)).tenants).toEqual([]);
  });

  it('keeps a tenant incomplete and in maintenance if an import fails after the first row', async () => {
    const services = {
      ...targetApi.services,
      storage: { ...targetApi.services.storage, move: () => Promise.reject(new Error('The disk is full')) },
    };
    const imported = importTenant(
      { ...targetApi, services },
      { folder: join(folder, 'backup'), report: () => undefined },
    );
    await expect(imported).rejects.toThrow('The disk is full. Delete the incomplete tenant with');
    const state = () =>
      query(target.url, 'SELECT incomplete, maintenance_since IS NOT NULL AS on FROM tenants WHERE id = $1', [
        theirs.tenantId,
      ]);
    expect(await state()).toEqual([{ incomplete: true, on: true }]);
    expect(await fail(atTarget, `tenants export ${theirs.tenantId} ${folder}/again`)).toContain('is incomplete');
    for (const maintenance of ['read-only', 'off']) {
      const message = await fail(atTarget, `tenants maintenance ${theirs.tenantId} ${maintenance}`);
      expect(message).toContain('is incomplete');
    }
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain(`\`tenants delete ${theirs.tenantId}\``);
    await succeed(atTarget, `tenants delete ${theirs.tenantId} --yes`);
  });

  describe('of a manipulated export', () => {
    type Row = Record<string, string | null>;
    const backup = () => join(folder, 'backup');
    const manifestFile = () => join(backup(), 'manifest.json');
    const readRows = async (table: string): Promise<Row[]> =>
      (await readFile(join(backup(), `${table}.jsonl`), 'utf8'))
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    const format = (row: Row) =>
      `{${Object.entries(row)
        .map(([name, value]) => `"${name}" : ${JSON.stringify(value)}`)
        .join(', ')}}\n`;

    /** Returns the error of an import. */
    async function failImport(): Promise<string> {
      const imported = importTenant(targetApi, { folder: backup(), report: () => undefined });
      return imported.then(
        () => 'The import succeeded.',
        ({ message }: Error) => message,
      );
    }

    /** Imports the export after a change of the lines of a table, with a manifest that matches them. */
    async function importChanged(table: string, change: (rows: Row[]) => Row[] | string): Promise<string> {
      const file = join(backup(), `${table}.jsonl`);
      const [original, manifest] = [await readFile(file), await readFile(manifestFile(), 'utf8')];
      const changed = change(await readRows(table));
      const content = typeof changed === 'string' ? changed : changed.map(format).join('');
      const written = JSON.parse(manifest);
      const sha256 = createHash('sha256').update(content).digest('hex');
      written.tables[table] = { rows: content.split('\n').length - 1, sha256 };
      await writeFile(file, content);
      await writeFile(manifestFile(), JSON.stringify(written));
      const message = await failImport();
      await writeFile(file, original);
      await writeFile(manifestFile(), manifest);
      return message;
    }

    const last = (change: Row) => (rows: Row[]) => [...rows.slice(0, -1), { ...rows.at(-1), ...change }];
    const jsonOf = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const cutOff = (rows: Row[]) => rows.map(format).join('').slice(0, -10);

    let sequences: unknown;
    const readSequences = () => query(target.url, 'SELECT sequencename, last_value FROM pg_sequences ORDER BY 1');
    beforeAll(async () => {
      sequences = await readSequences();
    });
    afterEach(async () => {
      expect(await query(target.url, 'SELECT name FROM tenants WHERE id = $1', [theirs.tenantId])).toEqual([]);
    });
    afterAll(async () => {
      expect(Object.values(await readTenant(target.url, theirs.tenantId)).flat()).toEqual([]);
      expect(await readSequences()).toEqual(sequences);
    });

    it.each<[string, string, (rows: Row[]) => Row[] | string, string]>([
      [
        'an id above the range of PostgreSQL',
        'tickets',
        last({ id: '9223372036854775808' }),
        "id: isn't a value of the type bigint",
      ],
      [
        'an id above 2^53',
        'tickets',
        last({ id: '9223372036854775000' }),
        'id: must be a positive integer of at most 90',
      ],
      [
        'an id above the last id of the other installation',
        'tickets',
        last({ id: '9007199254740991' }),
        'id: must be from 1 to',
      ],
      ['a negative id', 'audit_entries', last({ id: '-5' }), 'id: must be from 0 to 9007199254740991'],
      ['a negative id of a reference', 'audit_entries', last({ target_id: '-1' }), 'target_id: must be from 0 to'],
      [
        'a list with an id above 2^53',
        'comments',
        last({ attachment_ids: '{9007199254740992}' }),
        'attachment_ids: must be',
      ],
      ['the id of another tenant', 'users', last({ tenant_id: '1001' }), "tenant_id: isn't the id of the tenant"],
      ['a long title', 'tickets', last({ title: 'x'.repeat(256) }), 'title: must have at most 255 characters'],
      [
        'a long text in an index',
        'audit_entries',
        last({ action: 'x'.repeat(2601) }),
        'action: must have at most 2600 bytes',
      ],
      [
        'a long text',
        'sessions',
        last({ user_agent: 'x'.repeat(16_385) }),
        'user_agent: must have at most 16384 bytes',
      ],
      ['a line of 64 MiB', 'tickets', () => 'x'.repeat(2 ** 26 + 2 ** 20), 'is too long'],
      ['an unknown status', 'tickets', last({ status: 'NEW' }), 'status: must be '],
      ['an unknown state of a delivery', 'deliveries', last({ state: 'NEW' }), 'state: must meet the condition'],
      ['an unknown action', 'activities', last({ action: 'NEW' }), 'action: must be '],
      [
        'changes of another type',
        'activities',
        last({ changes: '{"title": {"to": 1, "from": 2}}' }),
        'changes: must be',
      ],
      [
        'a number with 309 digits',
        'tickets',
        last({ custom_fields: `{"a": 1${'0'.repeat(308)}}` }),
        'custom_fields: must be 0',
      ],
      [
        'deep JSON',
        'audit_entries',
        last({ changes: jsonOf(33) }),
        'changes: must have at most 1048576 bytes and 32 nested',
      ],
      [
        'JSON that exceeds the stack',
        'audit_entries',
        last({ changes: jsonOf(30_000) }),
        "changes: isn't a value of the type jsonb",
      ],
      ['an event that is not JSON', 'events', last({ body: '{' }), 'body: must be JSON'],
      ['a NUL character', 'tickets', last({ title: 'a\0b' }), "title: isn't a value of the type text"],
      ['an unpaired surrogate', 'tickets', last({ title: 'a\ud800' }), "title: isn't a value of the type text"],
      ['an infinite time', 'tickets', last({ created_at: 'infinity' }), 'created_at: must be'],
      [
        'a time with more digits',
        'tickets',
        last({ due_at: '2026-11-26 00:00:00.12345+00' }),
        "due_at: isn't written as",
      ],
      ['null in a required column', 'users', last({ email: null }), 'email: must'],
      [
        'a version that can not increase',
        'users',
        last({ version: '2147483647' }),
        'version: must be from 0 to 2000000000',
      ],
      ['an unknown column', 'users', last({ other: 'x' }), "isn't written as"],
      [
        'the same column twice',
        'users',
        (rows) => rows.map(format).join('').replace('{', '{"name" : "x", '),
        "isn't written as",
      ],
      [
        'a line that is not JSON',
        'users',
        (rows) => rows.map(format).join('').replace('"email" : ', '"email" '),
        "isn't JSON",
      ],
      [
        'a line that is not an object',
        'users',
        (rows) => `${rows.map(format).join('')}[]\n`,
        "isn't a row of the table",
      ],
      ['a line without an end', 'users', cutOff, 'has no end'],
      ['the same row twice', 'users', (rows) => [...rows, ...rows.slice(-1)], 'has the same values as an earlier line'],
      ['another order', 'audit_entries', (rows) => rows.toReversed(), "isn't in the order of the primary key"],
      ['a missing reference', 'comments', last({ author_id: '999' }), 'author_id: refers to a row that users.jsonl'],
      ['a missing asset', 'tickets', last({ asset_ids: '{999}' }), 'asset_ids: refers to a row'],
      ['a missing watcher', 'tickets', last({ watcher_ids: '{999}' }), 'watcher_ids: refers to a row'],
      ['an ordinal above the last one', 'tickets', last({ ordinal: '999' }), 'ordinal, number: must be from 1 to'],
      [
        'a wrong number of tickets',
        'ticket_sequences',
        last({ total: '1999999999' }),
        'total: must be the number of tickets',
      ],
      [
        'a ticket that is its own parent',
        'tickets',
        (rows) => rows.map((row) => ({ ...row, parent_id: row.id ?? null })),
        'parent_id: refers to the row itself',
      ],
      ['another name of the tenant', 'tenants', last({ name: 'Another' }), "name: isn't the name in manifest.json"],
      ['no row of the tenant', 'tenants', () => '', 'tenants.jsonl'],
      [
        'a secret of another webhook',
        'webhook_subscriptions',
        last({ secret: '\\x00' }),
        "secret: isn't encrypted with a key",
      ],
      ['the file of another tenant', 'attachments', last({ storage_key: `1001/${'0'.repeat(36)}` }), 'storage_key'],
      [
        'a path out of the folder',
        'attachments',
        (rows) => last({ storage_key: `${rows[0]?.tenant_id}/../../../users.jsonl` })(rows),
        'storage_key',
      ],
      [
        'a deleted attachment with an id above 2^53',
        'deleted_attachments',
        last({ id: '9007199254740992' }),
        'id: must be from 0 to 9007199254740991',
      ],
      [
        'a deleted attachment with an id above the last one',
        'deleted_attachments',
        last({ id: '9007199254740991' }),
        'id: must be from 1 to',
      ],
      [
        'a deleted attachment with the file of another tenant',
        'deleted_attachments',
        last({ storage_key: `1001/${'0'.repeat(36)}` }),
        'storage_key, tenant_id: must meet',
      ],
      ['an unsafe type of a file', 'attachments', last({ content_type: 'a/b\r\nx: y' }), 'content_type: must have'],
      ['another size of a file', 'attachments', last({ size: '17' }), 'has another size'],
      ['another hash of a file', 'attachments', last({ sha256: '0'.repeat(64) }), 'is damaged'],
    ])('imports nothing with %s', async (_what, table, change, message) => {
      const found = await importChanged(table, change);
      expect(found).toMatch(new RegExp(`${table}.jsonl`));
      expect(found).toContain(message);
      expect(found).toContain('Nothing was imported.');
      expect(found.length).toBeLessThan(400);
    });

    it('names the line and the column', async () => {
      const rows = await readRows('tickets');
      expect(await importChanged('tickets', last({ title: '' }))).toContain(
        `tickets.jsonl, line ${rows.length}, column title: must have at least 1 character. Nothing was imported.`,
      );
    });

    it('imports nothing with the API key of another tenant', async () => {
      const [key] = await query<{ hash: Buffer }>(target.url, 'SELECT hash FROM api_keys WHERE tenant_id = $1', [
        other.tenantId,
      ]);
      const hash = `\\x${key?.hash.toString('hex')}`;
      expect(await importChanged('api_keys', last({ hash }))).toContain('column hash: is already in use');
    });

    it.each(['id', 'storage_key'])(
      'imports nothing with a deleted attachment that has the %s of another one',
      async (column) => {
        const [attachment] = await readRows('attachments');
        const change = last({ [column]: attachment?.[column] ?? null });
        expect(await importChanged('deleted_attachments', change)).toContain(
          `column ${column}: belongs to an attachment`,
        );
      },
    );

    it('names the schema version of an export of an earlier release, whose manifest contains no last ids', async () => {
      const manifest = await readFile(manifestFile(), 'utf8');
      const { lastIds: _, ...earlier } = JSON.parse(manifest);
      await writeFile(manifestFile(), JSON.stringify({ ...earlier, schemaVersion: '20260101000000_other' }));
      expect(await failImport()).toContain('The export has the schema version 20260101000000_other, but');
      await writeFile(manifestFile(), manifest);
    });

    it.each<[string, object, string]>([
      [
        'an id of a tenant that uses up the ids of the cell',
        { tenant: { id: 999_999_999, name: 'x' } },
        'tenant.id must be',
      ],
      ['last ids that use up the ids of all tenants', { lastIds: { tickets: 2 ** 53 - 1 } }, 'lastIds.tickets must be'],
      ['other values', { tables: 1 }, 'tables must be an object'],
    ])('imports nothing if the manifest has %s', async (_what, change, message) => {
      const manifest = await readFile(manifestFile(), 'utf8');
      await writeFile(manifestFile(), JSON.stringify({ ...JSON.parse(manifest), ...change }));
      expect(await failImport()).toContain(message);
      await writeFile(manifestFile(), manifest);
    });

    it('imports nothing if rows differ from the manifest', async () => {
      const file = join(backup(), 'comments.jsonl');
      const comments = await readFile(file, 'utf8');
      await writeFile(file, comments.replace('"body" : "', '"body" : "x'));
      expect(await failImport()).toContain('comments.jsonl differs from manifest.json');
      await writeFile(file, comments);
    });

    it.each<[string, (file: string) => Promise<unknown>, string]>([
      ['is truncated', (file) => writeFile(file, 'Connection'), 'has another size'],
      ['is replaced', (file) => writeFile(file, 'CONNECTION LOST.'), 'is damaged'],
      ['is a link', (file) => rm(file).then(() => symlink('/etc/hostname', file)), "isn't a regular file"],
      ['is a folder', (file) => rm(file).then(() => mkdir(file)), "isn't a regular file"],
    ])('imports nothing if the file of an attachment %s', async (_what, change, message) => {
      const [name = ''] = await readdir(join(backup(), 'attachments'));
      const file = join(backup(), 'attachments', name);
      const content = await readFile(file);
      await change(file);
      const found = await failImport();
      expect(found).toMatch(/^attachments\.jsonl, line 1, column storage_key: .*\. Nothing was imported/m);
      expect(found).toContain(message);
      await rm(file, { recursive: true, force: true });
      await writeFile(file, content);
    });

    it('prints the place of a fault without a stack trace', async () => {
      const [name = ''] = await readdir(join(backup(), 'attachments'));
      const file = join(backup(), 'attachments', name);
      await rename(file, join(folder, name));
      expect(await fail(atTarget, `tenants import ${backup()}`)).toMatch(
        new RegExp(
          `^error: attachments.jsonl, line 1, column storage_key: The file attachments/${name} is missing. ` +
            'Nothing was imported. Export the tenant again.\n$',
          'm',
        ),
      );
      await rename(join(folder, name), file);
    });

    it('imports nothing if a file is a link', async () => {
      const file = join(backup(), 'users.jsonl');
      await rename(file, join(folder, 'users.jsonl'));
      await symlink(join(folder, 'users.jsonl'), file);
      expect(await failImport()).toContain("users.jsonl isn't a regular file");
      await rename(join(folder, 'users.jsonl'), file);
    });
  });

  it('imports an export after other imports of it failed', async () => {
    await succeed(atTarget, `tenants import ${folder}/backup`);
    expect((await other.createTicket()).id).toBeGreaterThan(0);
  });
});

describe('exportTenant', () => {
  const target = (name: string) => ({ folder: join(folder, name), report: () => undefined });
  const tenant = () => ({ id: Number(mine.tenantId), name: 'Mine' });

  it('waits until requests have ended, and then for the transactions that are still open', async () => {
    const remainingMs = 900;
    await query(
      source.databaseUrl,
      'UPDATE tenants SET maintenance_since = now() - make_interval(secs => $2) WHERE id = $1',
      [mine.tenantId, (quietAfterMs(source.databases.options.timeouts) - remainingMs) / 1000],
    );
    const reports: string[] = [];
    const client = new pg.Client({ connectionString: source.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1');
    const exported = exportTenant(source, tenant(), {
      folder: join(folder, 'waited'),
      report: (line) => reports.push(line),
    });
    await new Promise((resolve) => setTimeout(resolve, remainingMs + 300));
    await client.query('UPDATE users SET job_title = $2 WHERE tenant_id = $1', [mine.tenantId, 'late write']);
    await client.query('COMMIT');
    await client.end();
    await exported;
    expect(reports[0]).toBe('Waiting 1 s until all running requests have ended …');
    expect(await readFile(join(folder, 'waited/users.jsonl'), 'utf8')).toContain('late write');
    await beginMaintenance(mine);
  });

  it.each([
    ['a row changes', "UPDATE users SET job_title = 'changed' WHERE tenant_id = $1", 'rows of users changed'],
    ['the maintenance ends', 'UPDATE tenants SET maintenance_since = NULL WHERE id = $1', 'the maintenance ended'],
  ])('fails if %s during the export', async (_what, sql, message) => {
    const read = async (key: string) => {
      await query(source.databaseUrl, sql, [mine.tenantId]);
      return source.services.storage.read(key);
    };
    const services = { ...source.services, storage: { ...source.services.storage, read } };
    await expect(exportTenant({ ...source, services }, tenant(), target('changed'))).rejects.toThrow(message);
    expect((await readdir(folder)).filter((name) => name.startsWith('changed'))).toEqual([]);
    await beginMaintenance(mine);
  });
});

it('names the folder of an export that was killed in the next export and in `itsm doctor`', async () => {
  const partials = async () => (await readdir(folder)).filter((name) => name.endsWith('.partial'));
  expect(await partials()).toEqual([]);
  const client = new pg.Client({ connectionString: source.databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
    const command = ['tenants', 'export', String(theirs.tenantId), join(folder, 'killed')];
    const env = { ATTACHMENTS_DIR: join(folder, 'source'), CELL: '1' };
    const child = spawnCommand(command, source.databaseUrl, env);
    await expect.poll(partials, { timeout: 30_000 }).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
  } finally {
    await client.end();
  }

  const [name = ''] = await partials();
  expect(name).toMatch(/^killed\..+\.partial$/);
  const { code, stderr } = await atSource(`tenants export ${theirs.tenantId} ${folder}/next`);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`still running: ${join(folder, name)}. If no export`)]);
  const diagnose = async () => JSON.parse((await atSource('doctor --json')).stdout).findings;
  const message = expect.stringContaining(join(folder, name));
  expect(await diagnose()).toContainEqual({ check: 'exports', level: 'note', message, advice: expect.any(String) });
  await rm(join(folder, name), { recursive: true });
  expect(await diagnose()).toContainEqual(expect.objectContaining({ check: 'exports', level: 'ok' }));
}, 60_000);

describe('tenants delete', () => {
  it('requires maintenance, and the name or --yes', async () => {
    expect(await fail(atSource, `tenants delete ${theirs.tenantId} --yes`)).toContain('is not in maintenance');
    expect(await fail(atSource, `tenants delete ${mine.tenantId}`)).toContain('--yes is required');
  });

  it('waits for open transactions, so that no row remains', async () => {
    const { tenantId } = other;
    const begin = 'UPDATE tenants SET maintenance_since = $2, unavailable_since = $2 WHERE id = $1';
    await query(target.url, begin, [tenantId, '2026-01-01T12:00Z']);
    const client = new pg.Client({ connectionString: target.url });
    await client.connect();
    await client.query('BEGIN');
    const entry = "INSERT INTO audit_entries (tenant_id, action, address, user_agent) VALUES ($1, 'late', '', '')";
    await client.query(entry, [tenantId]);
    const tenant = { id: Number(tenantId), name: 'Other' };
    const deleted = deleteTenant(targetApi, tenant, { report: () => undefined });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.query('COMMIT');
    await client.end();
    await deleted;
    expect(Object.values(await readTenant(target.url, tenantId)).flat()).toEqual([]);
  });

  it('deletes nothing if the rows differ from the export', async () => {
    const before = await readTenant(source.databaseUrl, mine.tenantId);
    expect(await fail(atSource, `tenants delete ${mine.tenantId} --moved ${moved} --yes`)).toContain(
      'differ from the export: users',
    );
    expect(await readTenant(source.databaseUrl, mine.tenantId)).toEqual(before);
  });

  it('continues after an interruption, and keeps one row and the other tenants', async () => {
    const exported = join(folder, 'exported');
    await query(source.databaseUrl, 'UPDATE tenants SET unavailable_since = NULL WHERE id = $1', [mine.tenantId]);
    await succeed(atSource, `tenants export ${mine.tenantId} ${exported}`);
    const readOnly = await fail(atSource, `tenants delete ${mine.tenantId} --moved ${exported} --yes`);
    expect(readOnly).toContain(`is read-only, so requests would return a part of its rows. Run \`tenants maintenance`);
    // The export stays valid.
    await succeed(atSource, `tenants maintenance ${mine.tenantId} on`);
    await beginMaintenance(mine);
    const others = await readTenant(source.databaseUrl, theirs.tenantId);
    const files = () => readdir(join(folder, 'source', String(mine.tenantId)));
    expect(await files()).toHaveLength(1);
    const storage = { ...source.services.storage, delete: () => Promise.reject(new Error('interrupted')) };
    const tenant = await source.prisma.tenant.findUniqueOrThrow({ where: { id: mine.tenantId } });
    const options = { moved: exported, report: () => undefined };
    const interrupted = deleteTenant(
      { ...source, services: { ...source.services, storage } },
      { id: Number(tenant.id), name: tenant.name },
      options,
    );
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await source.prisma.user.count({ where: { tenantId: mine.tenantId } })).toBeGreaterThan(0);

    const deleted = await succeed(atSource, `tenants delete ${mine.tenantId} --moved ${exported} --yes`);
    expect(deleted.rows).toMatchObject({ tenants: 1, tickets: 7, ticket_watchers: 1 });
    const remaining = Object.entries(await readTenant(source.databaseUrl, mine.tenantId));
    expect(remaining.filter(([, rows]) => rows.length > 0)).toEqual([]);
    expect(await files()).toEqual([]);
    expect(await readTenant(source.databaseUrl, theirs.tenantId)).toEqual(others);
    expect(await source.prisma.deletedTenant.findMany()).toEqual([
      {
        ...{ id: mine.tenantId, name: tenant.name, rows: deleted.rows, osUser: null },
        ...{ beganAt: expect.any(Date), completedAt: expect.any(Date) },
      },
    ]);
  });
});
