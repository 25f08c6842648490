import { contract } from '@itsm-api/contract';
import { initServer, type RequestValidationError } from '@ts-rest/fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors.ts';
import type { FairUse } from '../fair-use.ts';
import { detailsOf, validationError } from '../validation.ts';
import { assets } from './assets/handlers.ts';
import { deliveries } from './deliveries/handlers.ts';
import { ping } from './ping/handlers.ts';
import { projects } from './projects/handlers.ts';
import { tasks } from './tasks/handlers.ts';
import { tickets } from './tickets/handlers.ts';
import { users } from './users/handlers.ts';
import { webhooks } from './webhooks/handlers.ts';

/** Registers every endpoint of the contract with its handler; what the contract finds wrong is thrown as ApiError. */
export async function addResources(app: FastifyInstance, fairUse: FairUse): Promise<void> {
  const server = initServer();
  const resources = { ping, tickets, assets, projects, tasks, users, webhooks, deliveries };
  const router = server.router(contract, eachInItsTurn(resources, fairUse));
  await app.register(server.plugin(router), {
    logInitialization: false,
    jsonQuery: false,
    responseValidation: true,
    requestValidationErrorHandler: (error) => {
      throw requestError(error);
    },
  });
}

type Handler = (input: { request: FastifyRequest }) => Promise<unknown>;

/** Has every handler that asks for a tenant's data run in a place of that tenant's, until it has its answer. */
function eachInItsTurn<Resources extends object>(resources: Resources, fairUse: FairUse): Resources {
  const inTurn = (handler: Handler): Handler => {
    return (input) => {
      const { identity } = input.request;
      return identity === undefined ? handler(input) : fairUse.run(identity.tenantId, () => handler(input));
    };
  };
  const ofResource = (handlers: object) => mapValues(handlers, (handler) => inTurn(handler as Handler));
  return mapValues(resources, (handlers) => ofResource(handlers as object)) as Resources;
}

function mapValues(object: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function requestError({ pathParams, query, body }: RequestValidationError): ApiError {
  return validationError([
    ...detailsOf(pathParams?.issues ?? [], 'is not a part of this path'),
    ...detailsOf(query?.issues ?? [], 'is not a parameter of this endpoint'),
    ...detailsOf(body?.issues ?? [], 'is not a field of this request'),
  ]);
}
