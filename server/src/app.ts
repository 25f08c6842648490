import { requestLimits } from '@itsm-api/contract';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { createKeyLookup } from './auth/api-keys/key-lookup.ts';
import { createLastUsed } from './auth/api-keys/last-used.ts';
import type { Settings } from './config/env.ts';
import type { Databases } from './database/client/databases.ts';
import { tenantClient } from './database/client/tenant-client.ts';
import { addDeveloperArea } from './developer/plugin.ts';
import { addSite } from './docs-site/docs-site.ts';
import { addGuard } from './http/auth/guard.ts';
import { addBodyParsers } from './http/body.ts';
import { compressResponses } from './http/compression.ts';
import { addConditions } from './http/conditional-requests.ts';
import { addCors } from './http/cors.ts';
import { addDefaultHeaders } from './http/default-headers.ts';
import { addErrorHandler, respondToClientError, respondWithError } from './http/error-handler.ts';
import { warnAboutUntrustedProxy } from './http/forwarded.ts';
import { addHealth, healthPaths } from './http/health.ts';
import { addHostCheck } from './http/host-check.ts';
import { addListSerializer } from './http/list-serializer.ts';
import { addNotFound } from './http/not-found.ts';
import { createMemoryCounter, RateLimitStore } from './http/rate-limit/rate-limit-windows.ts';
import { requestIdOf } from './http/request-id.ts';
import { addRequestLog } from './http/request-log.ts';
import { closeConnectionsGracefully } from './http/server/graceful-close.ts';
import { createHttpServer } from './http/server/http-server.ts';
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
  settings: Pick<
    Settings,
    | 'RATE_LIMIT_GLOBAL'
    | 'RATE_LIMIT_GROUP'
    | 'RATE_LIMIT_WINDOW_SECONDS'
    | 'RATE_LIMIT_PAGES'
    | 'RATE_LIMIT_FAILURES'
    | 'RATE_LIMIT_STORE'
    | 'REDIS_URL'
    | 'CORS_ORIGINS'
    | 'HOST'
    | 'TRUST_PROXY'
    | 'PUBLIC_URL'
    | 'DATABASE_POOL_SIZE'
    | 'TENANT_CONCURRENCY_SHARE'
    | 'TENANT_CONCURRENCY_WORK_MS'
    | 'TENANT_CONCURRENCY_QUEUE'
    | 'TENANT_CONCURRENCY_WAIT_MS'
    | 'TENANT_UNREAD_BYTES'
  >;
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
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // Creating a logger for each request would cost as much CPU time as writing the log entry. Instead, each log entry
    // contains the request id.
    childLoggerFactory: (logger) => logger,
    requestIdHeader: false,
    genReqId: requestIdOf,
    bodyLimit: requestLimits.bodyBytes,
    return503OnClosing: false,
    trustProxy: settings.TRUST_PROXY.length > 0 ? settings.TRUST_PROXY : false,
    serverFactory: createHttpServer,
    frameworkErrors: respondWithError,
    clientErrorHandler: respondToClientError,
  });

  // Tracing must register its hooks first. Otherwise, traces don't include the time of other hooks.
  traces?.traceRequests(app, healthPaths);
  const { outages } = databases.options;
  // Excludes health checks from the API metrics. Load balancers send them every second, so they would distort the
  // metrics.
  const meters = metrics && measureRequests(app, metrics, healthPaths);
  const lastUsed = createLastUsed({
    prisma: databases.system.prisma,
    now: services.now,
    onError: (err) => {
      if (!outages.explains(err, 'uses of keys'))
        logger.error({ err }, '`lastUsedAt` of API keys could not be written');
    },
  });
  recordRequests(app, { usage, requestLog });
  if (requestLog !== undefined) meters?.watchRequestLog(requestLog);
  const keys = createKeyLookup({
    databases,
    now: services.now,
    onRejected: () => meters?.onRejected('keys'),
    onUnavailable: (err) =>
      logger.warn(
        { err },
        'Notifications of the database are unavailable. Every request looks up its API key in the database.',
      ),
    onAvailable: () => logger.warn('Notifications of the database are available again. API keys are cached.'),
  });
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

  app.decorate('publicUrl', settings.PUBLIC_URL);
  addDefaultHeaders(app);
  closeConnectionsGracefully(app, lifecycle);
  const errorSources = { isOutage: (error: unknown) => outages.explains(error, 'requests') };
  addErrorHandler(app, errorSources);
  addRequestLog(app);
  warnAboutUntrustedProxy(app);
  addHostCheck(app);
  await addCors(app, settings.CORS_ORIGINS);
  addNotFound(app);
  addHealth(app, lifecycle);
  addBodyParsers(app);
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
  addConditions(app);
  compressResponses(app);
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

/**
 * Opens the store for rate limit counts. The store keeps the counts either in the memory of this process or on a Redis
 * server that all processes share.
 */
async function openRateLimitStore({
  settings,
  clock,
  logger,
}: Required<Pick<AppDependencies, 'settings' | 'clock' | 'logger'>>): Promise<RateLimitStore> {
  const memory = createMemoryCounter(clock);
  const url = settings.RATE_LIMIT_STORE === 'redis' ? settings.REDIS_URL : undefined;
  if (url === undefined) return new RateLimitStore(memory);
  // The Redis client uses 8 MB of memory, so the process loads the client only if a setting configures Redis.
  const { openRedisCounter } = await import('./http/rate-limit/redis-windows.ts');
  const redis = await openRedisCounter({
    url,
    onUnavailable: (reason) =>
      logger.warn({ reason }, 'Redis is unreachable. Rate limits are counted in this process.'),
    onAvailable: () => logger.warn('Redis is reachable again. Rate limits are shared between processes.'),
  });
  return new RateLimitStore(memory, redis);
}
