import { type AppRoute, ContractNoBody } from '@ts-rest/core';
import * as z from 'zod';
import { Id, integerFromText, text } from './fields.ts';
import { idempotencyHeaders } from './idempotency.ts';
import type { Group } from './limits.ts';
import type { Scope } from './scopes.ts';

/**
 * What every endpoint must say of itself beside its path and schemas. `any`: a valid key is enough, whatever its scopes.
 * `null` on both: no key is needed.
 */
export type EndpointMeta =
  | { scope: Scope | 'any'; group: Group; agent?: AgentTool }
  | { scope: null; group: null; agent?: never };

/** What makes a tool for agents of an endpoint (docs/decisions/mcp-server.md); one without it has none. */
export interface AgentTool {
  /** A verb and a noun, such as `list_tickets`. */
  tool: string;
  /** When to use it and what to know, in a sentence or two: every agent reads it in every conversation. */
  when: string;
  /** What a row keeps of its fields in a list, or in an answer to many at once. */
  short?: readonly string[];
}

/** A ts-rest route with nothing left out: without a scope, a group, a summary or a strict query it doesn't compile. */
export type Endpoint = AppRoute & { metadata: EndpointMeta; summary: string; query: z.ZodType };

export function meta(metadata: EndpointMeta): EndpointMeta {
  return metadata;
}

/**
 * Declares the endpoints of one resource; the names become the client's methods and the operation ids. Every POST takes
 * an `Idempotency-Key` (docs/decisions/idempotency.md).
 */
export function endpoints<const T extends Record<string, Endpoint>>(routes: T): T {
  const withHeaders = ([name, route]: [string, Endpoint]) => [
    name,
    route.method === 'POST' ? { ...route, headers: idempotencyHeaders } : route,
  ];
  return Object.fromEntries(Object.entries(routes).map(withHeaders)) as T;
}

/** The query of an endpoint that takes none: any parameter is an error that names it. */
export const NoQuery = z.strictObject({});

/** The body of an endpoint that takes none and yet is a POST. */
export const NoBody: typeof ContractNoBody = ContractNoBody;

/** Whether an endpoint takes a body. */
export function takesBody<Route extends object>(route: Route): route is Route & { body: z.ZodType } {
  return 'body' in route && route.body !== NoBody;
}

/** The body of an update: absent fields stay as they are, and at least one must be named. */
export function patch<Fields extends z.ZodRawShape>(fields: Fields) {
  return z
    .strictObject(fields)
    .refine((body) => Object.keys(body).length > 0, 'must name at least one field to change')
    .meta({ minProperties: 1 });
}

/**
 * Bodies that must name at least one of some fields, which JSON Schema could say only by a choice between nameless
 * schemas. The client's types are made of it.
 */
export const atLeastOne = z.registry<{ of: string[] }>();

/** Text of answers that is of a known form today, which isn't promised: the client types it so, and takes it back. */
export const knownAs = new WeakMap<z.ZodType, z.ZodType>();

/** `:id` of a path. */
export const IdParam = z.object({ id: integerFromText() });

const pageError = 'must be a whole number from 1';
const perPageError = 'must be a whole number from 1 to 100';

const Page = z
  .int({ error: pageError })
  .min(1, pageError)
  .meta({ description: 'Which page; one past the end is empty.', default: 1, example: 1 });

export const PerPage = z
  .int({ error: perPageError })
  .min(1, perPageError)
  .max(100, perPageError)
  .meta({ description: 'How many rows a page has.', default: 20, example: 20 });

/** The query of a list: `page`, `perPage` and the list's own filters (docs/decisions/pagination.md). */
export function listQuery<Filters extends z.ZodRawShape>(filters: Filters) {
  return z.strictObject({
    page: integerFromText(Page).default(1),
    perPage: integerFromText(PerPage).default(20),
    ...filters,
  });
}

/** The page asked for; part of every list's query. */
export type PageQuery = { page: number; perPage: number };

/** A filter: one value or several, repeated or separated by commas; several mean any of them. */
export function filter<Value extends z.ZodType>(value: Value) {
  type Input = z.input<Value> | readonly z.input<Value>[];
  return z
    .preprocess((input: Input) => {
      const values: unknown[] = Array.isArray(input) ? input : [input];
      return values.flatMap((each) => (typeof each === 'string' ? each.split(',') : [each]));
    }, z.array(value).min(1).max(100))
    .optional();
}

/** A filter on an id; one that names nothing in the workspace finds nothing. */
export const idFilter = () => filter(integerFromText(Id));

/**
 * Words that rows are found by (docs/decisions/full-text-search.md).
 * @param fields what of the rows is looked at, in words
 */
export function search(fields: string) {
  return text(1, 200)
    .trim()
    .refine((words) => /[\p{L}\p{N}]/v.test(words), 'must hold a letter or a digit: punctuation alone is no word')
    .meta({
      description: `Only those whose ${fields} hold all of these words; the last may be the beginning of one.`,
      example: 'vpn',
    })
    .optional();
}

export const PageMeta = z
  .object({
    page: z.int().meta({ description: 'The page that was asked for.' }),
    perPage: z.int().meta({ description: 'How many rows a page has.' }),
    totalCount: z.int().meta({ description: 'Rows on all pages; exact where `totalCountCapped` is absent.' }),
    totalCountCapped: z
      .literal(true)
      .optional()
      .meta({ description: 'There are more rows than are counted; pages end where `totalCount` does.' }),
  })
  .meta({
    id: 'PageMeta',
    description: 'Which page of a list this is, and how much there is in all.',
    example: { page: 1, perPage: 20, totalCount: 131 },
  });
export type PageMeta = z.output<typeof PageMeta>;

/** That of every envelope which is no error's. */
export const success = z.literal(true).meta({ description: 'What was asked for was done.' });

/** The envelope of one resource (spec §2). */
export function item<Data extends z.ZodType>(data: Data) {
  return z.object({ success, data });
}

/** The envelope of a page of a list (spec §2). */
export function list<Data extends z.ZodType>(data: Data) {
  return z.object({ success, data: z.array(data).meta({ description: 'The rows of the page.' }), meta: PageMeta });
}

/**
 * Whether an endpoint answers one resource that has a version, and with it an `ETag`: one that can change, and says when
 * it last did (docs/decisions/optimistic-concurrency.md).
 */
export function isVersioned({ responses }: Pick<Endpoint, 'responses'>): boolean {
  const success = Object.entries(responses).find(([status]) => Number(status) < 300)?.[1];
  const data = success instanceof z.ZodObject ? success.shape.data : undefined;
  return data instanceof z.ZodObject && 'updatedAt' in data.shape;
}

/** Whether an endpoint changes one such resource, and so asks `If-Match`. */
export function takesIfMatch(route: Pick<Endpoint, 'method' | 'responses'>): boolean {
  return (route.method === 'PATCH' || route.method === 'DELETE') && isVersioned(route);
}

/** Whether an endpoint reads one such resource, and so asks `If-None-Match`. */
export function takesIfNoneMatch(route: Pick<Endpoint, 'method' | 'responses'>): boolean {
  return route.method === 'GET' && isVersioned(route);
}
