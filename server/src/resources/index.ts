import { contract } from '@itsm-api/contract';
import { initServer, type RequestValidationError } from '@ts-rest/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { entityTagOf } from '../entity-tag.ts';
import type { ApiError } from '../errors.ts';
import type { FairUse } from '../fair-use.ts';
import { detailsOf, validationError } from '../validation.ts';
import { activities } from './activities/handlers.ts';
import { assets } from './assets/handlers.ts';
import { comments } from './comments/handlers.ts';
import { ping } from './ping/handlers.ts';
import { projects } from './projects/handlers.ts';
import { tasks } from './tasks/handlers.ts';
import { tickets } from './tickets/handlers.ts';
import { users } from './users/handlers.ts';
import { webhooks } from './webhooks/handlers.ts';

/** Registers every endpoint of the contract with its handler; what the contract finds wrong is thrown as ApiError. */
export async function addResources(app: FastifyInstance, fairUse: FairUse): Promise<void> {
  const server = initServer();
  const resources = { ping, tickets, comments, assets, activities, projects, tasks, users, webhooks };
  const router = server.router(contract, served(resources, fairUse));
  await app.register(server.plugin(router), {
    logInitialization: false,
    jsonQuery: false,
    responseValidation: true,
    requestValidationErrorHandler: (error) => {
      throw requestError(error);
    },
  });
}

interface Input {
  request: FastifyRequest;
  reply: FastifyReply;
}

type Handler = (input: Input) => Promise<{ body: { data: object } }>;

/**
 * Has every handler that asks for a tenant's data run in a place of that tenant's, until it has its answer, and says of
 * a resource that has a version which one it is.
 */
function served<Resources extends object>(resources: Resources, fairUse: FairUse): Resources {
  const withAll = (handler: Handler): Handler => {
    return async (input) => {
      const { identity } = input.request;
      const run = () => handler(input);
      const answer = await (identity === undefined ? run() : fairUse.run(identity.tenantId, run));
      tag(input.reply, answer.body.data);
      return answer;
    };
  };
  const ofResource = (handlers: object) => mapValues(handlers, (handler) => withAll(handler as Handler));
  return mapValues(resources, (handlers) => ofResource(handlers as object)) as Resources;
}

/** Whoever keeps such an answer asks before using it whether it still holds; nobody keeps it for others. */
function tag(reply: FastifyReply, resource: object): void {
  const etag = entityTagOf(resource);
  if (etag !== undefined) reply.headers({ etag, 'cache-control': 'private, no-cache' });
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
