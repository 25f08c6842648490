import { requestLimits } from '@itsm-api/contract';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Settings } from '../config/env.ts';
import type { Lifecycle } from '../shared/lifecycle.ts';
import { addBodyParsers } from './body.ts';
import { addClientAddress, createProxyTrust } from './client-address.ts';
import { compressResponses } from './compression.ts';
import { addConditions } from './conditional-requests.ts';
import { addCors } from './cors.ts';
import { addDefaultHeaders } from './default-headers.ts';
import { addErrorHandler, type ErrorSources, respondToClientError, respondWithError } from './error-handler.ts';
import { warnAboutUntrustedProxy } from './forwarded.ts';
import { addHealth } from './health.ts';
import { addHostCheck } from './host-check.ts';
import { addRequestLog } from './logging/request-log.ts';
import { addNestedQuery } from './nested-query.ts';
import { addNotFound } from './not-found.ts';
import { addQueryCheck } from './query-check.ts';
import { requestIdOf } from './request-id.ts';
import { closeConnectionsGracefully } from './server/graceful-close.ts';
import { createHttpServer } from './server/http-server.ts';
import { allowSlowDownloads } from './server/write-timeout.ts';

/*
 * The behavior that all requests share, in the order in which requests pass it. A hook applies to the routes that are
 * registered after it.
 */

/**
 * Creates a Fastify instance without plugins. @param addFirst registers the hooks that run before all others, so that
 * traces include the time of the others
 */
export function createFastify(
  logger: FastifyBaseLogger,
  { TRUST_PROXY }: Pick<Settings, 'TRUST_PROXY'>,
  addFirst: (app: FastifyInstance) => void,
): FastifyInstance {
  const isTrusted = createProxyTrust(TRUST_PROXY);
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
    // Fastify uses it for `request.host` and `request.protocol`.
    trustProxy: isTrusted,
    serverFactory: createHttpServer,
    frameworkErrors: respondWithError,
    clientErrorHandler: respondToClientError,
  });
  addFirst(app);
  addClientAddress(app, isTrusted);
  return app;
}

interface RequestPlugins extends ErrorSources {
  settings: Pick<Settings, 'PUBLIC_URL' | 'CORS_ORIGINS'>;
  lifecycle: Lifecycle;
}

/** Adds the plugins that run before the API key is checked, and the health checks. */
export async function addRequestPlugins(
  app: FastifyInstance,
  { settings, lifecycle, ...errorSources }: RequestPlugins,
): Promise<void> {
  app.decorate('publicUrl', settings.PUBLIC_URL);
  addDefaultHeaders(app);
  closeConnectionsGracefully(app, lifecycle);
  addErrorHandler(app, errorSources);
  addRequestLog(app);
  warnAboutUntrustedProxy(app);
  addHostCheck(app);
  await addCors(app, settings.CORS_ORIGINS);
  addQueryCheck(app);
  addNestedQuery(app);
  addNotFound(app);
  addHealth(app, lifecycle);
  addBodyParsers(app);
}

/** Adds the plugins that change responses. */
export function addResponsePlugins(
  app: FastifyInstance,
  { DOWNLOAD_IDLE_SECONDS }: Pick<Settings, 'DOWNLOAD_IDLE_SECONDS'>,
): void {
  addConditions(app);
  allowSlowDownloads(app, DOWNLOAD_IDLE_SECONDS * 1000);
  compressResponses(app);
}
