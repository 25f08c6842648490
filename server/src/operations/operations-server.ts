import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Health, HealthCheck, Lifecycle } from '../shared/lifecycle.ts';
import { endsWithin } from '../shared/timeout.ts';

export interface OperationsServerOptions {
  logger: FastifyBaseLogger;
  lifecycle: Lifecycle;
  /** What the process stands on; more are added while it starts. */
  checks: HealthCheck[];
}

/** How long a check may take. Milliseconds. */
const patienceMs = 1000;

/**
 * The server for whoever runs the process (docs/operations.md): no keys, no limits, no contract, and on no address that
 * others reach. It doesn't listen yet, so that routes can be added.
 */
export function openOperationsServer({ logger, lifecycle, checks }: OperationsServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger.child({}),
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    return503OnClosing: false,
  });
  app.get('/livez', () => ({ status: 'ok', pid: process.pid, uptimeSeconds: Math.round(process.uptime()) }));
  // What is not ok is told, and is no reason to send requests elsewhere: it would be the same there.
  app.get('/readyz', async (_request, reply) => {
    const { phase } = lifecycle;
    const found = await Promise.all(checks.map(async (check) => [check.name, await runCheck(check)] as const));
    const ok = found.every(([, health]) => health.ok);
    reply.code(phase === 'ready' ? 200 : 503);
    return { status: phase === 'ready' ? (ok ? 'ok' : 'degraded') : phase, checks: Object.fromEntries(found) };
  });
  return app;
}

/** How it is, told in a second at most. */
export async function runCheck({ look }: HealthCheck): Promise<Health> {
  try {
    const looking = Promise.resolve(look());
    if (await endsWithin(patienceMs, looking)) return await looking;
    return { ok: false, error: `no answer within ${patienceMs} ms` };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
