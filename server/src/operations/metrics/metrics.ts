import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { HealthCheck } from '../../shared/lifecycle.ts';
import { runCheck } from '../operations-server.ts';
import { createTenantUsage, type TenantUsage } from './tenant-usage.ts';

/**
 * The metrics of a process (docs/operations/monitor-and-repair.md). Prometheus stores a time series for each value of a label, so no label
 * contains a tenant, key or path. `/tenants` lists the tenants with the highest usage.
 */
export interface Metrics {
  registry: Registry;
  usage: TenantUsage;
}

/**
 * Creates the metrics of Node.js (CPU time, memory, event loop delay) and of the health checks.
 * @param checks the health checks; the process adds more checks while it starts
 * @param labels the labels of all metrics
 */
export function createMetrics(checks: HealthCheck[], labels: { cell?: number } = {}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'itsm_check_ok',
    help: 'Result of each check of /readyz: 1 if it succeeds, 0 if it fails.',
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

/** Adds the routes `/metrics` and `/tenants`. `/metrics` uses the Prometheus text format. `/tenants` returns JSON. */
export function addMetricsRoutes(server: FastifyInstance, { registry, usage }: Metrics): void {
  server.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  server.get('/tenants', () => usage.top());
}
