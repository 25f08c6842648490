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
import { createLogger, isWatched } from '../http/logger.ts';
import { openStartupServer, type StartupServer } from '../http/server/startup-server.ts';
import { measureChanges } from '../operations/metrics/change-metrics.ts';
import { measureDatabases } from '../operations/metrics/database-metrics.ts';
import { measureDeliveries } from '../operations/metrics/delivery-metrics.ts';
import { addMetricsRoutes, createMetrics, type Metrics } from '../operations/metrics/metrics.ts';
import { openOperationsServer } from '../operations/operations-server.ts';
import { openTraces, type Traces } from '../operations/tracing/traces.ts';
import { scheduleIdempotencyRetention } from '../resources/idempotency/idempotency-retention.ts';
import { scheduleTotalsCheck, type WrongTotal } from '../resources/tickets/counters-check.ts';
import type { Health, HealthCheck, Lifecycle } from '../shared/lifecycle.ts';
import { errorCode } from '../shared/pg-errors.ts';
import { toTenantId } from '../shared/tenant-id.ts';
import { endsWithin } from '../shared/timeout.ts';
import { createUsageRecorder, type UsageRecorder } from '../usage/usage-recorder.ts';
import { scheduleUsageRetention } from '../usage/usage-retention.ts';
import { startWebhooks } from '../webhooks/start-webhooks.ts';
import { migrateDatabase } from './ensure-schema.ts';
import { openRuntime, type Runtime } from './runtime.ts';
import { printBanner } from './startup-banner.ts';

/** Stops what was started. @param drainMs how long the API is still served, as not ready */
type Stop = (drainMs: number) => Promise<void>;

/** Builds the API, which is given so that this folder doesn't depend on all others. */
type BuildApi = (
  dependencies: Runtime & Omit<Starting, 'stops'> & { metrics: Metrics | undefined; usage: UsageRecorder },
) => Promise<FastifyInstance>;

/** What each part of the process is started with. */
interface Starting {
  settings: Settings;
  buildApi: BuildApi;
  lifecycle: Lifecycle;
  logger: Logger;
  /** Where it is traced what happens; nothing is traced without. */
  traces: Traces | undefined;
  /** What the process stands on; each part adds its own. */
  checks: HealthCheck[];
  /** What stops the parts, called last first; each part adds its own. */
  stops: Stop[];
}

/**
 * Starts the roles that the settings ask for, says where they are, and tells `lifecycle` how far it is; resolves to what
 * stops them again.
 */
export async function start(settings: Settings, lifecycle: Lifecycle, buildApi: BuildApi): Promise<Stop> {
  // Its lines say what they belong to, which traces know, whose trouble is told by it.
  let logger: Logger | undefined;
  const traces = await openTraces(settings, (reason) => logger?.warn({ reason }, 'traces are not sent'));
  logger = createLogger(settings.LOG_LEVEL, undefined, traces?.logFields);
  const stops: Stop[] = traces === undefined ? [] : [traces.close];
  const starting: Starting = { settings, buildApi, lifecycle, logger, traces, checks: [], stops };
  const stop: Stop = (drainMs) => stopInTurn(stops.splice(0).reverse(), drainMs);

  try {
    const operations = await startOperations(starting);
    const publicPort = await openPublicPort(starting);
    const runtime = await openServices(starting, { origin: publicPort?.origin, metrics: operations?.metrics });
    const demo = runtime.embedded ? await seed(runtime.prisma) : undefined;
    await startRoles(starting, { runtime, metrics: operations?.metrics }, publicPort?.door);
    lifecycle.enter('ready');
    printBanner({ origin: publicPort?.origin, operationsOrigin: operations?.origin, settings, demo }, logger);
    return stop;
  } catch (error) {
    // What it fails with comes of what has failed before.
    await stop(0).catch(() => undefined);
    throw error;
  }
}

/** Has each of them stop, whatever another one fails with. @throws what the first one failed with */
async function stopInTurn(stops: Stop[], drainMs: number): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops) await stop(drainMs).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** The same, side by side. */
async function stopTogether(stops: Stop[], drainMs: number): Promise<void> {
  const ends = await Promise.allSettled(stops.map((stop) => stop(drainMs)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Answers operators from now on, where the settings name a port for them. */
async function startOperations({ settings, lifecycle, logger, checks, stops }: Starting) {
  const { OPERATIONS_HOST, OPERATIONS_PORT } = settings;
  if (OPERATIONS_PORT === undefined) return undefined;
  const server = openOperationsServer({ logger, lifecycle, checks });
  const metrics = createMetrics(checks);
  addMetricsRoutes(server, metrics);
  stops.push(() => server.close());
  const origin = await listen(server, { setting: 'OPERATIONS_PORT', port: OPERATIONS_PORT, host: OPERATIONS_HOST });
  return { origin, metrics };
}

/** Opens the port of the API, which isn't there yet. A process that only delivers has none. */
async function openPublicPort({ settings, lifecycle, logger, stops }: Starting) {
  const { HOST, PORT, ROLES } = settings;
  if (!ROLES.includes('api')) return undefined;
  const door = openStartupServer({ logger, lifecycle, publicUrl: settings.PUBLIC_URL });
  stops.push(() => door.app.close());
  return { door, origin: await listen(door.app, { setting: 'PORT', port: PORT, host: HOST }) };
}

/** Opens the database, brings it up to date, and opens the services over it. @throws where tenants aren't kept apart */
async function openServices(
  starting: Starting,
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
    onConnectionError: (err) => logger.warn({ err }, 'a connection to PostgreSQL broke'),
    onJobFailed: (err) => logger.error({ err }, 'a scheduled job failed'),
    reachability: new OutageTracker(logger),
    traces,
  });
  stops.push(runtime.close);
  const { requests, system } = runtime.databases;
  checks.unshift({ name: 'database', look: () => lookAt(system.pool, runtime.databases.options.reachability) });
  await requests.pool.lend(assertTenantIsolation);
  const { ignoresCase } = await readServerInfo(runtime.databases.options);
  if (!ignoresCase) logger.warn(`Search is case-sensitive beyond ASCII. ${caseAdvice}`);
  // Prisma loads its planner with the first question, for which no request is to wait.
  if (settings.ROLES.includes('api'))
    await tenantClient(requests, toTenantId(0)).user.findFirst({ select: { id: true } });
  if (metrics !== undefined) measureDatabases(metrics, runtime.databases);
  return runtime;
}

/** What the roles stand on. */
interface Foundation {
  runtime: Runtime;
  metrics: Metrics | undefined;
}

async function startRoles(starting: Starting, foundation: Foundation, door: StartupServer | undefined): Promise<void> {
  const { settings, stops } = starting;
  const roles: Starting = { ...starting, stops: [] };
  // Deliveries end while requests are drained: no other process waits for this one to take note of it.
  stops.push((drainMs) => stopTogether(roles.stops, drainMs));
  if (settings.ROLES.includes('worker')) await startWorker(roles, foundation);
  if (door !== undefined) await startApi(roles, foundation, door);
}

async function startWorker(
  { settings, logger, traces, checks, stops }: Starting,
  { runtime, metrics }: Foundation,
): Promise<void> {
  const observer = metrics && measureDeliveries(metrics, runtime.databases.system.pool);
  if (metrics !== undefined) measureChanges(metrics, runtime.databases.system.pool);
  const boss = await runtime.openBoss();
  const maxPendingDeliveries = settings.WEBHOOK_MAX_PENDING_DELIVERIES;
  const given = { boss, logger, checks, observer, tracer: traces?.attempts, maxPendingDeliveries };
  stops.push(await startWebhooks({ ...runtime, ...given }));
  const onWrong = (wrong: WrongTotal[]) => logger.error({ wrong }, 'totals are wrong');
  await scheduleTotalsCheck(boss, { ...runtime, onWrong });
  await scheduleIdempotencyRetention(boss, runtime.prisma);
  await scheduleUsageRetention(boss, runtime.prisma);
}

/** Has the API answer at the door. */
async function startApi(
  { stops, ...starting }: Starting,
  { runtime, metrics }: Foundation,
  door: StartupServer,
): Promise<void> {
  const usage = createUsageRecorder({ ...runtime, now: runtime.services.now, logger: starting.logger });
  const api = await starting.buildApi({ ...runtime, ...starting, metrics, usage });
  stops.push(async (drainMs) => {
    await sleep(drainMs);
    await door.app.close();
    await endsWithin(longestFlushMs, api.close());
  });
  await api.ready();
  door.lead(api);
}

/** How long uses of keys may take to be written at the end. Milliseconds. */
const longestFlushMs = 1500;

/** Brings the database up to date, and has it told. */
async function migrate(url: string, { settings, lifecycle, logger, checks }: Starting): Promise<void> {
  // On a first start a person waits for the key, which 50 lines would push away.
  const level = isWatched() && settings.DATABASE_URL === undefined ? 'debug' : 'info';
  let applied: string[] | undefined;
  checks.push({ name: 'migrations', look: () => ({ ok: applied !== undefined, applied }) });
  applied = await migrateDatabase(url, {
    onProgress(message) {
      lifecycle.enter('migrating');
      logger[level](message);
    },
  });
}

async function lookAt(pool: Pool, { problem }: OutageTracker): Promise<Health> {
  if (problem !== undefined) return { ok: false, error: problem };
  const began = performance.now();
  const damage = await findDamage(pool);
  if (damage !== undefined) return { ok: false, error: damage };
  return { ok: true, milliseconds: Math.round(performance.now() - began) };
}

/**
 * Resolves to where it listens, and leaves it to be logged when all else is there.
 * @param app with a logger of its own
 * @throws in one line that names the setting when the port is taken
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
    throw new Error(`${setting}: ${port} is in use on ${host}; set another one`);
  } finally {
    app.log.level = level;
  }
}
