import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { HealthCheck } from '../../shared/lifecycle.ts';
import { runCheck } from '../operations-server.ts';
import { createTenantUsage, type TenantUsage } from './tenant-usage.ts';

/**
 * What a process counts of itself (docs/operations.md). No label names a tenant, a key or a path: there is no end of
 * them, and each value would be a series that Prometheus keeps. Who uses most is asked for at `/tenants`.
 */
export interface Metrics {
  registry: Registry;
  usage: TenantUsage;
}

/**
 * Begins with what Node tells of a process (CPU time, memory, how late the event loop is) and with what the process
 * stands on.
 * @param checks more are added while the process starts
 */
export function createMetrics(checks: HealthCheck[]): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'itsm_check_ok',
    help: 'What the process stands on, as /readyz tells of it: 1 where it does what it is for.',
    labelNames: ['check'],
    registers: [registry],
    async collect() {
      await Promise.all(
        checks.map(async (check) => this.set({ check: check.name }, Number((await runCheck(check)).ok))),
      );
    },
  });
  return { registry, usage: createTenantUsage() };
}

/** `/metrics` in the text format of Prometheus, and `/tenants`. */
export function addMetricsRoutes(server: FastifyInstance, { registry, usage }: Metrics): void {
  server.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  server.get('/tenants', () => usage.top());
}
