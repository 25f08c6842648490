import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { updateArticle } from '@itsm-api/server/resources/articles/queries.ts';
import { quietAfterMs } from '@itsm-api/server/resources/tenants/maintenance.ts';
import { deleteTenant } from '@itsm-api/server/resources/tenants/tenant-deletion.ts';
import { exportTenant } from '@itsm-api/server/resources/tenants/tenant-export.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Api, startApi } from '../support/api.ts';
import { cloneDatabase, query, type TestDatabase } from '../support/database.ts';
import { fillWorkspace } from '../support/filled-workspace.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';
import { commandLine, secretKey } from './itsm.ts';

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
  return query(source.databaseUrl, "UPDATE tenants SET maintenance_since = '2026-01-01T12:00Z' WHERE id = $1", [
    tenantId,
  ]);
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
  const local = ['position', 'horizon', 'recorded_at', 'changed_at', 'maintenance_since', 'incomplete'];
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
    // The target remains cell 0.
    expect(await nextId('tenants')).toBeLessThan(1_000_000_000);

    // Open transactions of other test files on this PostgreSQL server can hold back the newest change.
    const countChanges = async () => (await call('GET', '/tickets/changes?perPage=100')).body.data.length;
    await expect.poll(countChanges, { timeout: 10_000 }).toBe(inMaintenance.length + 1);
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
    expect(deletion).toContain("isn't from the current maintenance");
    await query(source.databaseUrl, 'UPDATE tenants SET maintenance_since = NULL WHERE id = $1', [theirs.tenantId]);
  });

  it('rejects an export with another schema version or an unknown secret key before the first row', async () => {
    const file = join(folder, 'backup/manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...manifest, schemaVersion: '20260101000000_other' }));
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain('schema version 20260101000000_other');
    await writeFile(file, JSON.stringify({ ...manifest, secretKeys: ['00000000'] }));
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain('lacks the keys with the ids 00000000');
    await writeFile(file, JSON.stringify(manifest));
    expect((await readTenant(target.url, theirs.tenantId)).tenants).toEqual([]);
  });

  it('rejects an export with the file of another tenant before the first row', async () => {
    const file = join(folder, 'backup/attachments.jsonl');
    const attachments = await readFile(file, 'utf8');
    await writeFile(file, attachments.replace(`"${theirs.tenantId}/`, `"${other.tenantId}/`));
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain("doesn't belong to the tenant");
    await writeFile(file, attachments);
    expect((await readTenant(target.url, theirs.tenantId)).tenants).toEqual([]);
  });

  it('rejects a store of attachments that belongs to another installation before the first row', async () => {
    const store = join(folder, 'foreign');
    await mkdir(store);
    await writeFile(join(store, 'installation-id'), 'f7c4cbba-0ac9-4a86-9ec1-4a1f0e8a7e5a\n');
    const withForeignStore = commandLine(target.url, { ATTACHMENTS_DIR: store });
    expect(await fail(withForeignStore, `tenants import ${folder}/backup`)).toContain(
      'belongs to another installation',
    );
    expect((await readTenant(target.url, theirs.tenantId)).tenants).toEqual([]);
  });

  it('rejects an export without the row of the tenant before the rows of other tables', async () => {
    const file = join(folder, 'backup/tenants.jsonl');
    const tenants = await readFile(file, 'utf8');
    await writeFile(file, '');
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain('tenants.jsonl is damaged');
    await writeFile(file, tenants);
    expect(Object.values(await readTenant(target.url, theirs.tenantId)).flat()).toEqual([]);
  });

  it('names the next step if an import fails', async () => {
    const file = join(folder, 'backup/users.jsonl');
    const users = await readFile(file, 'utf8');
    await writeFile(file, users.replace('"email" : ', '"email" '));
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toMatch(
      /json.*\. Delete the incomplete tenant with/,
    );
    await succeed(atTarget, `tenants delete ${theirs.tenantId} --yes`);
    await writeFile(file, users);
  });

  it('rejects an attachment that differs from the export', async () => {
    const [name = ''] = await readdir(join(folder, 'backup/attachments'));
    const file = join(folder, 'backup/attachments', name);
    const content = await readFile(file, 'utf8');
    await writeFile(file, content.toUpperCase());
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain('is damaged');
    await succeed(atTarget, `tenants delete ${theirs.tenantId} --yes`);
    await writeFile(file, content);
  });

  it('keeps a tenant incomplete and in maintenance if its rows differ from the export', async () => {
    const file = join(folder, 'backup/comments.jsonl');
    const comments = await readFile(file, 'utf8');
    await writeFile(file, comments.replace('"INTERNAL"', '"PUBLIC"').replace('"body" : "', '"body" : "x'));
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain(
      'rows of comments differ from the export',
    );
    const state = () =>
      query(target.url, 'SELECT incomplete, maintenance_since IS NOT NULL AS on FROM tenants WHERE id = $1', [
        theirs.tenantId,
      ]);
    expect(await state()).toEqual([{ incomplete: true, on: true }]);
    expect(await fail(atTarget, `tenants export ${theirs.tenantId} ${folder}/again`)).toContain('is incomplete');
    expect(await fail(atTarget, `tenants maintenance ${theirs.tenantId} off`)).toContain('is incomplete');
    expect(await fail(atTarget, `tenants import ${folder}/backup`)).toContain(`\`tenants delete ${theirs.tenantId}\``);
    await succeed(atTarget, `tenants delete ${theirs.tenantId} --yes`);
    await writeFile(file, comments);
    await succeed(atTarget, `tenants import ${folder}/backup`);
    expect(await state()).toEqual([{ incomplete: false, on: false }]);
  });
});

describe('exportTenant', () => {
  const target = (name: string) => ({ folder: join(folder, name), report: () => undefined });
  const tenant = () => ({ id: Number(mine.tenantId), name: 'Mine' });

  it('waits until requests have ended, and then for the transactions that are still open', async () => {
    const remainingMs = 400;
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

describe('tenants delete', () => {
  it('requires maintenance, and the name or --yes', async () => {
    expect(await fail(atSource, `tenants delete ${theirs.tenantId} --yes`)).toContain('is not in maintenance');
    expect(await fail(atSource, `tenants delete ${mine.tenantId}`)).toContain('--yes is required');
  });

  it('waits for open transactions, so that no row remains', async () => {
    const { tenantId } = other;
    await query(target.url, "UPDATE tenants SET maintenance_since = '2026-01-01T12:00Z' WHERE id = $1", [tenantId]);
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
    await succeed(atSource, `tenants export ${mine.tenantId} ${exported}`);
    const others = await readTenant(source.databaseUrl, theirs.tenantId);
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
    expect(deleted.rows).toMatchObject({ tenants: 1, tickets: 6, ticket_watchers: 1 });
    const remaining = Object.entries(await readTenant(source.databaseUrl, mine.tenantId));
    expect(remaining.filter(([, rows]) => rows.length > 0)).toEqual([]);
    expect(await readTenant(source.databaseUrl, theirs.tenantId)).toEqual(others);
    expect(await source.prisma.deletedTenant.findMany()).toEqual([
      {
        ...{ id: mine.tenantId, name: tenant.name, rows: deleted.rows, osUser: null },
        ...{ beganAt: expect.any(Date), completedAt: expect.any(Date) },
      },
    ]);
  });
});
