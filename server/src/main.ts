import { setFlagsFromString } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import { seed } from '../../prisma/seed.ts';
import { buildApp } from './app.ts';
import { greet } from './banner.ts';
import { assertWalls } from './database/roles.ts';
import { loadEnvFile, readSettings, type Settings } from './env.ts';
import { createLogger } from './http/logger.ts';
import type { Lifecycle } from './lifecycle.ts';
import { measureDatabases } from './operations/database-metrics.ts';
import { measureDeliveries } from './operations/delivery-metrics.ts';
import type { HealthCheck } from './operations/health.ts';
import { addMetricsRoutes, createMetrics, type Metrics } from './operations/metrics.ts';
import { openOperationsServer } from './operations/server.ts';
import { scheduleTotalsCheck, type WrongTotal } from './resources/tickets/totals.ts';
import { openRuntime } from './runtime.ts';
import { migrateDatabase } from './schema.ts';
import { shutDownWith } from './shutdown.ts';
import { startWebhooks } from './webhooks/start.ts';

/** Starts the roles that the settings ask for and says where they are; resolves to what stops them again. */
async function start(settings: Settings): Promise<() => Promise<void>> {
  const { HOST, PORT, ROLES } = settings;
  const logger = createLogger(settings.LOG_LEVEL);
  const lifecycle: Lifecycle = { phase: 'starting' };
  const checks: HealthCheck[] = [];
  let metrics: Metrics | undefined;
  const stops: (() => Promise<void>)[] = [];
  if (settings.OPERATIONS_PORT !== undefined) {
    metrics = createMetrics(checks);
    const operations = openOperationsServer({ logger, lifecycle, checks });
    addMetricsRoutes(operations, metrics);
    stops.push(() => operations.close());
    await listen(operations, {
      setting: 'OPERATIONS_PORT',
      port: settings.OPERATIONS_PORT,
      host: settings.OPERATIONS_HOST,
    });
  }
  const runtime = await openRuntime(settings, {
    holder: { type: 'server', address: `http://${HOST}:${PORT}` },
    worker: ROLES.includes('worker'),
    prepare: (url) => migrateDatabase(url, { onProgress: (message) => logger.info(message) }),
    onConnectionError: (err) => logger.warn({ err }, 'a connection to PostgreSQL broke'),
  });
  stops.push(runtime.close);
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };

  try {
    await runtime.databases.requests.pool.lend(assertWalls);
    if (metrics !== undefined) measureDatabases(metrics, runtime.databases);
    const demo = runtime.embedded ? await seed(runtime.prisma) : undefined;
    if (ROLES.includes('worker')) {
      const observer = metrics && measureDeliveries(metrics, runtime.databases.system.pool);
      stops.push(await startWebhooks({ ...runtime, logger, observer }));
      const onWrong = (wrong: WrongTotal[]) => logger.error({ wrong }, 'totals are wrong');
      await scheduleTotalsCheck(runtime.boss, { ...runtime, onWrong });
    }
    let origin: string | undefined;
    if (ROLES.includes('api')) {
      const app = await buildApp({ ...runtime, logger, settings, metrics });
      stops.push(() => app.close());
      origin = await listen(app, { setting: 'PORT', port: PORT, host: HOST });
    }
    lifecycle.phase = 'ready';
    greet({ origin, settings, demo }, logger);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves to where it listens. @throws in one line that names the setting when the port is taken */
function listen(
  app: FastifyInstance,
  { setting, port, host }: { setting: 'PORT' | 'OPERATIONS_PORT'; port: number; host: string },
): Promise<string> {
  return app.listen({ port, host }).catch((error) => {
    throw error.code === 'EADDRINUSE' ? new Error(`${setting}: ${port} is in use on ${host}; set another one`) : error;
  });
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
  const starting = start(readSettings(process.env));
  shutDownWith(async () => (await starting)());
  await starting;
} catch (error) {
  fail(error);
}
