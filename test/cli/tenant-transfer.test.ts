import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Weekday } from '@itsm-api/contract';
import { updateArticle } from '@itsm-api/server/resources/articles/queries.ts';
import { setBusinessHours } from '@itsm-api/server/resources/business-hours/queries.ts';
import { backfillFilters } from '@itsm-api/server/resources/custom-fields/filter-backfill.ts';
import { quietAfterMs } from '@itsm-api/server/resources/tenants/maintenance.ts';
import { deleteTenant } from '@itsm-api/server/resources/tenants/tenant-deletion.ts';
import { exportTenant } from '@itsm-api/server/resources/tenants/tenant-export.ts';
import { hashOf, readManifest, verifyTables } from '@itsm-api/server/resources/tenants/tenant-folder.ts';
import { importTenant } from '@itsm-api/server/resources/tenants/tenant-import.ts';
import { signManifest } from '@itsm-api/server/resources/tenants/tenant-signature.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secrets/secret-cipher.ts';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Api, startApi } from '../support/api.ts';
import { secretKey, spawnCommand } from '../support/command-process.ts';
import { cloneDatabase, query, type TestDatabase } from '../support/database.ts';
import { fillWorkspace } from '../support/filled-workspace.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';
import { commandLine } from './itsm.ts';

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

/** Starts the maintenance at a time in the past, so that no command waits for running requests. */
function beginMaintenance({ tenantId }: Workspace, databaseUrl = source.databaseUrl) {
  const text = 'UPDATE tenants SET maintenance_since = $2, unavailable_since = $2 WHERE id = $1';
  return query(databaseUrl, text, [tenantId, '2026-01-01T12:00Z']);
}

/** Signs the manifest in a folder, as `tenants export` does. */
async function sign(path: string, cipher = source.services.secretCipher): Promise<void> {
  await writeFile(join(path, 'manifest.sig'), signManifest(await readFile(join(path, 'manifest.json')), cipher));
}

/** Changes and signs the manifest in a folder until the result is disposed. */
async function changeManifest(path: string, change: object): Promise<AsyncDisposable> {
  const file = join(path, 'manifest.json');
  const before = await readFile(file, 'utf8');
  const write = async (content: string) => {
    await writeFile(file, content);
    await sign(path);
  };
  await write(JSON.stringify({ ...JSON.parse(before), ...change }));
  return { [Symbol.asyncDispose]: () => write(before) };
}

type Row = Record<string, string | null>;

/** Replaces the rows of a table in the folder `backup`, and their hash in the manifest, but not the signature. */
async function changeRows(table: string, change: (rows: Row[]) => Row[]): Promise<void> {
  const [file, manifestFile] = [join(folder, 'backup', `${table}.jsonl`), join(folder, 'backup/manifest.json')];
  const pairsOf = (row: Row) => Object.entries(row).map(([name, value]) => `"${name}" : ${JSON.stringify(value)}`);
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  const rows = change(lines.map((line) => JSON.parse(line)));
  const content = rows.map((row) => `{${pairsOf(row).join(', ')}}\n`).join('');
  await writeFile(file, content);
  const manifest = JSON.parse(await readFile(manifestFile, 'utf8'));
  manifest.tables[table].sha256 = hashOf(content);
  manifest.tables[table].rows = rows.length;
  await writeFile(manifestFile, JSON.stringify(manifest));
}

/** Returns a change of the last row of a table. */
function last(change: Row) {
  return (rows: Row[]) => [...rows.slice(0, -1), { ...rows.at(-1), ...change }];
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
    expect(await readdir(moved)).toEqual([...files, 'attachments', 'manifest.json', 'manifest.sig'].sort());
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
    await expect.poll(countChanges).toBe(inMaintenance.length + 1);
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

  it('keeps the business hours, the targets and the pauses of tickets', async () => {
    const owner = await createWorkspace(source);
    const dayMs = 86_400_000;
    const dateIn = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
    await setBusinessHours(owner.context, {
      calendar: {
        timeZone: 'UTC',
        intervals: Weekday.options.map((weekday) => ({ weekday, opens: '00:00', closes: '24:00' })),
        holidays: [2, 3].map((days) => ({ date: dateIn(days), name: null })),
      },
      targets: { resolution: { HIGH: 4 * 1440 }, firstResponse: { HIGH: 2 * 1440 } },
      pausesWhilePending: true,
    });
    const later = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString();
    const before = await owner.createTicket({ priority: 'HIGH' });
    const pending = await owner.call('PATCH', `/tickets/${before.id}`, { status: 'PENDING' });
    expect(pending.body.data.dueAt).toBe(later(before.createdAt, 6 * dayMs));

    const path = join(folder, 'hours');
    await beginMaintenance(owner);
    await succeed(atSource, `tenants export ${owner.tenantId} ${path}`);
    await succeed(atTarget, `tenants import ${path}`);
    const call = (method: string, path: string, body: object) =>
      targetApi.call({ method, path: `/api/public/v1${path}`, key: owner.key, body });

    const { data: created } = (await call('POST', '/tickets', { ...ticket, priority: 'HIGH' })).body;
    expect(created).toMatchObject({
      dueAt: later(created.createdAt, 6 * dayMs),
      firstResponseDueAt: later(created.createdAt, 4 * dayMs),
    });
    const { data: resumed } = (await call('PATCH', `/tickets/${before.id}`, { status: 'IN_PROGRESS' })).body;
    const pausedMs = Date.parse(resumed.updatedAt) - Date.parse(pending.body.data.updatedAt);
    expect(resumed.dueAt).toBe(later(before.createdAt, 6 * dayMs + pausedMs));
  });

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
    const { name } = await succeed(atTarget, `tenants show ${mine.tenantId}`);
    const message = `A tenant with this id already exists: ${name}. Delete it first.`;
    expect(await fail(atTarget, `tenants import ${moved}`)).toContain(message);
  });

  it('names other problems first, before the tenant, which an operator would delete for an unusable backup', async () => {
    await using _ = await changeManifest(moved, { schemaVersion: '20260101000000_other' });
    expect(await fail(atTarget, `tenants import ${moved}`)).toContain('schema version 20260101000000_other');
  });

  it('marks an export without maintenance as a backup', async () => {
    const backup = join(folder, 'backup');
    const { stdout } = await atSource(`tenants export ${theirs.tenantId} ${backup}`);
    expect(stdout).toContain(
      `and 1 file of attachments. The SHA-256 of manifest.json is ${hashOf(await readFile(join(backup, 'manifest.json')))}. ` +
        'The export is only a backup, because the tenant is not in maintenance.',
    );
    expect(JSON.parse(await readFile(join(backup, 'manifest.json'), 'utf8')).maintenanceSince).toBeNull();
    expect(await fail(atSource, `tenants export ${theirs.tenantId} ${backup}`)).toContain('already exists');
    await beginMaintenance(theirs);
    const deletion = await fail(atSource, `tenants delete ${theirs.tenantId} --moved ${backup} --yes`);
    expect(deletion).toContain('was made before the current maintenance of the tenant began');
    await query(source.databaseUrl, 'UPDATE tenants SET maintenance_since = NULL WHERE id = $1', [theirs.tenantId]);
  });

  it.each([
    ['another schema version', { schemaVersion: '20260101000000_other' }, 'schema version 20260101000000_other'],
    ['an unknown secret key', { secretKeys: ['00000000'] }, 'lacks the keys with the ids 00000000'],
  ])('rejects %s before it imports a row', async (_what, change, message) => {
    await using _ = await changeManifest(join(folder, 'backup'), change);
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain(message);
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

  describe('of a changed export', () => {
    const backup = () => join(folder, 'backup');
    const changeText = (name: string, change: (text: string) => string) => async () => {
      const file = join(backup(), name);
      await writeFile(file, change(await readFile(file, 'utf8')));
    };
    const replaceByLink = async (name: string) => {
      const file = join(backup(), name);
      await rename(file, join(folder, 'linked'));
      await symlink(join(folder, 'linked'), file);
    };
    const attachment = async () => join('attachments', (await readdir(join(backup(), 'attachments')))[0] ?? '');

    let sequences: unknown;
    // The server writes earlier requests to the request log in the background.
    const readSequences = () =>
      query(
        target.url,
        "SELECT sequencename, last_value FROM pg_sequences WHERE sequencename <> 'request_log_id_seq' ORDER BY 1",
      );
    beforeAll(async () => {
      sequences = await readSequences();
      await cp(backup(), join(folder, 'original'), { recursive: true });
    });
    afterEach(async () => {
      await rm(backup(), { recursive: true });
      await cp(join(folder, 'original'), backup(), { recursive: true });
    });
    afterAll(async () => {
      expect(Object.values(await readTenant(target.url, theirs.tenantId)).flat()).toEqual([]);
      expect(await readSequences()).toEqual(sequences);
    });

    const otherKeys = createSecretCipher([Buffer.alloc(32, 1).toString('base64')]);
    const isWrong = /^The signature of the export is wrong: .* Export the tenant again\.$/;
    const lacksKey =
      /^WEBHOOK_SECRET_KEY: lacks the key with the id [\da-f]{8}, which signed the export\. Add the keys/;
    const isUnsigned =
      /an earlier release made it\. Export the tenant again, or import this folder with `--manifest-sha256`/;
    it.each<[string, () => Promise<unknown>, RegExp | string]>([
      ['another role of a user', () => changeRows('users', last({ role: 'ADMIN' })), isWrong],
      ['another password', () => changeRows('passwords', last({ hash: 'x' })), isWrong],
      ['another API key', () => changeRows('api_keys', last({ hash: `\\x${'0'.repeat(64)}` })), isWrong],
      ['another activity', () => changeRows('activities', last({ changes: '[]' })), isWrong],
      ['another number of tickets', () => changeRows('ticket_sequences', last({ total: '9' })), isWrong],
      ['another id', () => changeRows('tickets', last({ id: String(2 ** 52) })), isWrong],
      ['an additional row', () => changeRows('users', (rows) => [...rows, ...rows]), isWrong],
      ['a missing row', () => changeRows('tickets', (rows) => rows.slice(1)), isWrong],
      ['a space in the manifest', changeText('manifest.json', (text) => `${text} `), isWrong],
      ['another form of the manifest', changeText('manifest.json', () => '{}'), isWrong],
      ['another signature', changeText('manifest.sig', (text) => text.replace(/.$/m, 'x')), isWrong],
      ['an empty signature', changeText('manifest.sig', () => ''), isWrong],
      ['the id of another key', changeText('manifest.sig', () => `00000000 ${'0'.repeat(64)}\n`), lacksKey],
      ['a signature by another key', () => sign(backup(), otherKeys), lacksKey],
      ['no signature, as in an earlier release', () => rm(join(backup(), 'manifest.sig')), isUnsigned],
      ['another text', changeText('comments.jsonl', (text) => text.replace('a', 'b')), 'comments.jsonl differs from'],
      ['a truncated table', changeText('events.jsonl', (text) => text.slice(0, -9)), 'events.jsonl differs from'],
      ['an empty table', changeText('tenants.jsonl', () => ''), 'tenants.jsonl differs from manifest.json.'],
      ['a missing table', () => rm(join(backup(), 'users.jsonl')), 'The file users.jsonl is missing.'],
      ['a link to a table', () => replaceByLink('users.jsonl'), "users.jsonl isn't a regular file."],
      ['a link to a manifest', () => replaceByLink('manifest.json'), "manifest.json isn't a regular file."],
      ['a link to a signature', () => replaceByLink('manifest.sig'), "manifest.sig isn't a regular file."],
      ['no manifest', () => rm(join(backup(), 'manifest.json')), 'The file manifest.json is missing. Enter a folder'],
    ])('rejects %s', async (_what, change, message) => {
      await change();
      const verified = readManifest(backup(), targetApi.services).then((read) => verifyTables(backup(), read));
      await expect(verified).rejects.toThrow(message);
    });

    it('verifies a signature by any key of the setting', async () => {
      const ring = createSecretCipher([Buffer.alloc(32, 2).toString('base64'), secretKey]);
      expect(await readManifest(backup(), { secretCipher: ring })).toMatchObject({ attachments: 1 });
    });

    it('rejects another hash than in --manifest-sha256', async () => {
      const message = await fail(atTarget, `tenants import ${backup()} --manifest-sha256 ${'0'.repeat(64)}`);
      expect(message).toMatch(
        // The message has no stack trace.
        /^error: manifest.json doesn't have the SHA-256 in --manifest-sha256\. .*\n$/m,
      );
    });

    // Another installation with the same key could sign these exports.
    it.each<[string, () => Promise<unknown>, string]>([
      [
        'the row of another tenant',
        () => changeRows('users', last({ tenant_id: '1001' })),
        "isn't the id of the tenant",
      ],
      [
        'an id above 2^52',
        () => changeRows('tickets', last({ id: String(2 ** 52 + 1) })),
        'column id: must be from 1 to 4503599627370496',
      ],
      [
        'rows in another order',
        () => changeRows('audit_entries', (rows) => rows.toReversed()),
        "audit_entries.jsonl, line 1: isn't in the order of the primary key",
      ],
      [
        'a ticket that is its own parent',
        () => changeRows('tickets', (rows) => rows.map((row) => ({ ...row, parent_id: row.id ?? null }))),
        'column parent_id: refers to the row itself',
      ],
      [
        'a secret of another webhook',
        () => changeRows('webhook_subscriptions', last({ secret: '\\x00' })),
        "line 1, column secret: isn't encrypted with a key in WEBHOOK_SECRET_KEY for this webhook",
      ],
      [
        'a text that is no number',
        () => changeRows('tickets', (rows) => rows.map((row) => ({ ...row, version: 'secret' }))),
        'tickets.jsonl, line 1: has a value of another type. Export the tenant again. Nothing was imported.',
      ],
      ['another text', changeText('comments.jsonl', (text) => text.replace('a', 'b')), 'comments.jsonl differs from'],
      [
        'a truncated attachment',
        async () => writeFile(join(backup(), await attachment()), 'Connection'),
        'has 10 bytes, but the export lists 16. Export the tenant again.',
      ],
      [
        'a replaced attachment',
        async () => writeFile(join(backup(), await attachment()), 'C'.repeat(16)),
        'is damaged',
      ],
      ['a link to an attachment', async () => replaceByLink(await attachment()), "isn't a regular file"],
    ])('imports nothing from a signed export with %s', async (_what, change, message) => {
      await change();
      await sign(backup());
      const imported = importTenant(targetApi, { folder: backup(), report: () => undefined });
      await expect(imported).rejects.toThrow(/Export the tenant again\. Nothing was imported\.$/);
      await expect(imported).rejects.toThrow(message);
      expect((await readTenant(target.url, theirs.tenantId)).tenants).toEqual([]);
    });
  });

  it('imports an export after other imports of it failed', async () => {
    expect(await succeed(atTarget, `tenants import ${folder}/backup`)).toMatchObject({ deactivatedWebhooks: [] });
    expect((await other.createTicket()).id).toBeGreaterThan(0);
    await beginMaintenance(theirs, target.url);
    await succeed(atTarget, `tenants delete ${theirs.tenantId} --yes`);
  });

  it('imports exactly the export with --manifest-sha256, and deactivates webhooks whose secrets no key decrypts', async () => {
    const lostKey = createSecretCipher([Buffer.alloc(32, 3).toString('base64')]);
    const knownKey = createSecretCipher([secretKey]);
    const ownerOf = (id = 0) => ({ tenantId: theirs.context.db.$tenantId, subscriptionId: BigInt(id) });
    const encrypt = (cipher: typeof lostKey, id: number) =>
      `\\x${Buffer.from(cipher.encrypt('whsec_x', ownerOf(id))).toString('hex')}`;
    let webhook: Row = {};
    let otherId = 0;
    await changeRows('webhook_subscriptions', ([row]) => {
      webhook = row as Row;
      const id = Number(webhook.id);
      otherId = id + 1;
      const secret = encrypt(lostKey, id);
      // No key decrypts the previous secret of the other webhook.
      const secrets = { secret: encrypt(knownKey, otherId), previous_secret: encrypt(lostKey, otherId) };
      const other = { ...webhook, ...secrets, id: String(otherId), active: 'true' };
      return [{ ...webhook, secret, previous_secret: secret }, other];
    });
    await changeRows('audit_entries', last({ id: String(2 ** 52) }));
    const manifestFile = join(folder, 'backup/manifest.json');
    const manifest = JSON.parse(await readFile(manifestFile, 'utf8'));
    await writeFile(manifestFile, JSON.stringify({ ...manifest, secretKeys: lostKey.keyIds }));
    await sign(join(folder, 'backup'), lostKey);
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain('lacks the key with the id');

    const hash = hashOf(await readFile(manifestFile));
    const { code, stderr } = await atTarget(`tenants import ${folder}/backup --manifest-sha256 ${hash.toUpperCase()}`);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`are inactive: ${webhook.id} (${webhook.url}).`)]);
    expect(stderr).toContain(`webhooks activate ${webhook.id} --tenant ${theirs.tenantId}\n`);
    expect(await succeed(atTarget, `webhooks show ${webhook.id} --tenant ${theirs.tenantId}`)).toMatchObject({
      active: false,
    });
    const stored = 'SELECT active, secret, previous_secret FROM webhook_subscriptions WHERE tenant_id = $1 AND id = $2';
    const [kept] = await query<{ secret: Buffer }>(target.url, stored, [theirs.tenantId, otherId]);
    expect(kept).toMatchObject({ active: true, previous_secret: null });
    expect(knownKey.decrypt(kept?.secret ?? Buffer.of(), ownerOf(otherId))).toBe('whsec_x');
    const added = 'SELECT action FROM audit_entries WHERE tenant_id = $1 AND id > $2::bigint ORDER BY id';
    expect(await query(target.url, added, [theirs.tenantId, 2 ** 52])).toEqual([
      { action: 'workspace.imported' },
      { action: 'webhook.deleted' },
    ]);
    for (const command of ['activate ID', 'update ID --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']) {
      await succeed(atTarget, `webhooks ${command.replace('ID', webhook.id ?? '')} --tenant ${theirs.tenantId}`);
    }
  });

  it('names a sequence that an imported id has raised above 2^48', async () => {
    const message = /The sequence audit_entries_id_seq is at 45035996273\d{5}, above 2\^48\./;
    const exported = await atTarget(`tenants export ${other.tenantId} ${folder}/high`);
    expect([exported.code, exported.stderr]).toEqual([0, expect.stringMatching(message)]);
    const { findings } = JSON.parse((await atTarget('doctor --json')).stdout);
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'sequences', level: 'wrong', message: expect.stringMatching(message) }),
    );
    // The high id of one tenant doesn't prevent imports of others.
    await succeed(atSource, `tenants import ${folder}/high`);
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
    await expect.poll(partials).toHaveLength(1);
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
});

describe('tenants delete', () => {
  it('requires maintenance, and the name or --yes', async () => {
    expect(await fail(atSource, `tenants delete ${theirs.tenantId} --yes`)).toContain('is not in maintenance');
    expect(await fail(atSource, `tenants delete ${mine.tenantId}`)).toContain('--yes is required');
  });

  it('waits for open transactions, so that no row remains', async () => {
    const { tenantId } = other;
    await beginMaintenance(other, target.url);
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

  it('deletes nothing if the signature of the export is missing or needs another key, or if the rows differ from it', async () => {
    const before = await readTenant(source.databaseUrl, mine.tenantId);
    await rm(join(moved, 'manifest.sig'));
    expect(await fail(atSource, `tenants delete ${mine.tenantId} --moved ${moved} --yes`)).toMatch(
      /^error: The export has no signature .* Export and import the tenant again\. Nothing was deleted\.$/m,
    );
    await sign(moved, createSecretCipher([Buffer.alloc(32, 1).toString('base64')]));
    expect(await fail(atSource, `tenants delete ${mine.tenantId} --moved ${moved} --yes`)).toMatch(
      /If a key is lost, export and import the tenant again\. Nothing was deleted\.$/m,
    );
    await sign(moved);
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
