import { pathPrefix } from '@itsm-api/contract';
import fc, { type Arbitrary } from 'fast-check';
import type { Call } from '../support/api.ts';
import { type KnownIds, valid } from './arbitraries.ts';
import type { DocumentedOperation, Parameter } from './operations.ts';

/** The parts of a request. The generator can make a single part invalid. */
export interface Request {
  path: Record<string, unknown>;
  query: [name: string, value: unknown][];
  body?: unknown;
  headers?: Record<string, string>;
  /** The kind of API key that the request uses. */
  key?: 'full' | 'scopeless' | 'wrong' | 'none';
}

/** Generates requests that the OpenAPI document allows for an operation. */
export function validRequests({ parameters, body, isUpload }: DocumentedOperation, ids: KnownIds): Arbitrary<Request> {
  const values = (place: Parameter['in'], requiredKeys?: []) => {
    // Only the workspace knows which custom fields have filters.
    const own = parameters.filter((parameter) => parameter.in === place && parameter.style !== 'deepObject');
    const arbitraries = own.map(({ name, schema }) => [name, valid(schema, ids, name)]);
    return fc.record(Object.fromEntries(arbitraries) as Record<string, Arbitrary<unknown>>, { requiredKeys });
  };
  return fc
    .record({
      path: values('path'),
      query: values('query', isUpload ? undefined : []).map((query) => Object.entries(withoutExcluded(query))),
      ...(body && { body: valid(body.schema, ids) }),
      ...(isUpload && { body: fc.string({ minLength: 1 }) }),
    })
    .chain((request) => fc.boolean().map((joined) => ({ ...request, query: request.query.flatMap(listed(joined)) })));
}

/**
 * Omits `since` from a query with a `cursor`. The description of `since` forbids this combination, but JSON Schema
 * can't express the rule.
 */
function withoutExcluded({ since, ...query }: Record<string, unknown>): Record<string, unknown> {
  return since === undefined || query.cursor !== undefined ? query : { since, ...query };
}

/** Serializes a list for a URL query, either as repeated parameters or as one parameter with comma-separated values. */
function listed(joined: boolean) {
  return ([name, value]: [string, unknown]): [string, unknown][] => {
    if (!Array.isArray(value)) return [[name, value]];
    return joined ? [[name, value.join(',')]] : value.map((each) => [name, each]);
  };
}

/** Generates requests that are valid except for one invalid or unusual part. */
export function mutatedRequests(operation: DocumentedOperation, ids: KnownIds): Arbitrary<Request> {
  const { parameters, body } = operation;
  const text = fc.string({ unit: 'binary' });
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const inQuery = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);

  const mutations: Arbitrary<(request: Request) => Request>[] = [
    fc.constantFrom('scopeless' as const, 'wrong' as const, 'none' as const).map((key) => (r) => ({ ...r, key })),
    fc.tuple(text, text).map((pair) => (r) => ({ ...r, query: [...r.query, pair] })),
    fc
      .record({ 'x-request-id': fc.string(), accept: fc.constantFrom('text/html', '*/*', 'nonsense') })
      .map((headers) => (r) => ({
        ...r,
        headers: { ...headers, 'x-request-id': encodeURIComponent(headers['x-request-id']) },
      })),
    ...(inPath.length > 0
      ? [
          fc
            .tuple(fc.constantFrom(...inPath), fc.oneof(text, fc.integer(), fc.double()))
            .map(([name, value]) => (r: Request) => ({ ...r, path: { ...r.path, [name]: value } })),
        ]
      : []),
    ...(inQuery.length > 0
      ? [
          fc
            .tuple(fc.constantFrom(...inQuery), fc.oneof(text, fc.integer(), fc.constant('')))
            .map((pair) => (r: Request) => ({ ...r, query: [...r.query, pair] })),
        ]
      : []),
    ...(body ? bodyMutations() : []),
    ...(operation.method === 'GET' ? [] : [text.map((value) => (r: Request) => ({ ...r, body: value }))]),
  ];
  return fc.tuple(validRequests(operation, ids), fc.oneof(...mutations)).map(([request, mutate]) => mutate(request));
}

function bodyMutations(): Arbitrary<(request: Request) => Request>[] {
  const changed = (change: (fields: [string, unknown][], at: number) => [string, unknown][], at: number) => {
    return (request: Request) => {
      const fields = Object.entries(request.body as object);
      return { ...request, body: Object.fromEntries(change(fields, at % Math.max(fields.length, 1))) };
    };
  };
  const types = ['text/plain', 'application/json; charset=utf-16', 'application/x-www-form-urlencoded', 'nonsense'];
  return [
    fc.jsonValue().map((body) => (r) => ({ ...r, body: JSON.stringify(body) })),
    fc.constantFrom(...types).map((type) => (r) => ({ ...r, headers: { 'content-type': type } })),
    fc.nat().map((at) => changed((fields, index) => fields.filter((_, other) => other !== index), at)),
    fc.tuple(fc.string(), fc.jsonValue()).map(([name, value]) => changed((fields) => [...fields, [name, value]], 0)),
    fc
      .tuple(fc.nat(), odd())
      .map(([at, value]) =>
        changed((fields, index) => fields.map(([name, old], other) => [name, other === index ? value : old]), at),
      ),
  ];
}

/** Generates unusual values, which schemas often fail to reject. */
function odd(): Arbitrary<unknown> {
  return fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(null, '', ' ', '\0', '\ud800', 0, -1, 1.5, 2 ** 53, '1', 'x'.repeat(70_000), [], {}, [null], [[]]),
    fc.constantFrom('0000-01-01', '2026-02-30', '2026-11-20T24:00:00Z', '9999-12-31T23:59:59-01:00', 'https://[::1]/'),
  );
}

/** Converts a generated request to the arguments of `api.call`. */
export function callOf({ method, path }: DocumentedOperation, request: Request, keys: Record<string, string>): Call {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(request.path[name]));
  const query = request.query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
  return {
    method,
    path: `${pathPrefix}${filled}${query === '' ? '' : `?${query}`}`,
    key: keys[request.key ?? 'full'],
    headers: request.headers ?? {},
    body: request.body,
  };
}

function encoded(value: unknown): string {
  return encodeURIComponent(String(value).toWellFormed());
}
