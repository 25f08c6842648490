import * as z from 'zod';
import type { Deprecation } from './deprecation.ts';
import { Id, integerFromText, numberFromText, text } from './fields.ts';
import { idempotencyHeaders } from './idempotency.ts';
import type { Group } from './limits.ts';
import { type EmailReference, UserReference } from './references.ts';
import type { Scope } from './scopes.ts';

/** The prefix of every API path, which contains the API version (spec §9). */
export const pathPrefix = '/api/public/v1';

/**
 * The metadata that every endpoint declares in addition to its path and schemas. With the scope `any`, the endpoint
 * accepts every valid API key. If `scope` and `group` are null, the endpoint requires no API key. To deprecate an
 * endpoint, add the result of `deprecated()`. `proposable` is the `operationId` of an endpoint whose requests can be
 * proposed (docs/decisions/proposals-design.md).
 */
export type EndpointMeta = Partial<Deprecation> & { binary?: Binary } & (
    | { scope: Scope | 'any'; group: Group; agent?: AgentTool; proposable?: string }
    | { scope: null; group: null; agent?: never; proposable?: never }
  );

/**
 * The body of an endpoint that is a file instead of JSON in an envelope: the body of the request or of the successful
 * response (docs/decisions/attachments-design.md), or an OpenAPI document in the successful response
 * (docs/decisions/api-documentation.md). The query of an endpoint with a file as the request body contains the name of
 * the file.
 */
export type Binary = 'request' | 'response' | 'document';

/** The MCP tool of an endpoint (docs/decisions/mcp-server.md). Endpoints without this metadata have no MCP tool. */
export interface AgentTool {
  /** The name of the tool: a verb and a noun, such as `list_tickets`. */
  tool: string;
  /**
   * When to use the tool. Write one or two short sentences, because every agent loads this text in every conversation.
   */
  when: string;
  /** Whether the tool requires the `etag` of the resource, so that an agent changes only what it has read. */
  needsEtag?: true;
  /** The row fields that the tool returns for a list or a bulk request. */
  short?: readonly string[];
}

interface EndpointFields {
  /** The path after the path prefix, with parameters such as `:id`. */
  path: string;
  summary: string;
  description?: string;
  metadata: EndpointMeta;
  pathParams?: z.ZodType;
  headers?: Record<string, z.ZodType>;
  /** The schemas of the success responses, by HTTP status. */
  responses: Record<number, z.ZodType>;
}

/** The declaration of an endpoint. It has the shape of a ts-rest route, but doesn't depend on ts-rest. */
export type Endpoint = DeclaredEndpoint & { query: z.ZodType };

/** An endpoint without `query` accepts no query parameters. */
type DeclaredEndpoint = EndpointFields & { query?: z.ZodType } & (
    | { method: 'GET' }
    | { method: 'DELETE' }
    | { method: 'POST' | 'PATCH' | 'DELETE'; body: z.ZodType | typeof NoBody }
  );

export function meta(metadata: EndpointMeta): EndpointMeta {
  return metadata;
}

/**
 * Declares the endpoints of one resource. The keys of `routes` become the names of client methods, and part of the
 * operation ids. Adds the `Idempotency-Key` header to every POST endpoint (docs/decisions/idempotency.md).
 */
export function endpoints<const T extends Record<string, DeclaredEndpoint>>(routes: T) {
  const complete = ([name, route]: [string, DeclaredEndpoint]) => [
    name,
    { query: NoQuery, ...route, ...(route.method === 'POST' && { headers: idempotencyHeaders }) },
  ];
  return Object.fromEntries(Object.entries(routes).map(complete)) as {
    [Name in keyof T]: T[Name] & { query: T[Name] extends { query: z.ZodType } ? unknown : typeof NoQuery };
  };
}

/**
 * The query schema of an endpoint without query parameters. The schema rejects every parameter, and the error names the
 * parameter.
 */
export const NoQuery = z.strictObject({});

/** The body schema of a POST endpoint that accepts no body. */
export const NoBody = null;

/** The schema of a successful response whose body is a file or a document. */
export const FileContent = z.unknown();

/** Returns true if the successful response of an endpoint is a file or a document without an envelope. */
export function hasFileResponse({ metadata }: Pick<Endpoint, 'metadata'>): boolean {
  return metadata.binary === 'response' || metadata.binary === 'document';
}

/** Returns true if an endpoint accepts a JSON body. */
export function hasBody<Route extends object>(route: Route): route is Route & { body: z.ZodType } {
  return 'body' in route && route.body !== NoBody;
}

/**
 * Returns the schema of a PATCH body. Each field is optional, but the body must contain at least one field. Absent
 * fields stay unchanged.
 */
export function patch<Fields extends z.ZodRawShape>(fields: Fields) {
  return z
    .strictObject(fields)
    .refine((body) => Object.keys(body).length > 0, 'must contain at least one field to change')
    .meta({ minProperties: 1 });
}

/**
 * The schemas of bodies that require at least one of several fields. JSON Schema can express this rule only with
 * unnamed schemas, so the client generator reads this registry instead.
 */
export const atLeastOne = z.registry<{ of: string[] }>();

/**
 * Maps the response schema of a text field to its narrower request schema. The client also uses the narrower type for
 * responses, because programs send received texts back to the API.
 */
export const openEnum = new WeakMap<z.ZodType, z.ZodType>();

/** The path parameter `:id` with a numeric id. */
export const IdParam = z.object({ id: integerFromText() });

const pageError = 'must be a whole number from 1 to 9007199254740991';
const perPageError = 'must be a whole number from 1 to 100';

const Page = z
  .int({ error: pageError })
  .min(1, pageError)
  .meta({ description: 'The page number, from 1. A page after the last page is empty.', default: 1, example: 1 });

export const PerPage = z
  .int({ error: perPageError })
  .min(1, perPageError)
  .max(100, perPageError)
  .meta({ description: 'The number of items per page.', default: 20, example: 20 });

/**
 * Returns the query schema of a list endpoint: `page`, `perPage` and the given filters (docs/decisions/pagination-design.md).
 */
export function listQuery<Filters extends z.ZodRawShape>(filters: Filters) {
  return z.strictObject({
    page: integerFromText(Page).default(1),
    perPage: integerFromText(PerPage).default(20),
    ...filters,
  });
}

/** The page number and the page size in a list query. */
export type PageQuery = { page: number; perPage: number };

/**
 * Returns the schema of a list filter. The filter accepts several values: repeated parameters, or one parameter with
 * commas between the values. A row matches if it has one of these values.
 */
export function filter<Value extends z.ZodType>(value: Value) {
  type Input = z.input<Value> | readonly z.input<Value>[];
  return z
    .preprocess(
      (input: Input) => {
        const values: unknown[] = Array.isArray(input) ? input : [input];
        return values.flatMap((each) => (typeof each === 'string' ? each.split(',') : [each]));
      },
      z.array(value).min(1).max(100, 'must have at most 100 values'),
    )
    .optional();
}

/**
 * Returns the schema of a list filter whose values may contain commas. The filter accepts several values only as
 * repeated parameters.
 */
export function repeatOnlyFilter<Value extends z.ZodType>(value: Value) {
  type Input = z.input<Value> | readonly z.input<Value>[];
  return z
    .preprocess(
      (input: Input) => (Array.isArray(input) ? input : [input]),
      z.array(value).min(1).max(100, 'must have at most 100 values'),
    )
    .meta({ description: 'Exact values: repeat the parameter for several. A value can contain commas.' })
    .optional();
}

/** Returns the schema of a list filter that accepts ids. An id that doesn't exist in the workspace matches no row. */
export const idFilter = (id = Id) => filter(integerFromText(id));

/**
 * Returns the schema of a list filter that accepts ids and email addresses of users. An id or an address without a user
 * in the workspace matches no row.
 */
export const userFilter = () => filter(z.preprocess(numberFromText<number | EmailReference>, UserReference));

/**
 * Returns the schema of a full-text search parameter (docs/decisions/full-text-search.md).
 * @param fields the names of the searched fields, for the description of the parameter
 */
export function search(fields: string) {
  return text(1, 200)
    .trim()
    .refine((words) => /[\p{L}\p{N}]/v.test(words), 'must contain a letter or a digit')
    .meta({
      description: `Full-text search in ${fields}. All words must match, ignoring case; the last word can be a prefix.`,
      example: 'vpn',
    })
    .optional();
}

export const PageMeta = z
  .object({
    page: z.int().min(1).meta({ description: 'The requested page.' }),
    perPage: z.int().min(1).max(100).meta({ description: 'The number of items per page.' }),
    totalCount: z
      .int()
      .min(0)
      .meta({ description: 'The number of items on all pages. It is exact unless `totalCountCapped` is present.' }),
    totalCountCapped: z.literal(true).optional().meta({
      description:
        'Present if more items match than `totalCount`. You can page through only the first `totalCount` items.',
    }),
  })
  .meta({
    id: 'PageMeta',
    description: 'The page of the list and the total number of items.',
    example: { page: 1, perPage: 20, totalCount: 131 },
  });
export type PageMeta = z.output<typeof PageMeta>;

/** The `success` field of every successful response. */
export const success = z.literal(true).meta({ description: 'The request succeeded.' });

/** Returns the schema of a response that contains one resource (spec §2). */
export function item<Data extends z.ZodType>(data: Data) {
  return z.object({ success, data });
}

/** Returns the schema of a response that contains a page of a list (spec §2). */
export function list<Data extends z.ZodType>(data: Data) {
  return z.object({ success, data: z.array(data).meta({ description: 'The items of the page.' }), meta: PageMeta });
}

/**
 * Returns true if an endpoint returns one resource or a document with an `ETag`. Only resources with the field `etag`
 * have an `ETag` (docs/decisions/optimistic-concurrency-design.md).
 */
export function isVersioned({ metadata, responses }: Pick<Endpoint, 'metadata' | 'responses'>): boolean {
  if (metadata.binary === 'document') return true;
  const success = Object.entries(responses).find(([status]) => Number(status) < 300)?.[1];
  const data = success instanceof z.ZodObject ? success.shape.data : undefined;
  return data instanceof z.ZodObject && 'etag' in data.shape;
}

/**
 * Returns true if an endpoint accepts `If-Match`. Endpoints that change a resource with an `ETag` accept this header.
 */
export function acceptsIfMatch(route: Pick<Endpoint, 'method' | 'metadata' | 'responses'>): boolean {
  return (route.method === 'PATCH' || route.method === 'DELETE') && isVersioned(route);
}

/**
 * Returns true if an endpoint accepts `If-None-Match`. Endpoints that read a resource or a document with an `ETag`
 * accept this header.
 */
export function acceptsIfNoneMatch(route: Pick<Endpoint, 'method' | 'metadata' | 'responses'>): boolean {
  return route.method === 'GET' && isVersioned(route);
}
