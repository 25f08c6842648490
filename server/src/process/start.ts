import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { seed } from '../../../prisma/seed.ts';
import type { Settings } from '../config/env.ts';
import type { Pool } from '../database/client/pool.ts';
import { tenantClient } from '../database/client/tenant-client.ts';
import { OutageTracker } from '../database/outage-tracker.ts';
import { assertTenantIsolation } from '../database/roles.ts';
import { caseAdvice, findDamage, readServerInfo } from '../database/server-info.ts';
import { createLogger, isTerminal } from '../http/logging/logger.ts';
import { openStartupServer, type StartupServer } from '../http/server/startup-server.ts';
import { measureChanges } from '../operations/metrics/change-metrics.ts';
import { measureDatabases } from '../operations/metrics/database-metrics.ts';
import { measureDeliveries } from '../operations/metrics/delivery-metrics.ts';
import { measureKeys } from '../operations/metrics/key-metrics.ts';
import { addMetricsRoutes, createMetrics, type Metrics } from '../operations/metrics/metrics.ts';
import { openOperationsServer } from '../operations/operations-server.ts';
import { openTraces, type Traces } from '../operations/tracing/traces.ts';
import { errorCode } from '../shared/error-codes.ts';
import type { Health, HealthCheck, Lifecycle } from '../shared/lifecycle.ts';
import { toTenantId } from '../shared/tenant-id.ts';
import { endsWithin } from '../shared/timeout.ts';
import { createRequestRecorder, type RequestRecorder } from '../usage/request-recorder.ts';
import { createUsageRecorder, type UsageRecorder } from '../usage/usage-recorder.ts';
import type { RetrySchedule } from '../webhooks/delivery/retry-schedule.ts';
import { startWebhooks } from '../webhooks/start-webhooks.ts';
import { checkStore, findStore } from './attachment-store.ts';
import { migrateDatabase } from './ensure-schema.ts';
import { openRuntime, type Runtime } from './runtime.ts';
import { scheduleJobs } from './scheduled-jobs.ts';
import { printBanner } from './startup-banner.ts';

/**
 * Stops a component of the process.
 * @param drainMs the time in milliseconds during which the API still handles requests, but reports that it isn't ready
 */
type Stop = (drainMs: number) => Promise<void>;

/**
 * Builds the API. main.ts passes this function to `start`, because only main.ts may import app.ts
 * (tools/check-imports.ts).
 */
type BuildApi = (
  dependencies: Runtime &
    Omit<Dependencies, 'stops' | 'buildApi'> & {
      metrics: Metrics | undefined;
      usage: UsageRecorder;
      requestLog: RequestRecorder;
    },
) => Promise<FastifyInstance>;

/** The dependencies of every component of the process. */
interface Dependencies {
  settings: Settings;
  buildApi: BuildApi;
  lifecycle: Lifecycle;
  logger: Logger;
  /** The retry schedule of webhook deliveries in a server for tests. */
  schedule: RetrySchedule | undefined;
  /** The traces of the process, or undefined if tracing is off. */
  traces: Traces | undefined;
  /** The health checks of the process. Each component adds its own checks. */
  checks: HealthCheck[];
  /** The functions that stop the components. Each component adds its own functions. */
  stops: Stop[];
}

/**
 * Starts the roles in `ROLES`, prints the server addresses, and updates the phase of `lifecycle`.
 * @param schedule the retry schedule of webhook deliveries in a server for tests
 * @returns the function that stops all components
 */
export async function start(
  settings: Settings,
  lifecycle: Lifecycle,
  buildApi: BuildApi,
  schedule?: RetrySchedule,
): Promise<Stop> {
  // The logger and the tracing depend on each other: the logger adds trace ids to log entries, and the tracing logs its
  // errors.
  let logger: Logger | undefined;
  const traces = await openTraces(settings, (reason) => logger?.warn({ reason }, 'traces are not sent'));
  logger = createLogger(settings.LOG_LEVEL, undefined, traces?.logFields);
  const stops: Stop[] = traces === undefined ? [] : [traces.close];
  const starting: Dependencies = { settings, buildApi, lifecycle, logger, schedule, traces, checks: [], stops };
  const stop: Stop = (drainMs) => stopSequentially(stops.splice(0).reverse(), drainMs);

  try {
    const operations = await startOperations(starting);
    const publicPort = await openPublicPort(starting);
    const runtime = await openServices(starting, { origin: publicPort?.origin, metrics: operations?.metrics });
    const demo = runtime.embedded ? await seed(runtime) : undefined;
    await startRoles(starting, { runtime, metrics: operations?.metrics }, publicPort?.startupServer);
    lifecycle.enter('ready');
    void reportStore(runtime, starting);
    printBanner({ origin: publicPort?.origin, operationsOrigin: operations?.origin, settings, demo }, logger);
    return stop;
  } catch (error) {
    // Ignores errors from `stop`, because they are consequences of the first error.
    await stop(0).catch(() => undefined);
    throw error;
  }
}

/** Logs if the store of attachments belongs to another installation, or isn't the default folder. */
async function reportStore({ databases }: Runtime, { settings, lifecycle, logger }: Dependencies): Promise<void> {
  try {
    const store = await findStore(databases.system.prisma, settings);
    checkStore(store);
    if (store.notice !== undefined) logger.warn(store.notice);
  } catch (err) {
    // During a shutdown, the connections to the database are closed.
    if (lifecycle.phase !== 'stopping') logger.error({ err }, 'the attachment store is unavailable');
  }
}

/** Calls stop functions one after another, even if one of them fails. @throws the first error */
async function stopSequentially(stops: Stop[], drainMs: number): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops) await stop(drainMs).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Calls stop functions concurrently. @throws the first error */
async function stopConcurrently(stops: Stop[], drainMs: number): Promise<void> {
  const results = await Promise.allSettled(stops.map((stop) => stop(drainMs)));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Starts the server for health checks and metrics, if `OPERATIONS_PORT` is set. */
async function startOperations({ settings, lifecycle, logger, checks, stops }: Dependencies) {
  const { OPERATIONS_HOST, OPERATIONS_PORT } = settings;
  if (OPERATIONS_PORT === undefined) return undefined;
  const server = openOperationsServer({ logger, lifecycle, checks });
  const metrics = createMetrics(checks, { cell: settings.CELL });
  addMetricsRoutes(server, metrics);
  stops.push(() => server.close());
  const origin = await listen(server, { setting: 'OPERATIONS_PORT', port: OPERATIONS_PORT, host: OPERATIONS_HOST });
  return { origin, metrics };
}

/** Opens the public port before the API is ready. A process without the role `api` has no public port. */
async function openPublicPort({ settings, lifecycle, logger, stops }: Dependencies) {
  const { HOST, PORT, ROLES } = settings;
  if (!ROLES.includes('api')) return undefined;
  const startupServer = openStartupServer({ logger, lifecycle, publicUrl: settings.PUBLIC_URL });
  stops.push(() => startupServer.app.close());
  return { startupServer, origin: await listen(startupServer.app, { setting: 'PORT', port: PORT, host: HOST }) };
}

/**
 * Opens the database and the services. Migrates the database if necessary.
 * @throws TenantIsolationError if row-level security doesn't isolate the tenants
 */
async function openServices(
  starting: Dependencies,
  { origin, metrics }: { origin: string | undefined; metrics: Metrics | undefined },
): Promise<Runtime> {
  const { settings, logger, traces, checks, stops } = starting;
  const runtime = await openRuntime(settings, {
    holder: {
      type: 'server',
      address: origin ?? 'worker',
      onRestart: (err) => {
        if (err === undefined) logger.warn('the embedded PostgreSQL ended and was started again');
        else logger.error({ err }, 'the embedded PostgreSQL ended and could not be started again');
      },
    },
    worker: settings.ROLES.includes('worker'),
    prepare: (url) => migrate(url, starting),
    onConnectionError: (err) =>
      logger.warn({ err }, 'an idle connection to PostgreSQL was lost, or the job queue failed'),
    onJobFailed: (err) => logger.error({ err }, 'a scheduled job failed'),
    onStorageFailure: (err) => logger.error({ err }, 'the attachment store is unavailable'),
    outages: new OutageTracker(logger),
    traces,
  });
  stops.push(runtime.close);
  const { requests, system } = runtime.databases;
  checks.unshift({ name: 'database', run: () => checkDatabase(system.pool, runtime.databases.options.outages) });
  await requests.pool.lend(assertTenantIsolation);
  const { ignoresCase, databaseBytes } = await readServerInfo(runtime.databases.options);
  if (!ignoresCase)
    logger.warn(`Search distinguishes upper and lower case of letters outside ASCII, such as é and É. ${caseAdvice}`);
  if (isOverTrialUse(settings, databaseBytes)) logger.warn(trialAdvice);
  // Prisma loads its query compiler when it runs its first query. Therefore, a query at startup makes the first request
  // faster.
  if (settings.ROLES.includes('api'))
    await tenantClient(requests, toTenantId(0)).user.findFirst({ select: { id: true } });
  if (metrics !== undefined) measureDatabases(metrics, runtime.databases);
  return runtime;
}

/** The maximum size in bytes of a database for trial use. */
const maxTrialBytes = 1e9;

const trialAdvice =
  'The embedded PostgreSQL is for trials and tests: it has no backups, replicas or upgrades. ' +
  'Use your own database (docs/operations/install-and-upgrade.md).';

/**
 * Returns whether the server uses the embedded PostgreSQL for more than a trial: with a lot of data, or at a public
 * address.
 */
function isOverTrialUse({ DATABASE_URL, PUBLIC_URL }: Settings, databaseBytes: number): boolean {
  return DATABASE_URL === undefined && (PUBLIC_URL !== undefined || databaseBytes > maxTrialBytes);
}

/** The dependencies of the roles `api` and `worker`. */
interface RoleDependencies {
  runtime: Runtime;
  metrics: Metrics | undefined;
}

async function startRoles(
  starting: Dependencies,
  dependencies: RoleDependencies,
  startupServer: StartupServer | undefined,
): Promise<void> {
  const { settings, stops } = starting;
  const roles: Dependencies = { ...starting, stops: [] };
  // Workers stop while the API drains requests. Workers get no requests from load balancers, so they need no drain
  // period.
  stops.push((drainMs) => stopConcurrently(roles.stops, drainMs));
  if (settings.ROLES.includes('worker')) await startWorker(roles, dependencies);
  if (startupServer !== undefined) await startApi(roles, dependencies, startupServer);
}

async function startWorker(
  { settings, logger, schedule, traces, checks, stops }: Dependencies,
  { runtime, metrics }: RoleDependencies,
): Promise<void> {
  const observer = metrics && measureDeliveries(metrics, runtime.databases.system.prisma);
  if (metrics !== undefined) {
    measureChanges(metrics, runtime.databases.system.prisma);
    measureKeys(metrics, runtime.databases.system.prisma);
  }
  const boss = await runtime.openBoss();
  const maxPendingDeliveries = settings.WEBHOOK_MAX_PENDING_DELIVERIES;
  const options = { logger, checks, observer, tracer: traces?.attempts, maxPendingDeliveries, schedule };
  stops.push(await startWebhooks({ ...runtime, ...options }));
  await scheduleJobs(boss, {
    ...{ runtime, settings },
    onWrongTotals: (wrong) => logger.error({ wrong }, 'ticket totals are wrong'),
  });
}

/** Builds the API and routes requests on the public port to it. */
async function startApi(
  { stops, buildApi, ...starting }: Dependencies,
  { runtime, metrics }: RoleDependencies,
  startupServer: StartupServer,
): Promise<void> {
  const { logger, settings } = starting;
  const recording = { ...runtime, now: runtime.services.now, logger };
  const usage = createUsageRecorder(recording);
  const limits = { successes: settings.REQUEST_LOG_SUCCESSES, errors: settings.REQUEST_LOG_ERRORS };
  const requestLog = createRequestRecorder({ ...recording, limits });
  const api = await buildApi({ ...runtime, ...starting, metrics, usage, requestLog });
  stops.push(async (drainMs) => {
    await sleep(drainMs);
    await startupServer.app.close();
    await endsWithin(maxFlushMs, api.close());
  });
  await api.ready();
  startupServer.routeTo(api);
}

/**
 * The maximum time in milliseconds that a shutdown waits while the API writes `lastUsedAt`, the usage statistics of
 * API keys and the request log.
 */
const maxFlushMs = 1500;

/** Migrates the database and logs the progress. */
async function migrate(url: string, { settings, lifecycle, logger, checks }: Dependencies): Promise<void> {
  // On the first start in a terminal, dozens of log entries would hide the banner.
  const level = isTerminal() && settings.DATABASE_URL === undefined ? 'debug' : 'info';
  let applied: string[] | undefined;
  checks.push({ name: 'migrations', run: () => ({ ok: applied !== undefined, applied }) });
  applied = await migrateDatabase(url, {
    onProgress(message) {
      lifecycle.enter('migrating');
      logger[level](message);
    },
  });
}

async function checkDatabase(pool: Pool, { problem }: OutageTracker): Promise<Health> {
  if (problem !== undefined) return { ok: false, error: problem };
  const startedAt = performance.now();
  const damage = await findDamage(pool);
  if (damage !== undefined) return { ok: false, error: damage };
  return { ok: true, milliseconds: Math.round(performance.now() - startedAt) };
}

/**
 * Starts listening and returns the origin. Suppresses Fastify's log entry, because the banner prints the origin later.
 * @param app a server with its own logger; this function temporarily changes the log level of that logger
 * @throws Error if the port is in use. The message of the error has one line and contains the name of the setting.
 */
async function listen(
  app: FastifyInstance,
  { setting, port, host }: { setting: 'PORT' | 'OPERATIONS_PORT'; port: number; host: string },
): Promise<string> {
  const { level } = app.log;
  app.log.level = 'silent';
  try {
    return await app.listen({ port, host });
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    throw new Error(`${setting}: ${port} is already in use on ${host}. Set another port.`);
  } finally {
    app.log.level = level;
  }
}
