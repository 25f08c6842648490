import { type Endpoint, hasBody, idempotencyKeyHeader } from '@itsm-api/contract';
import * as z from 'zod';
import { ApiError } from '../shared/errors.ts';
import { detailsOf, validationError } from '../shared/validation.ts';
import { shapeOf } from './input-schema.ts';
import { idempotencyArgument, shapeOfHeaders, type Tool, textFromArgument } from './tools.ts';

export type Arguments = Record<string, unknown>;

/** A request of the API that does what a tool is called for. */
export interface ToolRequest {
  method: Endpoint['method'];
  /** The path, and the query. */
  url: string;
  headers: Record<string, string>;
  body: Arguments | undefined;
  /** Where texts of the answer shall begin. UTF-16 units. */
  textFrom: number;
}

/** As much of a path and a query as a request over HTTP may have. Bytes. */
const longestUrl = 16_384;

/**
 * The request of a tool call. The endpoint checks its query and its body; what the path is made of is checked here, since
 * it chooses the endpoint.
 * @throws ApiError VALIDATION_ERROR, PAYLOAD_TOO_LARGE
 */
export function requestOf({ route }: Tool, given: Arguments): ToolRequest {
  const inPath = shapeOf(route.pathParams);
  const params = pick(given, (name) => Object.hasOwn(inPath, name));
  if (route.pathParams instanceof z.ZodType) check(route.pathParams, params);
  const others = pick(given, (name) => !Object.hasOwn(inPath, name));
  const own = ownArgumentsOf(route, others);
  const fields = pick(others, (name) => !own.names.has(name));
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const sendsBody = hasBody(route);
  const url = sendsBody ? path : withQuery(path, fields);
  if (url.length > longestUrl) {
    throw new ApiError(
      'PAYLOAD_TOO_LARGE',
      `The arguments are larger than ${longestUrl} bytes. Send fewer or shorter values.`,
    );
  }
  return {
    method: route.method,
    url,
    headers: own.headers,
    textFrom: own.textFrom,
    body: sendsBody ? fields : undefined,
  };
}

/** What a tool takes beside the contract's own. */
function ownArgumentsOf(route: Endpoint, given: Arguments) {
  const key = shapeOfHeaders(route)[idempotencyKeyHeader];
  const headers: Record<string, string> = {};
  const names = new Set<string>();
  if (key instanceof z.ZodType && given[idempotencyArgument] !== undefined) {
    check(z.object({ [idempotencyArgument]: key }), { [idempotencyArgument]: given[idempotencyArgument] });
    headers[idempotencyKeyHeader] = String(given[idempotencyArgument]);
    names.add(idempotencyArgument);
  }
  if (route.method === 'GET' && given[textFromArgument] !== undefined) {
    check(z.object({ [textFromArgument]: z.int().min(0) }), { [textFromArgument]: given[textFromArgument] });
    names.add(textFromArgument);
  }
  return { headers, names, textFrom: names.has(textFromArgument) ? Number(given[textFromArgument]) : 0 };
}

function check(schema: z.ZodType, value: Arguments): void {
  const result = schema.safeParse(value);
  if (!result.success) throw validationError(detailsOf(result.error.issues, 'is not an argument of this tool'));
}

function pick(given: Arguments, isWanted: (name: string) => boolean): Arguments {
  return Object.fromEntries(Object.entries(given).filter(([name]) => isWanted(name)));
}

/** A list is repeated; what no query can hold is refused there as it would be in any other. */
function withQuery(path: string, fields: Arguments): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, typeof each === 'object' ? JSON.stringify(each) : String(each)]),
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs as [string, string][])}`;
}
