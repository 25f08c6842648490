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
import { countUnsentBytes } from './http/server/response-backpressure.ts';
import { addAgents } from './mcp/mcp-messages.ts';
import type { Metrics } from './operations/metrics/metrics.ts';
import { measureRequests } from './operations/metrics/request-metrics.ts';
import type { Traces } from './operations/tracing/traces.ts';
import { addResources } from './resources/index.ts';
import type { Services } from './resources/shared/context.ts';
import { type HealthCheck, Lifecycle } from './shared/lifecycle.ts';
import { type TenantId, tenantIdToJson } from './shared/tenant-id.ts';
import { createTenantLimiter, type Rejection } from './shared/tenant-limiter.ts';
import { recordRequests } from './usage/request-hook.ts';
import type { UsageRecorder } from './usage/usage-recorder.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Where rate limits are counted; its `state` says by whom. */
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
    | 'FAIR_USE_SHARE'
    | 'FAIR_USE_WORK_MS'
    | 'FAIR_USE_QUEUE'
    | 'FAIR_USE_WAIT_MS'
    | 'FAIR_USE_UNREAD_BYTES'
  >;
  /** Milliseconds by a clock that is never set. */
  clock?: () => number;
  /** What the process is doing; ready where it is left out. */
  lifecycle?: Lifecycle;
  /** Where it is added what the API stands on. */
  checks?: HealthCheck[];
  /** Where it is counted what happens; nothing is counted without. */
  metrics?: Metrics | undefined;
  /** Where requests are followed; nowhere without. */
  traces?: Traces | undefined;
  /** Where it is counted what is asked for with keys, and closed with the API; nowhere without. */
  usage?: UsageRecorder | undefined;
}

/** Puts the API together: what it is given, and nothing from anywhere else. `close()` leaves the database open. */
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
}: AppDependencies): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request would take as long as its one line; what is logged of a request names it.
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

  // Before all others: what they do is part of it.
  traces?.followRequests(app, healthPaths);
  const { reachability } = databases.options;
  // Who asks for the health of the process, every second, asks nothing of the API.
  const meters = metrics && measureRequests(app, metrics, healthPaths);
  const lastUsed = createLastUsed({
    prisma: databases.system.prisma,
    now: services.now,
    onError: (err) => {
      if (!reachability.explains(err, 'uses of keys')) logger.error({ err }, 'lastUsedAt not written');
    },
  });
  if (usage !== undefined) recordRequests(app, usage);
  const keys = createKeyLookup({
    databases,
    now: services.now,
    onTurnedAway: () => meters?.onRefused('keys'),
    onAway: (err) => logger.warn({ err }, 'no notifications arrive: every request asks the database for its key'),
    onBack: () => logger.warn('notifications arrive again: keys are remembered'),
  });
  const store = await openRateLimitStore({ settings, clock, logger });
  app.decorate('rateLimitStore', store);
  // Without it every request asks the database for its key.
  checks.push({ name: 'keyListener', look: () => ({ ok: keys.listening }) });
  checks.push({ name: 'rateLimitStore', look: () => ({ ok: store.state !== 'redis away', state: store.state }) });
  app.addHook('onClose', async () => {
    await Promise.all([keys.close(), lastUsed.close(), usage?.close(), store.close()]);
  });

  app.decorate('publicUrl', settings.PUBLIC_URL);
  addDefaultHeaders(app);
  closeConnectionsGracefully(app, lifecycle);
  const errorSources = { isOutage: (error: unknown) => reachability.explains(error, 'requests') };
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
  const onRefused = ({ tenantId, cause, reason }: Rejection) => {
    logger.warn({ tenantId: tenantIdToJson(tenantId), reason }, 'refused for fair use');
    meters?.onRefused(cause);
  };
  const fairUse = createTenantLimiter({
    places: settings.DATABASE_POOL_SIZE,
    share: settings.FAIR_USE_SHARE,
    workMs: settings.FAIR_USE_WORK_MS,
    longestQueue: settings.FAIR_USE_QUEUE,
    waitMs: settings.FAIR_USE_WAIT_MS,
    mostUnread: settings.FAIR_USE_UNREAD_BYTES,
    unreadOf: countUnsentBytes(app, ({ identity, visit }) => identity?.tenantId ?? visit?.user?.account.tenantId),
    onRefused,
    onWaited: meters?.onWaited,
    onDone: meters?.onDone,
  });
  meters?.watchFairUse(fairUse);
  const dataOf = (tenantId: TenantId) => tenantClient(databases.requests, tenantId);
  await addDeveloperArea(app, { accounts: databases, dataOf, services, settings, fairUse, ...errorSources });
  addAgents(app, { fairUse, settings, ...errorSources });
  addListSerializer(app);
  await addResources(app, fairUse);
  return app;
}

/** Counts in this process, or in the Redis that all processes share. */
async function openRateLimitStore({
  settings,
  clock,
  logger,
}: Required<Pick<AppDependencies, 'settings' | 'clock' | 'logger'>>): Promise<RateLimitStore> {
  const memory = createMemoryCounter(clock);
  const url = settings.RATE_LIMIT_STORE === 'redis' ? settings.REDIS_URL : undefined;
  if (url === undefined) return new RateLimitStore(memory);
  // Its client is 8 MB, which only installations with Redis load.
  const { openRedisCounter } = await import('./http/rate-limit/redis-windows.ts');
  const redis = await openRedisCounter({
    url,
    onAway: (reason) => logger.warn({ reason }, 'Redis is away: rate limits are counted by this process alone'),
    onBack: () => logger.warn('Redis is back: rate limits are shared again'),
  });
  return new RateLimitStore(memory, redis);
}
