import type { RequestListener } from 'node:http';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { ApiError } from '../../shared/errors.ts';
import type { Lifecycle } from '../../shared/lifecycle.ts';
import { addDefaultHeaders } from '../default-headers.ts';
import { addErrorHandler, respondToClientError, respondWithError } from '../error-handler.ts';
import { addHealth } from '../health.ts';
import { addHostCheck } from '../host-check.ts';
import { requestIdOf } from '../request-id.ts';
import { addRequestLog } from '../request-log.ts';
import { closeConnectionsGracefully } from './graceful-close.ts';
import { createHttpServer } from './http-server.ts';

export interface StartupServer {
  /** What listens. */
  app: FastifyInstance;
  /** Has the API answer from now on. */
  lead(api: FastifyInstance): void;
}

interface DoorOptions {
  logger: FastifyBaseLogger;
  lifecycle: Lifecycle;
  publicUrl?: string | undefined;
}

/**
 * The public port, open from the start of the process to its end. Before there is an API behind it, and that may take a
 * migration, it answers for the process's health, and 503 to every other request (docs/decisions/errors.md).
 */
export function openStartupServer({ logger, lifecycle, publicUrl }: DoorOptions): StartupServer {
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
  // Before a body is read.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    // The rest of a body would follow on the connection.
    reply.header('connection', 'close');
    done(new ApiError('SERVICE_UNAVAILABLE', 'The server is starting. Retry in 5 seconds.', { retryAfterSeconds: 5 }));
  });
  return {
    app,
    lead(instance) {
      api = instance.routing;
    },
  };
}
