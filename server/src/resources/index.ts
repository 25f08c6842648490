import type { Endpoint } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { initServer, type RequestValidationError } from '@ts-rest/fastify';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { ApiError } from '../shared/errors.ts';
import { detailsOf, type Issue, unknownField, validationError } from '../shared/validation.ts';
import { type Handler, type Limiters, wrapHandler } from './handler-wrappers.ts';
import { handlers } from './handlers.ts';

/** Registers every endpoint of the contract with its handler. Rejects requests that violate the contract. */
export async function addResources(app: FastifyInstance, limiters: Limiters): Promise<void> {
  const server = initServer();
  const wrapped = wrapHandlers(handlers, limiters);
  /** Registers the endpoints whose request body is a file, or all other endpoints. */
  const register = (scope: FastifyInstance, { takesFile }: { takesFile: boolean }) => {
    const handlers = selectHandlers(wrapped, (route) => (route.metadata.binary === 'request') === takesFile);
    return scope.register(server.plugin(server.router(contract, handlers)), {
      logInitialization: false,
      jsonQuery: false,
      requestValidationErrorHandler: (error, { query, routeOptions }) => {
        throw requestError(error, routeOptions.config.tsRestRoute, query as Record<string, unknown>);
      },
    });
  };
  app.decorateRequest('storedFile', undefined);
  await register(app, { takesFile: false });
  await app.register(async (scope) => {
    // Leaves the body in the connection. `receiveFile` reads it after it has checked the request.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
    await register(scope, { takesFile: true });
  });
}

/** Returns the handlers of the endpoints that match a condition, by resource. */
function selectHandlers<Resources extends object>(
  resources: Resources,
  matches: (route: Endpoint) => boolean,
): Resources {
  return mapValues(resources, (handlers, resource) => {
    const entries = Object.entries(handlers as object).filter(([name]) => matches(getRoute(resource, name)));
    return Object.fromEntries(entries);
  }) as Resources;
}

function getRoute(resource: string, name: string): Endpoint {
  return (contract as unknown as Record<string, Record<string, Endpoint>>)[resource]?.[name] as Endpoint;
}

function wrapHandlers<Resources extends object>(resources: Resources, limiters: Limiters): Resources {
  return mapValues(resources, (handlers, resource) =>
    mapValues(handlers as object, (handler, name) =>
      wrapHandler(handler as Handler, getRoute(resource, name), limiters),
    ),
  ) as Resources;
}

function mapValues(object: object, change: (value: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

function requestError(
  { pathParams, headers, query, body }: RequestValidationError,
  route: Endpoint,
  sent: Record<string, unknown>,
): ApiError {
  const known = { query: fieldsOf(route.query), body: fieldsOf('body' in route ? route.body : undefined) };
  return validationError([
    ...detailsOf(pathParams?.issues ?? [], 'is not a part of this path'),
    ...detailsOf(headers?.issues ?? [], 'is not a header of this request'),
    ...detailsOf(
      parameterIssues(query?.issues ?? [], route.query, sent),
      'is not a parameter of this endpoint',
      known.query,
    ),
    ...detailsOf(body?.issues ?? [], unknownField, known.body),
  ]);
}

function fieldsOf(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/**
 * Shortens the path of each issue to the name of the query parameter, such as `status` or `customFields[site]`. An
 * index in the path would confuse clients that send only one value. If the parameter is valid with `+` for each space,
 * the client has not encoded the `+`, so the message explains the encoding.
 */
function parameterIssues(issues: readonly Issue[], schema: unknown, sent: Record<string, unknown>): Issue[] {
  return issues.map((issue) => {
    const [name = '', key] = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
    const isNested = name === 'customFields' && key !== undefined;
    const path = isNested ? [`${name}[${key}]`] : issue.path?.slice(0, 1);
    const parameter = schema instanceof z.ZodObject ? (schema.shape[name] as z.ZodType | undefined) : undefined;
    const text = JSON.stringify(sent[name]) ?? '';
    const isUnencoded = text.includes(' ') && parameter?.safeParse(JSON.parse(text.replaceAll(' ', '+'))).success;
    return { ...issue, path, message: issue.message + (isUnencoded ? '. In URLs, write `+` as `%2B`.' : '') };
  });
}
