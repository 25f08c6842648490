import { checkSchema, migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import pg from 'pg';
import { getRollbackPlans } from 'pg-boss';
import packageJson from 'pg-boss/package.json' with { type: 'json' };
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const current: number = packageJson.pgboss.schema;
let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await cloneDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterEach(async () => {
  await client.end();
  await database.drop();
});

it('migrates the pg-boss schema and grants permissions to the database roles', async () => {
  await client.query(getRollbackPlans('pgboss', current));
  await client.query('REVOKE ALL ON ALL TABLES IN SCHEMA pgboss FROM itsm_request, itsm_system');
  await expect(checkSchema(database.url)).rejects.toThrow('it lacks job queues');

  await migrateDatabase(database.url);
  expect(await checkSchema(database.url)).toEqual({ ahead: [] });
  expect((await client.query('SELECT version FROM pgboss.version')).rows).toEqual([{ version: current }]);
  await client.query('SET ROLE itsm_system; DELETE FROM pgboss.job_common');
  await client.query('SET ROLE itsm_request; SELECT FROM pgboss.queue');
  await expect(client.query('DELETE FROM pgboss.job_common')).rejects.toThrow('permission denied');
});

it('updates outdated options of a job queue', async () => {
  await client.query("UPDATE pgboss.queue SET expire_seconds = 1 WHERE name = 'webhook-dispatch'");
  await migrateDatabase(database.url);
  const { rows } = await client.query(
    "SELECT expire_seconds AS seconds FROM pgboss.queue WHERE name = 'webhook-dispatch'",
  );
  expect(rows).toEqual([{ seconds: 60 }]);
});

it('keeps the job queue options that a newer version has set', async () => {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ('x', 'x', '20991231000000_later', now(), 1);
     UPDATE pgboss.queue SET expire_seconds = 1 WHERE name = 'webhook-dispatch'`,
  );
  const seconds = async () => {
    const { rows } = await client.query(
      "SELECT expire_seconds AS seconds FROM pgboss.queue WHERE name = 'webhook-dispatch'",
    );
    return rows;
  };
  expect(await checkSchema(database.url)).toEqual({ ahead: ['20991231000000_later'] });
  expect(await migrateDatabase(database.url)).toEqual([]);
  expect(await seconds()).toEqual([{ seconds: 1 }]);

  await client.query("DELETE FROM pgboss.queue WHERE name = 'totals-check'");
  await expect(checkSchema(database.url)).rejects.toThrow('it lacks job queues');
  await migrateDatabase(database.url);
  expect(await checkSchema(database.url)).toEqual({ ahead: ['20991231000000_later'] });
  expect(await seconds()).toEqual([{ seconds: 1 }]);
});

it('builds the deferred indexes of pg-boss and reports PostgreSQL errors', async () => {
  const leave = (command: string) =>
    client.query("INSERT INTO pgboss.bam (name, version, table_name, command) VALUES ('later', 1, 'job_common', $1)", [
      command,
    ]);
  await leave('CREATE INDEX CONCURRENTLY later_idx ON pgboss.job_common (data)');
  await migrateDatabase(database.url);
  const index = await client.query(
    "SELECT FROM pg_index WHERE indexrelid = 'pgboss.later_idx'::regclass AND indisvalid",
  );
  expect(index.rowCount).toBe(1);

  await client.query('UPDATE pgboss.version SET bam_on = NULL');
  await leave('CREATE INDEX CONCURRENTLY other_idx ON pgboss.job_common (nonsense)');
  await expect(migrateDatabase(database.url)).rejects.toThrow(
    'Migrating the job queues failed: later: error: column "nonsense" does not exist',
  );
});
