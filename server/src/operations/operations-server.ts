import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Health, HealthCheck, Lifecycle } from '../shared/lifecycle.ts';
import { endsWithin } from '../shared/timeout.ts';

export interface OperationsServerOptions {
  logger: FastifyBaseLogger;
  lifecycle: Lifecycle;
  /** Health checks of the dependencies; more are added while the process starts. */
  checks: HealthCheck[];
}

/** Maximum time of a check. Milliseconds. */
const maxCheckMs = 1000;

/**
 * Creates the server for operators (docs/operations.md). It has no API keys, no rate limits and no contract, and
 * listens on an internal address. The caller starts it after adding routes.
 */
export function openOperationsServer({ logger, lifecycle, checks }: OperationsServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger.child({}),
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    return503OnClosing: false,
  });
  app.get('/livez', () => ({ status: 'ok', pid: process.pid, uptimeSeconds: Math.round(process.uptime()) }));
  // A failed check doesn't change the status code, because other instances use the same dependencies.
  app.get('/readyz', async (_request, reply) => {
    const { phase } = lifecycle;
    const results = await Promise.all(checks.map(async (check) => [check.name, await runCheck(check)] as const));
    const ok = results.every(([, health]) => health.ok);
    reply.code(phase === 'ready' ? 200 : 503);
    return { status: phase === 'ready' ? (ok ? 'ok' : 'degraded') : phase, checks: Object.fromEntries(results) };
  });
  return app;
}

/** Runs a check for at most one second. */
export async function runCheck({ look }: HealthCheck): Promise<Health> {
  try {
    const check = Promise.resolve(look());
    if (await endsWithin(maxCheckMs, check)) return await check;
    return { ok: false, error: `no response within ${maxCheckMs} ms` };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
