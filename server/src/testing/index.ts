import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { NewUser, pathPrefix, Scope } from '@itsm-api/contract';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import * as z from 'zod';
import { buildApp } from '../app.ts';
import { createKey, NewKey } from '../auth/api-keys/api-keys.ts';
import { readSettings } from '../config/env.ts';
import { readMigrations } from '../database/migrations/migration-history.ts';
import { openPrepared } from '../embedded-postgres/prepared.ts';
import { temporaryDataDir } from '../embedded-postgres/temporary.ts';
import { migrateDatabase } from '../process/ensure-schema.ts';
import { runJobs } from '../process/scheduled-jobs.ts';
import { start } from '../process/start.ts';
import { createTenant, tenantContext } from '../resources/tenants/queries.ts';
import { createUser } from '../resources/users/user-management.ts';
import { Lifecycle } from '../shared/lifecycle.ts';
import { detailsOf, unknownField, validationError } from '../shared/validation.ts';
import { type RetrySchedule, scaleSchedule } from '../webhooks/delivery/retry-schedule.ts';
import { Aging, age } from './aging.ts';

/*
 * The server of the package @itsm-api/testing: the API and a worker on a new embedded PostgreSQL, which is removed when
 * the process ends. Endpoints below /testing need no authentication. They create workspaces, users and API keys, move
 * stored times back, and run scheduled jobs. The process also ends when the process that started it ends.
 * Usage: `node server/src/testing/index.ts [--rate-limits] [--retry-schedule 50,100,200]`
 */

type BuildApi = Parameters<typeof start>[2];

const withoutRateLimits = {
  RATE_LIMIT_GLOBAL: '1000000000',
  RATE_LIMIT_GROUP: '1000000000',
  RATE_LIMIT_FAILURES: '1000000000',
};

const buildTestApi: BuildApi = async (dependencies) => {
  const app = await buildApp(dependencies);
  addTestEndpoints(app, dependencies);
  return app;
};

const IdPath = z.object({ id: z.string() });
const JobPath = z.object({ name: z.string() });
const NewTestKey = z.strictObject({
  user: NewKey.shape.user,
  scopes: NewKey.shape.scopes.default([...Scope.options]),
  expiresAt: z.iso.datetime().optional(),
});

function addTestEndpoints(app: FastifyInstance, runtime: Parameters<BuildApi>[0]): void {
  app.post('/testing/workspaces', async () => {
    const id = randomUUID();
    const admin = { adminEmail: `admin-${id}@example.com`, adminName: 'Test Admin' };
    const created = await createTenant(runtime.prisma, { name: `Workspace ${id}`, ...admin });
    const context = await tenantContext(runtime, String(created.tenant.id));
    const { key } = await createKey(context, { user: created.admin.email, name: 'test', scopes: [...Scope.options] });
    return { id: created.tenant.id, admin: created.admin, key };
  });
  app.post('/testing/workspaces/:id/users', async ({ params, body }) => {
    return createUser(await tenantContext(runtime, IdPath.parse(params).id), parse(NewUser, body));
  });
  app.post('/testing/workspaces/:id/keys', async ({ params, body }) => {
    const { expiresAt, ...input } = parse(NewTestKey, body);
    const context = await tenantContext(runtime, IdPath.parse(params).id);
    const { id, key } = await createKey(context, { ...input, name: 'test' });
    // `createKey` accepts only whole days. Tests also need keys that expire soon or have expired.
    if (expiresAt !== undefined) await context.db.apiKey.updateMany({ where: { id }, data: { expiresAt } });
    return { key };
  });
  app.post('/testing/workspaces/:id/age', async ({ params, body }) => {
    const aging = parse(Aging, body);
    await age((await tenantContext(runtime, IdPath.parse(params).id)).db, aging);
    if (aging.apiKey !== undefined) await forgetKey(app, aging.apiKey);
    return {};
  });
  app.post('/testing/jobs/:name', async ({ params }) => {
    await runJobs(JobPath.parse(params).name, {
      ...{ runtime, settings: runtime.settings },
      onWrongTotals: (wrong) => runtime.logger.error({ wrong }, 'ticket totals are wrong'),
    });
    return {};
  });
}

/** Waits until the API rejects an expired key, because it caches keys until the database notifies it of the change. */
async function forgetKey(app: FastifyInstance, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const isOutdated = async () => {
    const { statusCode, body } = await app.inject({ url: `${pathPrefix}/me`, headers });
    return statusCode === 200 && Date.parse(JSON.parse(body).data.key.expiresAt) <= Date.now();
  };
  while (await isOutdated()) await sleep(5);
}

/** @throws ApiError VALIDATION_ERROR */
function parse<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  throw validationError(detailsOf(error.issues, unknownField));
}

/** The minimum and maximum delay between two attempts of a delivery, in milliseconds. */
const minWaitMs = 10;
const maxWaitMs = 86_400_000;

/** Parses delays in milliseconds, such as `50,100,200`. @throws Error if the text has another format */
function parseRetrySchedule(text: string): RetrySchedule {
  const [first = Number.NaN, ...others] = text.split(',').map(Number);
  const isDelay = (wait: number) => Number.isInteger(wait) && wait >= minWaitMs && wait <= maxWaitMs;
  if ([first, ...others].every(isDelay)) return scaleSchedule([first, ...others]);
  throw new Error(
    `retrySchedule must list delays in milliseconds from ${minWaitMs} to ${maxWaitMs}, such as 50, 100 and 200.`,
  );
}

async function openDatabase() {
  const hash = createHash('sha256');
  for (const { checksum } of await readMigrations()) hash.update(checksum);
  const user = process.getuid?.() ?? userInfo().username;
  const folder = join(tmpdir(), `itsm-testing-${user}-${hash.digest('hex').slice(0, 16)}`);
  return openPrepared(folder, async (url) => {
    await migrateDatabase(url);
    await dropTemplates(url);
  });
}

/** Drops the databases that only CREATE DATABASE needs, because each of them has 300 files to copy. */
async function dropTemplates(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('UPDATE pg_database SET datistemplate = false');
    for (const name of ['template0', 'template1']) await client.query(`DROP DATABASE ${name}`);
  } finally {
    await client.end();
  }
}

// Ends without a graceful shutdown, because the data is disposable. When the process exits, `openTemporary` stops
// PostgreSQL. The event `disconnect` means that the process that started this one has ended, or doesn't need it.
for (const event of ['disconnect', 'SIGINT', 'SIGTERM']) process.once(event, () => process.exit());

try {
  const { values: options } = parseArgs({
    options: { 'rate-limits': { type: 'boolean' }, 'retry-schedule': { type: 'string' } },
  });
  const schedule = options['retry-schedule'] === undefined ? undefined : parseRetrySchedule(options['retry-schedule']);
  const database = await openDatabase();
  const attachments = temporaryDataDir();
  process.once('exit', () => rmSync(attachments, { recursive: true, force: true }));
  const settings = readSettings({
    LOG_LEVEL: 'error',
    ...process.env,
    ...(options['rate-limits'] !== true && withoutRateLimits),
    DATABASE_URL: database.url,
    ATTACHMENTS_DIR: attachments,
    WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
  });
  await start(settings, new Lifecycle(), buildTestApi, schedule);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
