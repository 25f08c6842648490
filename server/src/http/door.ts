import type { RequestListener } from 'node:http';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Lifecycle } from '../health.ts';
import { addAnswerHeaders } from './answer-headers.ts';
import { endConnectionsOnClose } from './close.ts';
import { addErrorHandler, answerClientError, answerError } from './error-handler.ts';
import { addHealth } from './health.ts';
import { addHostCheck } from './host.ts';
import { requestIdOf } from './request-id.ts';
import { addRequestLog } from './request-log.ts';
import { createHttpServer } from './server.ts';

export interface Door {
  /** What listens. */
  app: FastifyInstance;
  /** Has the API answer from now on. */
  lead(api: FastifyInstance): void;
}

interface DoorOptions {
  logger: FastifyBaseLogger;
  lifecycle: Lifecycle;
}

/**
 * The public port, open from the start of the process to its end. Before there is an API behind it, and that may take a
 * migration, it answers for the process's health; all else is 500 and to be tried again (docs/decisions/start-and-stop.md).
 */
export function openDoor({ logger, lifecycle }: DoorOptions): Door {
  let api: RequestListener | undefined;
  const app = Fastify({
    loggerInstance: logger.child({}),
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    requestIdHeader: false,
    genReqId: requestIdOf,
    return503OnClosing: false,
    serverFactory: (handler) => createHttpServer((request, response) => (api ?? handler)(request, response)),
    frameworkErrors: answerError,
    clientErrorHandler: answerClientError,
  });
  addAnswerHeaders(app);
  endConnectionsOnClose(app, lifecycle);
  addErrorHandler(app);
  addRequestLog(app);
  addHostCheck(app);
  addHealth(app, lifecycle);
  // Before a body is read.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    reply.header('retry-after', '5');
    done(new ApiError('INTERNAL_ERROR', 'The service is starting. Please try again in 5 seconds.'));
  });
  return {
    app,
    lead(instance) {
      api = instance.routing;
    },
  };
}
