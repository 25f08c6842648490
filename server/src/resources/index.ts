import { type Contract, contract } from '@itsm-api/contract';
import { initServer, type RequestValidationError, type RouterImplementation } from '@ts-rest/fastify';
import type { FastifyInstance } from 'fastify';
import type { ApiError } from '../errors.ts';
import { detailsOf, validationError } from '../validation.ts';
import { assets } from './assets/handlers.ts';
import { ping } from './ping/handlers.ts';
import { projects } from './projects/handlers.ts';
import { tasks } from './tasks/handlers.ts';
import { tickets } from './tickets/handlers.ts';
import { users } from './users/handlers.ts';
import { webhooks } from './webhooks/handlers.ts';

/** The handlers of one resource: a function per endpoint of the contract, no more and no fewer. */
export type Handlers<Resource extends keyof Contract> = RouterImplementation<Contract[Resource]>;

/** Registers every endpoint of the contract with its handler; what the contract finds wrong is thrown as ApiError. */
export async function addResources(app: FastifyInstance): Promise<void> {
  const server = initServer();
  const router = server.router(contract, { ping, tickets, assets, projects, tasks, users, webhooks });
  await app.register(server.plugin(router), {
    logInitialization: false,
    jsonQuery: false,
    responseValidation: true,
    requestValidationErrorHandler: (error) => {
      throw requestError(error);
    },
  });
}

function requestError({ pathParams, query, body }: RequestValidationError): ApiError {
  return validationError([
    ...detailsOf(pathParams?.issues ?? [], 'is not a part of this path'),
    ...detailsOf(query?.issues ?? [], 'is not a parameter of this endpoint'),
    ...detailsOf(body?.issues ?? [], 'is not a field of this request'),
  ]);
}
