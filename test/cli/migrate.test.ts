import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processCommandLine, spawnCommand } from '../support/command-process.ts';
import { cloneDatabase, execute, type TestDatabase } from '../support/database.ts';
import { commandLine } from './itsm.ts';

const newest = '20261125000000_baseline';
let database: TestDatabase;
let itsm: ReturnType<typeof commandLine>;

beforeEach(async () => {
  database = await cloneDatabase();
  itsm = commandLine(database.url);
});
afterEach(() => database.drop());

const empty = () => execute(database.url, 'DROP SCHEMA public, pgboss CASCADE; CREATE SCHEMA public');

describe('a command with the CELL of another database', () => {
  it('assigns tenant IDs from the range that the setting CELL selects', async () => {
    const inCell = commandLine(database.url, { CELL: '2' });
    const { stdout } = await inCell('tenants create --name First --admin-email ada@first.example --json');
    expect(JSON.parse(stdout).tenant.id).toBe(2_000_000_001);
  });

  it('rejects a different value of CELL if the database has a tenant', async () => {
    expect(await itsm('tenants create --name First --admin-email ada@first.example')).toMatchObject({ code: 0 });
    const elsewhere = commandLine(database.url, { CELL: '1' });
    for (let times = 0; times < 2; times++) {
      const { code, stderr } = await elsewhere('tenants list');
      expect([code, stderr]).toEqual([2, 'error: CELL: must be 0, because this database belongs to cell 0.\n']);
    }
    const second = await itsm('tenants create --name Second --admin-email ada@second.example --json');
    expect(JSON.parse(second.stdout).tenant.id).toBeLessThan(1_000_000_000);
  });
});

describe('itsm migrate', () => {
  it('prints the migrations that `itsm migrate` applies to an empty database', async () => {
    await empty();
    const first = await itsm('migrate --json');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const { applied } = JSON.parse(first.stdout);
    expect(applied).toContain(newest);

    const again = await itsm('migrate');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toMatch(/^The database [\w.]+:\d+\/\w+ is up to date\. Nothing to apply\.\n$/);
    expect(await itsm('tenants list')).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints the progress of `itsm migrate` to stderr', async () => {
    await empty();
    const { code, stdout, stderr } = await itsm('migrate');
    expect(code).toBe(0);
    expect(stderr).toContain(`Applying ${newest} …\n`);
    expect(stdout).toContain(newest);
  });

  it('completes `itsm migrate` even if stderr is closed', async () => {
    await empty();
    const child = spawnCommand(['migrate'], database.url);
    child.stderr.destroy();
    const [stdout] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(child.exitCode).toBe(0);
    expect(stdout).toContain(newest);
  });

  it('re-creates a missing job queue with `itsm migrate`', async () => {
    await execute(database.url, "DELETE FROM pgboss.queue WHERE name = 'totals-check'");
    const behind = await itsm('tenants list');
    expect(behind).toMatchObject({ code: 1, stdout: '' });
    expect(behind.stderr).toContain('it lacks job queues');
    expect(await itsm('migrate')).toMatchObject({ code: 0 });
    expect(await itsm('tenants list')).toMatchObject({ code: 0 });
  });
});

describe('every other command', () => {
  it('rejects an outdated database in every command except `itsm migrate`', async () => {
    await empty();
    const { code, stdout, stderr } = await itsm('tenants list');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: The database is older than this version of the program: it lacks 20261125000000_baseline, .*/,
    );
    expect(stderr).toContain('Run `itsm migrate` or start the server.');
    const untouched =
      "DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM pg_tables WHERE schemaname IN ('public', 'pgboss')); END $$";
    await expect(execute(database.url, untouched)).resolves.toBeUndefined();
  });

  it('runs a command with a warning if the database is newer than the program', async () => {
    await execute(
      database.url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ('x', 'x', '20991231000000_later', now(), 1)`,
    );
    const warning =
      'The database is newer than this version of the program. A newer version has applied 20991231000000_later.\n';
    expect(await itsm('tenants list')).toMatchObject({ code: 0, stderr: warning });
    // With --json, the command prints errors but no warnings to stderr.
    expect(await itsm('tenants list --json')).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    const failed = await itsm('tenants show unknown --json');
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('rejects a database if a newer pg-boss version has migrated its job queues', async () => {
    await execute(database.url, 'UPDATE pgboss.version SET version = 999');
    const { code, stderr } = await itsm('tenants list');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: The job queues of this database are newer than this version of the program: .* 999,/,
    );
  });

  it('reports that DATA_DIR has no database, and creates no files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'itsm-elsewhere-'));
    try {
      // If root runs the test, PostgreSQL runs as a different user and needs access to the folder.
      await chmod(folder, 0o755);
      const DATA_DIR = join(folder, '.data');
      const { code, stderr } = await processCommandLine('', { DATA_DIR })('tenants list');
      expect(code).toBe(1);
      expect(stderr).toContain(`error: There is no database in DATA_DIR, ${DATA_DIR}.`);
      expect(await readdir(folder)).toEqual([]);

      const migrated = await processCommandLine('', { DATA_DIR })('migrate');
      expect(migrated.stdout).toContain(`The database ${DATA_DIR} is up to date. Applied `);
      expect(await processCommandLine('', { DATA_DIR })('tenants list --json')).toMatchObject({
        code: 0,
        stdout: '[]\n',
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
