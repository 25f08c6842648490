import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { seed } from '../../prisma/seed.ts';
import { buildApp } from './app.ts';
import { atMost } from './at-most.ts';
import { greet } from './banner.ts';
import type { Pool } from './database/pool.ts';
import { Reachability } from './database/reachability.ts';
import { assertWalls } from './database/roles.ts';
import { loadEnvFile, readSettings, type Settings } from './env.ts';
import { codeOf } from './error-code.ts';
import { type Health, type HealthCheck, Lifecycle } from './health.ts';
import { type Door, openDoor } from './http/door.ts';
import { createLogger } from './http/logger.ts';
import { measureDatabases } from './operations/database-metrics.ts';
import { measureDeliveries } from './operations/delivery-metrics.ts';
import { addMetricsRoutes, createMetrics, type Metrics } from './operations/metrics.ts';
import { openOperationsServer } from './operations/server.ts';
import { openTraces } from './operations/traces.ts';
import { scheduleTotalsCheck, type WrongTotal } from './resources/tickets/totals.ts';
import { openRuntime } from './runtime.ts';
import { migrateDatabase } from './schema.ts';
import { shutDownWith } from './shutdown.ts';
import { startWebhooks } from './webhooks/start.ts';

/** Stops what was started. @param drainMs how long the API is still served, as not ready */
type Stop = (drainMs: number) => Promise<void>;

/** Starts the roles that the settings ask for and says where they are; resolves to what stops them again. */
async function start(settings: Settings, lifecycle: Lifecycle): Promise<Stop> {
  const { HOST, PORT, OPERATIONS_HOST, OPERATIONS_PORT, ROLES } = settings;
  const traces = await openTraces(settings, (reason) => logger.warn({ reason }, 'traces are not sent'));
  const logger = createLogger(settings.LOG_LEVEL, undefined, traces?.logFields);
  const checks: HealthCheck[] = [];
  let metrics: Metrics | undefined;
  const stops: Stop[] = [];
  const stop: Stop = async (drainMs) => {
    for (const each of stops.splice(0).reverse()) await each(drainMs);
  };

  if (traces !== undefined) stops.push(traces.close);
  try {
    let operationsOrigin: string | undefined;
    if (OPERATIONS_PORT !== undefined) {
      const operations = openOperationsServer({ logger, lifecycle, checks });
      metrics = createMetrics(checks);
      addMetricsRoutes(operations, metrics);
      stops.push(() => operations.close());
      operationsOrigin = await listen(operations, {
        setting: 'OPERATIONS_PORT',
        port: OPERATIONS_PORT,
        host: OPERATIONS_HOST,
      });
    }
    let origin: string | undefined;
    let door: Door | undefined;
    if (ROLES.includes('api')) {
      door = openDoor({ logger, lifecycle });
      const { app } = door;
      stops.push(() => app.close());
      origin = await listen(app, { setting: 'PORT', port: PORT, host: HOST });
    }

    const runtime = await openRuntime(settings, {
      holder: { type: 'server', address: origin ?? 'worker' },
      worker: ROLES.includes('worker'),
      prepare: (url) => migrate(url, { lifecycle, logger, checks }),
      onConnectionError: (err) => logger.warn({ err }, 'a connection to PostgreSQL broke'),
      reachability: new Reachability(logger),
      traces,
    });
    stops.push(runtime.close);
    const { databases, prisma, boss, embedded } = runtime;
    checks.unshift({ name: 'database', look: () => lookAt(databases.system.pool) });
    await databases.requests.pool.lend(assertWalls);
    if (metrics !== undefined) measureDatabases(metrics, databases);
    const demo = embedded ? await seed(prisma) : undefined;
    // Deliveries end while requests are drained: no other process waits for this one to take note of it.
    const roles: Stop[] = [];
    stops.push(async (drainMs) => {
      await Promise.all(roles.map((each) => each(drainMs)));
    });
    if (ROLES.includes('worker')) {
      const observer = metrics && measureDeliveries(metrics, databases.system.pool);
      roles.push(await startWebhooks({ ...runtime, logger, checks, observer, tracer: traces?.attempts }));
      const onWrong = (wrong: WrongTotal[]) => logger.error({ wrong }, 'totals are wrong');
      await scheduleTotalsCheck(boss, { ...runtime, onWrong });
    }
    if (door !== undefined) {
      const { app, lead } = door;
      const api = await buildApp({ ...runtime, logger, settings, lifecycle, checks, metrics, traces });
      roles.push(async (drainMs) => {
        await sleep(drainMs);
        await app.close();
        await atMost(longestFlushMs, api.close());
      });
      await api.ready();
      lead(api);
    }
    lifecycle.enter('ready');
    greet({ origin, operationsOrigin, settings, demo }, logger);
    return stop;
  } catch (error) {
    await stop(0);
    throw error;
  }
}

/** How long the last use of keys may take to be written at the end. Milliseconds. */
const longestFlushMs = 1500;

/** What all the rest may take after the drain, and a margin: 24 seconds in all where the drain is that of the default. */
const afterDrainMs = 19_000;

/** Brings the database up to date, and has it told. */
async function migrate(
  url: string,
  { lifecycle, logger, checks }: { lifecycle: Lifecycle; logger: FastifyBaseLogger; checks: HealthCheck[] },
): Promise<void> {
  let applied: string[] | undefined;
  checks.push({ name: 'migrations', look: () => ({ ok: applied !== undefined, applied }) });
  applied = await migrateDatabase(url, {
    onProgress(message) {
      lifecycle.enter('migrating');
      logger.info(message);
    },
  });
}

async function lookAt(pool: Pool): Promise<Health> {
  const began = performance.now();
  await pool.query('SELECT 1');
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
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new Error(`${setting}: ${port} is in use on ${host}; set another one`);
  } finally {
    app.log.level = level;
  }
}

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

// V8 would let the heap grow to three times what is in use before it looks for what is not, and the process with it.
setFlagsFromString('--heap-growing-percent=30');
// What a request needs while it waits for the database V8 would take for long-lived, since much of it was still in use
// when the heap was small. Placed among what stays, all that hangs on it stays, too: it costs a tenth of the CPU time.
setFlagsFromString('--no-allocation-site-pretenuring');

loadEnvFile();
try {
  const settings = readSettings(process.env);
  const lifecycle = new Lifecycle();
  const starting = start(settings, lifecycle);
  shutDownWith({
    byNpm: process.env.npm_config_npm_version !== undefined,
    longestMs: Math.max(settings.DRAIN_SECONDS, 5) * 1000 + afterDrainMs,
    async stop({ drain }) {
      const serves = lifecycle.phase === 'ready' && settings.ROLES.includes('api');
      lifecycle.enter('stopping');
      const stop = await starting;
      await stop(drain && serves ? settings.DRAIN_SECONDS * 1000 : 0);
    },
  });
  await starting;
} catch (error) {
  fail(error);
}
