import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Lifecycle } from '../lifecycle.ts';
import type { HealthCheck } from './health.ts';

export interface OperationsServerOptions {
  logger: FastifyBaseLogger;
  lifecycle: Lifecycle;
  /** What the process stands on; more are added while it starts. */
  checks: HealthCheck[];
}

/**
 * The server for whoever runs the process (docs/operations.md): no keys, no limits, no contract, and on no address that
 * others reach. It doesn't listen yet, so that routes can be added.
 */
export function openOperationsServer({ logger, lifecycle }: OperationsServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  app.get('/livez', () => ({ status: 'ok' }));
  app.get('/readyz', () => ({ status: lifecycle.phase }));
  return app;
}
