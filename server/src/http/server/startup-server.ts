import type { RequestListener } from 'node:http';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { ApiError } from '../../shared/errors.ts';
import type { Lifecycle } from '../../shared/lifecycle.ts';
import { addDefaultHeaders } from '../default-headers.ts';
import { addErrorHandler, respondToClientError, respondWithError } from '../error-handler.ts';
import { addHealth } from '../health.ts';
import { addHostCheck } from '../host-check.ts';
import { addRequestLog } from '../logging/request-log.ts';
import { requestIdOf } from '../request-id.ts';
import { closeConnectionsGracefully } from './graceful-close.ts';
import { createHttpServer } from './http-server.ts';

export interface StartupServer {
  /** The Fastify instance that listens on the public port. */
  app: FastifyInstance;
  /** Routes all later requests to the API. */
  routeTo(api: FastifyInstance): void;
}

interface StartupServerOptions {
  logger: FastifyBaseLogger;
  lifecycle: Lifecycle;
  publicUrl?: string | undefined;
}

/**
 * Creates the server for the public port. Until the API is ready, the server responds to health checks and returns 503
 * for all other requests (docs/decisions/errors.md). The API may start late, for example because of a migration.
 */
export function openStartupServer({ logger, lifecycle, publicUrl }: StartupServerOptions): StartupServer {
  let api: RequestListener | undefined;
  const app = Fastify({
    loggerInstance: logger.child({}),
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    requestIdHeader: false,
    genReqId: requestIdOf,
    return503OnClosing: false,
    serverFactory: (handler) => createHttpServer((request, response) => (api ?? handler)(request, response)),
    frameworkErrors: respondWithError,
    clientErrorHandler: respondToClientError,
  });
  app.decorate('publicUrl', publicUrl);
  addDefaultHeaders(app);
  closeConnectionsGracefully(app, lifecycle);
  addErrorHandler(app, { isOutage: () => false });
  addRequestLog(app);
  addHostCheck(app);
  addHealth(app, lifecycle);
  // Uses an `onRequest` hook to reject requests before the server reads their bodies.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    // If the connection stayed open, the server would interpret the unread body as the next request.
    reply.header('connection', 'close');
    done(new ApiError('SERVICE_UNAVAILABLE', 'The server is starting. Retry in 5 seconds.', { retryAfterSeconds: 5 }));
  });
  return {
    app,
    routeTo(instance) {
      api = instance.routing;
    },
  };
}
