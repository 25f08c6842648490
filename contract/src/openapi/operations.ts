import * as z from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { type ErrorCode, errors } from '../errors.ts';
import { describeErrors, errorCodes, errorContent } from './errors.ts';
import { headersOf } from './headers.ts';
import { parametersOf } from './parameters.ts';
import { describeOperation, hasForbiddenMoves } from './prose.ts';
import { addSchema, metaOf, type Schemas, toSchema } from './schemas.ts';
import type { Components, Content, Operation, Reference, Response } from './types.ts';

/** The statuses of errors whose answer is the same on every endpoint. */
const sharedStatuses: Record<number, string> = {
  401: 'InvalidApiKey',
  403: 'InsufficientScope',
  404: 'NotFound',
  429: 'RateLimitExceeded',
  500: 'InternalError',
};

export const sharedResponses: Record<string, Response> = Object.fromEntries(
  Object.entries(sharedStatuses).map(([status, name]) => {
    const codes = errorCodes.filter((code) => errors[code].status === Number(status));
    return [name, errorResponse(Number(status), codes, true)];
  }),
);

/** One endpoint of the contract; the schemas and parameters that it needs are added to the components. */
export function operationOf(
  resource: string,
  name: string,
  route: Endpoint,
  { schemas, parameters }: Pick<Components, 'schemas' | 'parameters'>,
): Operation {
  const { scope } = route.metadata;
  const body = 'body' in route && route.body instanceof z.ZodObject ? route.body : undefined;
  const fields = Object.keys(body?.shape ?? {});
  const references = parametersOf(resource, route, schemas, parameters);
  return {
    operationId: `${resource}_${name}`,
    summary: route.summary,
    description: describeOperation(resource, route, fields),
    tags: [resource],
    ...(scope === null ? { security: [] } : { 'x-required-scope': scope }),
    ...(references.length > 0 && { parameters: references }),
    ...(body && { requestBody: { required: true, content: bodyContent(body, schemas) } }),
    responses: {
      ...successes(route, schemas, changeOf(route, body)),
      ...failures(route, codesOf(resource, route, fields)),
    },
  };
}

function bodyContent(body: z.ZodType, schemas: Schemas): Content {
  return {
    'application/json': {
      schema: toSchema(body, 'input', schemas),
      examples: { example: { value: metaOf(body).example } },
    },
  };
}

/** What the example of the request changes in the example of the resource. */
function changeOf(route: Endpoint, body: z.ZodType | undefined): object {
  if (route.method === 'DELETE') return { active: false };
  return body === undefined ? {} : (metaOf(body).example as object);
}

/** The answers of a success: the resource as the request would leave it, in its envelope. */
function successes(route: Endpoint, schemas: Schemas, change: object): Record<string, Response> {
  const statuses = Object.keys(route.responses).map(Number);
  return Object.fromEntries(
    statuses
      .filter((status) => status < 300)
      .map((status) => {
        const description = status === 201 ? 'Created.' : 'Success.';
        const headers = headersOf(status, route.metadata.scope !== null);
        return [status, { description, headers, content: envelope(route.responses[status], schemas, change) }];
      }),
  );
}

function envelope(schema: unknown, schemas: Schemas, change: object): Content {
  if (!(schema instanceof z.ZodObject)) throw new Error('An answer of the contract is no envelope.');
  const data = schema.shape.data as z.ZodType;
  const isList = data instanceof z.ZodArray;
  const resource = isList ? (data.element as z.ZodType) : data;
  const { id, example } = metaOf(resource);
  const value = isList
    ? { success: true, data: [example], meta: { page: 1, perPage: 20, totalCount: 1 } }
    : { success: true, data: { ...(example as object), ...visible(change, example as object) } };
  const reference = addSchema(schemas, `${id}${isList ? 'List' : ''}Envelope`, toSchema(schema, 'output', schemas));
  return { 'application/json': { schema: reference, examples: { success: { value } } } };
}

/** What was sent and is answered: not a secret. */
function visible(change: object, answered: object): object {
  return Object.fromEntries(Object.entries(change).filter(([field]) => field in answered));
}

function failures(route: Endpoint, codes: ErrorCode[]): Record<string, Response | Reference> {
  const statuses = [...new Set(codes.map((code) => errors[code].status))];
  return Object.fromEntries(
    statuses.map((status): [number, Response | Reference] => {
      const shared = sharedStatuses[status];
      if (shared !== undefined) return [status, { $ref: `#/components/responses/${shared}` }];
      const own = codes.filter((code) => errors[code].status === status);
      return [status, errorResponse(status, own, route.metadata.scope !== null)];
    }),
  );
}

function errorResponse(status: number, codes: ErrorCode[], keyed: boolean): Response {
  return { description: describeErrors(codes), headers: headersOf(status, keyed), content: errorContent(codes) };
}

/** The errors that an endpoint can answer with. */
function codesOf(resource: string, route: Endpoint, fields: readonly string[]): ErrorCode[] {
  const keyed = route.metadata.scope !== null;
  const can: Record<ErrorCode, boolean> = {
    VALIDATION_ERROR: true,
    INVALID_JSON: route.method !== 'GET',
    UNSUPPORTED_MEDIA_TYPE: route.method !== 'GET',
    PAYLOAD_TOO_LARGE: true,
    INVALID_TRANSITION: hasForbiddenMoves(resource, fields),
    INVALID_REFERENCE: fields.some((field) => /Ids?$/.test(field) && field !== 'categoryConfigId'),
    INVALID_API_KEY: keyed,
    INSUFFICIENT_SCOPE: keyed,
    NOT_FOUND: route.pathParams !== undefined,
    RATE_LIMIT_EXCEEDED: keyed,
    INTERNAL_ERROR: true,
  };
  return errorCodes.filter((code) => can[code]);
}
