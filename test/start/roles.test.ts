import { pathPrefix } from '@itsm-api/contract';
import { buildApp } from '@itsm-api/server/app.ts';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { readMigrations } from '@itsm-api/server/database/migrations/migration-history.ts';
import { historyTable } from '@itsm-api/server/database/migrations/migration-runner.ts';
import { RolesError } from '@itsm-api/server/database/roles.ts';
import { openTemporary } from '@itsm-api/server/embedded-postgres/temporary.ts';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { checkSchema, migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { openRuntime } from '@itsm-api/server/process/runtime.ts';
import { scheduleJobs } from '@itsm-api/server/process/scheduled-jobs.ts';
import { createTenant, tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { startWebhooks } from '@itsm-api/server/webhooks/start-webhooks.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { execute, query, withDatabase } from '../support/database.ts';
import { ticket, webhook } from '../support/workspace.ts';

/**
 * Tests the creation of database roles. Uses a separate PostgreSQL server, because all databases of a server share
 * their roles.
 */
let server: { url: string; stop(): Promise<void> };
const databases = ['first', 'second', 'third'];

beforeAll(async () => {
  server = await openTemporary();
});
afterAll(() => server.stop());

beforeEach(async () => {
  for (const name of databases) await execute(server.url, `CREATE DATABASE ${name}`);
});

afterEach(async () => {
  for (const name of databases) await execute(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
  for (const role of ['itsm_request', 'itsm_system', 'owner', 'app']) {
    await execute(server.url, `DROP ROLE IF EXISTS ${role}`);
  }
});

const urlOf = (database: string) => withDatabase(server.url, database);

/** Creates a database role that can log in. Returns a URL with the role's credentials for the first database. */
async function urlAs(role: string, attributes = ''): Promise<string> {
  await execute(server.url, `CREATE ROLE ${role} LOGIN PASSWORD 'secret' ${attributes}`);
  const url = new URL(urlOf('first'));
  url.username = role;
  url.password = 'secret';
  return url.href;
}

/** Runs SET ROLE for each of the two database roles, as new server connections do. */
async function setRoles(url: string): Promise<void> {
  await query(url, 'SET ROLE itsm_request');
  await query(url, 'SET ROLE itsm_system');
}

describe('the roles', () => {
  it('creates the database roles once when several databases migrate concurrently', async () => {
    const all = databases.flatMap((name) => [urlOf(name), urlOf(name)]);
    const applied = await Promise.all(all.map((url) => migrateDatabase(url)));
    expect(applied.filter((names) => names.length > 0)).toHaveLength(databases.length);
    for (const name of databases) await setRoles(urlOf(name));
  });

  it('creates the database roles as a database owner with the attribute CREATEROLE', async () => {
    const url = await urlAs('owner', 'CREATEROLE');
    await execute(server.url, 'ALTER DATABASE first OWNER TO owner');
    await migrateDatabase(url);
    await setRoles(url);
    expect(await migrateDatabase(url)).toEqual([]);
  });

  it("reports the SQL statements to run if the database owner can't create roles", async () => {
    const url = await urlAs('owner');
    await execute(server.url, 'ALTER DATABASE first OWNER TO owner');
    const refused = await migrateDatabase(url).catch((error) => error);
    expect(refused).toBeInstanceOf(RolesError);
    const [sentence, ...statements] = refused.message.split('\n');
    expect(sentence).toMatch(
      /^The role of DATABASE_URL lacks the permission to .* Ask a PostgreSQL administrator to run:$/,
    );
    expect(statements).toHaveLength(4);

    // If only the CREATE statements have run, the error lists the remaining GRANT statements.
    for (const statement of statements.filter((each: string) => each.startsWith('CREATE'))) {
      await execute(server.url, statement);
    }
    await expect(migrateDatabase(url)).rejects.toThrow(/run:\nGRANT itsm_request TO "owner".*;\nGRANT itsm_system TO/);

    for (const statement of statements.filter((each: string) => each.startsWith('GRANT'))) {
      await execute(server.url, statement);
    }
    await migrateDatabase(url);
    await setRoles(url);
  });

  it("reports the SQL statements to run if `prisma migrate deploy` can't create roles", async () => {
    const url = await urlAs('owner');
    await execute(server.url, 'ALTER DATABASE first OWNER TO owner');
    const [baseline] = await readMigrations();
    // Prisma creates its migration history table before it runs the first migration.
    await execute(url, historyTable);
    const { message } = await execute(url, baseline?.script ?? '').catch((error) => error);
    const [, statements] =
      /^The role owner can't create the roles .* Have an administrator run: (.*)$/.exec(message) ?? [];
    await execute(server.url, statements ?? '');
    await execute(url, baseline?.script ?? '');
    await setRoles(url);
  });

  it('serves requests as a PostgreSQL user that has only the two database roles', async () => {
    const url = await urlAs('app');
    await expect(checkSchema(url)).rejects.toThrow('Run `itsm migrate` or start the server.');
    await migrateDatabase(urlOf('first'));
    await execute(server.url, 'GRANT itsm_request, itsm_system TO app');
    expect(await checkSchema(url)).toEqual({ ahead: [] });
    expect(await migrateDatabase(url)).toEqual([]);

    expect(await serveAs(url)).toEqual({ wrote: 201, read: 200 });

    // The user can't migrate the outdated schema. The error names the missing migration.
    await execute(urlOf('first'), "DELETE FROM _prisma_migrations WHERE migration_name = '20261125000000_baseline'");
    await expect(checkSchema(url)).rejects.toThrow('it lacks 20261125000000_baseline');
    await expect(migrateDatabase(url)).rejects.toThrow('Run `itsm migrate` as the role that owns its tables.');
  });
});

/**
 * Starts the API and a worker as the database user in the URL. Returns the HTTP statuses of a write request and a read
 * request.
 */
async function serveAs(url: string): Promise<{ wrote: number; read: number }> {
  const settings = readSettings({ DATABASE_URL: url, WEBHOOK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') });
  const logger = createLogger('silent');
  const onConnectionError = () => undefined;
  const holder = { type: 'command' } as const;
  const runtime = await openRuntime(settings, { holder, worker: true, prepare: migrateDatabase, onConnectionError });
  const stopDelivery = await startWebhooks({ ...runtime, logger });
  await scheduleJobs(await runtime.openBoss(), { runtime, settings, onWrongTotals: () => undefined });
  const app = await buildApp({ ...runtime, logger, settings });
  try {
    await createTenant(runtime.prisma, { name: 'Acme', adminEmail: 'ada@acme.example' });
    const { key } = await createKey(await tenantContext(runtime, 'Acme'), {
      ...{ user: 'ada@acme.example', name: 'test', scopes: ['tickets:write', 'webhooks:manage'] },
    });
    const headers = { 'x-api-key': key };
    const write = (path: string, payload: object) =>
      app.inject({ method: 'POST', url: pathPrefix + path, headers, payload });
    await write('/webhooks', webhook);
    const wrote = await write('/tickets', ticket);
    const read = await app.inject({ url: `${pathPrefix}/webhooks`, headers });
    return { wrote: wrote.statusCode, read: read.statusCode };
  } finally {
    await app.close();
    await stopDelivery();
    await runtime.close();
  }
}
