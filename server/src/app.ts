import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { openKeys } from './auth/api-keys/api-key-services.ts';
import type { Settings } from './config/env.ts';
import type { Databases } from './database/client/databases.ts';
import { tenantClient } from './database/client/tenant-client.ts';
import { addDeveloperArea } from './developer/plugin.ts';
import { addSite } from './docs-site/docs-site.ts';
import { addGuard } from './http/auth/guard.ts';
import { healthPaths } from './http/health.ts';
import { addRequestPlugins, addResponsePlugins, createFastify } from './http/index.ts';
import { addListSerializer } from './http/list-serializer.ts';
import { openRateLimitStore } from './http/rate-limit/open-store.ts';
import type { RateLimitStore } from './http/rate-limit/rate-limit-windows.ts';
import { addSecurityTxt } from './http/security-txt.ts';
import { countUnreadBytes } from './http/server/response-backpressure.ts';
import { addMcpServer } from './mcp/mcp-messages.ts';
import type { Metrics } from './operations/metrics/metrics.ts';
import { measureRequests } from './operations/metrics/request-metrics.ts';
import type { Traces } from './operations/tracing/traces.ts';
import { addResources } from './resources/index.ts';
import type { Services } from './resources/shared/context.ts';
import { type HealthCheck, Lifecycle } from './shared/lifecycle.ts';
import { createTenantLimiter, type Rejection } from './shared/limiters/tenant-limiter.ts';
import { createTransferLimiter } from './shared/limiters/transfer-limiter.ts';
import { type TenantId, tenantIdToJson } from './shared/tenant-id.ts';
import { recordRequests } from './usage/request-hook.ts';
import type { RequestRecorder } from './usage/request-recorder.ts';
import type { UsageRecorder } from './usage/usage-recorder.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The store that counts requests for rate limits. Its `state` shows whether the counts are in this process or in
     * Redis.
     */
    rateLimitStore: RateLimitStore;
  }
}

export interface AppDependencies {
  databases: Databases;
  services: Services;
  logger: FastifyBaseLogger;
  settings: Settings;
  /** Returns the time of a monotonic clock in milliseconds. */
  clock?: () => number;
  /** The phase of the process. Default: ready. */
  lifecycle?: Lifecycle;
  /** The health checks of the process. `buildApp` adds the checks of the API. */
  checks?: HealthCheck[];
  /** The metrics of the process. Undefined if metrics are off. */
  metrics?: Metrics | undefined;
  /** Traces requests. Undefined if tracing is off. */
  traces?: Traces | undefined;
  /**
   * The recorder that counts requests per API key. If undefined, no requests are counted. Closing the API also closes
   * the recorder.
   */
  usage?: UsageRecorder | undefined;
  /** The recorder that logs requests. If undefined, no requests are logged. Closing the API also closes the recorder. */
  requestLog?: RequestRecorder | undefined;
}

/** Builds the API from its dependencies. Closing the API doesn't close the database. */
export async function buildApp({
  databases,
  services,
  logger,
  settings,
  clock = () => performance.now(),
  lifecycle = new Lifecycle('ready'),
  checks = [],
  metrics,
  traces,
  usage,
  requestLog,
}: AppDependencies): Promise<FastifyInstance> {
  // Tracing must register its hooks first. Otherwise, traces don't include the time of other hooks.
  const app = createFastify(logger, settings, (app) => traces?.traceRequests(app, healthPaths));
  const { outages } = databases.options;
  // Excludes health checks from the API metrics. Load balancers send them every second, so they would distort the
  // metrics.
  const meters = metrics && measureRequests(app, metrics, healthPaths);
  recordRequests(app, { usage, requestLog });
  if (requestLog !== undefined) meters?.watchRequestLog(requestLog);
  const { now } = services;
  const { keys, lastUsed } = openKeys({ databases, now, logger, onRejected: () => meters?.onRejected('keys') });
  const store = await openRateLimitStore({ settings, clock, logger });
  app.decorate('rateLimitStore', store);
  // While the listener for API key changes is disconnected, every request looks up its API key in the database.
  checks.push({ name: 'keyListener', run: () => ({ ok: keys.listening }) });
  checks.push({
    name: 'rateLimitStore',
    run: () => ({ ok: store.state !== 'redis unreachable', state: store.state }),
  });
  app.addHook('onClose', async () => {
    await Promise.all([keys.close(), lastUsed.close(), usage?.close(), requestLog?.close(), store.close()]);
  });

  const errorSources = { isOutage: (error: unknown) => outages.explains(error, 'requests') };
  await addRequestPlugins(app, { settings, lifecycle, ...errorSources });
  await addGuard(app, {
    keys,
    lastUsed,
    services,
    store,
    limits: {
      global: settings.RATE_LIMIT_GLOBAL,
      group: settings.RATE_LIMIT_GROUP,
      windowSeconds: settings.RATE_LIMIT_WINDOW_SECONDS,
      failures: settings.RATE_LIMIT_FAILURES,
    },
    onLimited: meters?.onLimited,
  });
  await addSite(app);
  addSecurityTxt(app, settings);
  addResponsePlugins(app, settings);
  const onRejected = ({ tenantId, cause, reason }: Rejection) => {
    logger.warn({ tenantId: tenantIdToJson(tenantId), reason }, 'request rejected by a tenant limit');
    meters?.onRejected(cause);
  };
  const tenantLimiter = createTenantLimiter({
    maxConcurrent: settings.DATABASE_POOL_SIZE,
    share: settings.TENANT_CONCURRENCY_SHARE,
    workMs: settings.TENANT_CONCURRENCY_WORK_MS,
    maxQueued: settings.TENANT_CONCURRENCY_QUEUE,
    waitMs: settings.TENANT_CONCURRENCY_WAIT_MS,
    maxUnreadBytes: settings.TENANT_UNREAD_BYTES,
    getUnreadBytes: countUnreadBytes(app, ({ identity, visit }) => identity?.tenantId ?? visit?.user?.account.tenantId),
    onRejected,
    onWaited: meters?.onWaited,
    onDone: meters?.onDone,
  });
  const transfers = createTransferLimiter(onRejected);
  meters?.watchTenantLimiter(tenantLimiter);
  const dataOf = (tenantId: TenantId) => tenantClient(databases.requests, tenantId);
  await addDeveloperArea(app, {
    accounts: databases,
    dataOf,
    services,
    settings,
    tenantLimiter,
    transfers,
    ...errorSources,
  });
  addMcpServer(app, { tenantLimiter, settings, ...errorSources });
  addListSerializer(app);
  await addResources(app, { limiter: tenantLimiter, transfers });
  return app;
}
