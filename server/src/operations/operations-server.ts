import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Health, HealthCheck, Lifecycle } from '../shared/lifecycle.ts';
import { endsWithin } from '../shared/timeout.ts';

export interface OperationsServerOptions {
  logger: FastifyBaseLogger;
  lifecycle: Lifecycle;
  /** The health checks of the process. The process adds more checks while it starts. */
  checks: HealthCheck[];
}

/** The maximum duration of a health check in milliseconds. */
const maxCheckMs = 1000;

/**
 * Creates the server for operators (docs/operations/monitor-and-repair.md). The server isn't part of the contract. It listens on an
 * internal address, because it requires no API key and has no rate limits. The caller adds more routes and then starts
 * the server.
 */
export function openOperationsServer({ logger, lifecycle, checks }: OperationsServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger.child({}),
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    return503OnClosing: false,
  });
  app.get('/livez', () => ({ status: 'ok', pid: process.pid, uptimeSeconds: Math.round(process.uptime()) }));
  // A failed check doesn't change the status code. All instances use the same dependencies, so the same check would
  // probably fail on the other instances too.
  app.get('/readyz', async (_request, reply) => {
    const { phase } = lifecycle;
    const results = await Promise.all(checks.map(async (check) => [check.name, await runCheck(check)] as const));
    const ok = results.every(([, health]) => health.ok);
    reply.code(phase === 'ready' ? 200 : 503);
    return { status: phase === 'ready' ? (ok ? 'ok' : 'degraded') : phase, checks: Object.fromEntries(results) };
  });
  return app;
}

/** Runs a health check. Returns a failure if the check throws or takes longer than 1 second. */
export async function runCheck({ run }: HealthCheck): Promise<Health> {
  try {
    const check = Promise.resolve(run());
    if (await endsWithin(maxCheckMs, check)) return await check;
    return { ok: false, error: `no response within ${maxCheckMs} ms` };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
