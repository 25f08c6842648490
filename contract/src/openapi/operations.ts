import * as z from 'zod';
import { deprecationHeaders } from '../deprecation.ts';
import { acceptsIfMatch, acceptsIfNoneMatch, type Binary, type Endpoint, isVersioned } from '../endpoint.ts';
import { type ErrorCode, errors } from '../errors.ts';
import { defaultFileType } from '../resources/attachments.ts';
import { proposable } from '../resources/proposals.ts';
import { describeErrors, errorCodes, errorContent } from './error-examples.ts';
import { describeDeprecation, headersOf } from './headers.ts';
import { conditionsOf, headerParameters, toComponent } from './parameters.ts';
import { describeOperation, hasForbiddenMoves } from './prose.ts';
import { codeSamples } from './samples.ts';
import { metaOf } from './schemas.ts';
import type { Components, Content, Operation, Parameter, Reference, Response } from './types.ts';

/** The names of the error responses that several endpoints share, by HTTP status. They contain all codes of the status. */
const sharedStatuses: Record<number, string> = {
  401: 'InvalidApiKey',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'IdempotencyInProgress',
  412: 'PreconditionFailed',
  429: 'RateLimitExceeded',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

export const sharedResponses: Record<string, Response> = Object.fromEntries(
  Object.entries(sharedStatuses).map(([status, name]) => {
    const codes = errorCodes.filter((code) => errors[code].status === Number(status));
    return [name, errorResponse(Number(status), codes, { keyed: true })];
  }),
);

/** An OpenAPI operation as ts-rest creates it, with the schemas from `describeSchema`. */
export type DraftedOperation = Pick<Operation, 'operationId' | 'summary' | 'tags'> & {
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content: Content }>;
};

/**
 * Adds errors, headers, the scope and descriptions to an operation, because ts-rest doesn't generate them. Replaces
 * each parameter with a reference to a component.
 */
export function completed(
  drafted: DraftedOperation,
  route: Endpoint,
  { parameters, schemas }: Pick<Components, 'parameters' | 'schemas'>,
): Operation {
  const { scope, deprecated, 'x-deprecated-since': since, 'x-sunset': sunset } = route.metadata;
  const [resource = '', name = ''] = drafted.operationId.split('.');
  const body = bodyOf(route);
  const drafts = [...drafted.parameters, ...headerParameters(route, schemas)];
  const references = [
    ...drafts.map((parameter) => toComponent(parameter, route.path, resource, parameters)),
    ...conditionsOf(route, parameters),
  ];
  return {
    operationId: drafted.operationId.replace('.', '_'),
    summary: route.summary,
    description: describeOperation(resource, route),
    tags: drafted.tags,
    ...(deprecated && { deprecated, 'x-deprecated-since': since, 'x-sunset': sunset }),
    ...(scope === null && { security: [] }),
    ...(scope !== null && scope !== 'any' && { 'x-required-scope': scope }),
    'x-codeSamples': codeSamples(resource, name, route),
    ...(references.length > 0 && { parameters: references }),
    ...(route.metadata.binary === 'request' && {
      requestBody: {
        description: 'The content of the file. `Content-Type` can be any media type.',
        required: true,
        // Generated clients would send a range such as `*/*` as the type of the file.
        content: { [defaultFileType]: file },
      },
    }),
    ...(drafted.requestBody &&
      body && {
        requestBody: { description: metaOf(body).description, required: true, content: drafted.requestBody.content },
      }),
    responses: {
      ...successes(drafted, route),
      ...failures(route, codesOf(resource, route)),
    },
  };
}

/** The OpenAPI media type object of a body that is a file. */
const file = { schema: { type: 'string', format: 'binary', description: 'The content of the file.' } };

/** The contents of successful responses without an envelope. */
const contents: Partial<Record<Binary, Content>> = {
  response: { '*/*': file },
  document: {
    'application/json': { schema: { type: 'object', description: 'An OpenAPI 3.1 document.' }, examples: {} },
  },
};

function successes({ responses }: DraftedOperation, route: Endpoint): Record<string, Response> {
  const kind = {
    keyed: route.metadata.scope !== null,
    replayable: route.method === 'POST',
    versioned: isVersioned(route),
    isFile: route.metadata.binary === 'response',
  };
  const bare = route.metadata.binary && contents[route.metadata.binary];
  const deprecation = describeDeprecation(deprecationHeaders(route));
  const headers = (status: number) => ({ ...headersOf(status, kind), ...deprecation });
  const found = Object.entries(responses).filter(([status]) => Number(status) < 300);
  return {
    ...Object.fromEntries(
      found.map(([status, { content }]) => {
        const description = status === '201' ? 'Created.' : 'Success.';
        return [status, { description, headers: headers(Number(status)), content: bare ?? content }];
      }),
    ),
    ...(acceptsIfNoneMatch(route) && {
      304: { description: 'The resource is unchanged. The response has no body.', headers: headers(304) },
    }),
  };
}

function failures(route: Endpoint, codes: ErrorCode[]): Record<string, Response | Reference> {
  const statuses = [...new Set(codes.map((code) => errors[code].status))];
  return Object.fromEntries(
    statuses.map((status): [number, Response | Reference] => {
      const own = codes.filter((code) => errors[code].status === status);
      const shared = sharedStatuses[status];
      const isComplete = own.length === errorCodes.filter((code) => errors[code].status === status).length;
      const hasRetryAfter = !(status === 503 && transfersFile(route));
      if (shared !== undefined && isComplete && hasRetryAfter) {
        return [status, { $ref: `#/components/responses/${shared}` }];
      }
      return [status, errorResponse(status, own, { keyed: route.metadata.scope !== null, hasRetryAfter })];
    }),
  );
}

/** Returns true for uploads and downloads, whose 503 has no `Retry-After` if only an operator can solve the problem. */
function transfersFile({ metadata }: Endpoint): boolean {
  return metadata.binary === 'request' || metadata.binary === 'response';
}

function errorResponse(status: number, codes: ErrorCode[], kind: Parameters<typeof headersOf>[1]): Response {
  return { description: describeErrors(codes), headers: headersOf(status, kind), content: errorContent(codes) };
}

/** Returns the error codes that an endpoint can return. */
export function codesOf(resource: string, route: Endpoint): ErrorCode[] {
  const body = bodyOf(route);
  const proposed = body instanceof z.ZodDiscriminatedUnion ? [...Object.values(proposable)] : [];
  const fields = [route, ...proposed].flatMap((each) => Object.keys(shapeOf(each)));
  const keyed = route.metadata.scope !== null;
  const can: Record<ErrorCode, boolean> = {
    VALIDATION_ERROR: true,
    INVALID_JSON: route.method !== 'GET',
    UNSUPPORTED_MEDIA_TYPE: route.method !== 'GET',
    PAYLOAD_TOO_LARGE: true,
    INVALID_TRANSITION: hasForbiddenMoves(resource, route, fields) || proposed.length > 0,
    INVALID_REFERENCE: fields.some((field) => /Ids?$/.test(field) && field !== 'externalId'),
    EXTERNAL_ID_EXISTS: fields.includes('externalId'),
    QUOTA_EXCEEDED: route.metadata.binary === 'request',
    QUERY_TOO_BROAD: route.query instanceof z.ZodObject && 'q' in route.query.shape,
    INVALID_API_KEY: keyed,
    // The scope that a proposal needs depends on its operation.
    INSUFFICIENT_SCOPE: keyed && (route.metadata.scope !== 'any' || resource === 'proposals'),
    ADDRESS_NOT_ALLOWED: keyed,
    NOT_FOUND: route.pathParams !== undefined || proposed.length > 0,
    IDEMPOTENCY_KEY_REUSED: route.method === 'POST',
    IDEMPOTENCY_IN_PROGRESS: route.method === 'POST',
    PRECONDITION_FAILED: acceptsIfMatch(route) || proposed.length > 0,
    RATE_LIMIT_EXCEEDED: keyed,
    INTERNAL_ERROR: true,
    SERVICE_UNAVAILABLE: true,
  };
  return errorCodes.filter((code) => can[code]);
}

function bodyOf(route: Endpoint): z.ZodType | undefined {
  return 'body' in route && route.body instanceof z.ZodType ? route.body : undefined;
}

function shapeOf(route: Endpoint): z.ZodRawShape {
  const body = bodyOf(route);
  return body instanceof z.ZodObject ? body.shape : {};
}
