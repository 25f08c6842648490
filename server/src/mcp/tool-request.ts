import { type Endpoint, hasBody, idempotencyKeyHeader } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import * as z from 'zod';
import { ApiError } from '../shared/errors.ts';
import { detailsOf, validationError } from '../shared/validation.ts';
import { shapeOf } from './input-schema.ts';
import type { Arguments } from './tool-arguments.ts';
import { etagArgument, idempotencyArgument, reasonArgument, shapeOfHeaders, textFromArgument } from './tools.ts';

/** The API request for an MCP tool call. */
export interface ToolRequest {
  method: Endpoint['method'];
  /** The path and the query. */
  url: string;
  headers: Record<string, string>;
  body: Arguments | undefined;
  /** The offset, in UTF-16 code units, at which the result continues truncated texts. */
  textFrom: number;
}

/** The `etag` of a resource. A header can't contain other characters. */
const EtagArgument = z.string({ error: 'is required: the etag that you read' }).regex(/^[\x21-\x7e]+$/, {
  error: 'must be an etag, including its quotation marks',
});

/** The maximum size of the path and query in bytes. Requests over HTTP have the same limit. */
const maxUrlBytes = 16_384;

/**
 * Converts a tool call to an API request. Validates only the path parameters, because they determine the path. The
 * endpoint validates the query and the body.
 * @throws ApiError VALIDATION_ERROR, PAYLOAD_TOO_LARGE
 */
export function requestOf(route: Endpoint, args: Arguments, needsEtag = false): ToolRequest {
  const inPath = shapeOf(route.pathParams);
  const params = pick(args, (name) => Object.hasOwn(inPath, name));
  if (route.pathParams instanceof z.ZodType) check(route.pathParams, params);
  const others = pick(args, (name) => !Object.hasOwn(inPath, name));
  const own = parseOwnArguments(route, others, needsEtag);
  const fields = pick(others, (name) => !own.names.has(name));
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const sendsBody = hasBody(route);
  const url = sendsBody ? path : withQuery(path, fields);
  if (url.length > maxUrlBytes) {
    throw new ApiError(
      'PAYLOAD_TOO_LARGE',
      `The arguments are larger than ${maxUrlBytes} bytes. Send fewer or shorter values.`,
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

/** Converts a tool call to the request that proposes it. @throws ApiError as `requestOf` */
export function proposalOf(route: Endpoint, { [reasonArgument]: reason, ...args }: Arguments): ToolRequest {
  const inPath = shapeOf(route.pathParams);
  const params = pick(args, (name) => Object.hasOwn(inPath, name));
  const isKey = (name: string) => name === idempotencyArgument;
  return requestOf(contract.proposals.create, {
    ...pick(args, isKey),
    operation: route.metadata.proposable,
    ...(Object.keys(inPath).length > 0 && { params }),
    body: pick(args, (name) => !Object.hasOwn(inPath, name) && !isKey(name)),
    ...(reason !== undefined && { reason }),
  });
}

/** Parses the arguments that only MCP tools have: the idempotency key, the ETag and the text offset. */
function parseOwnArguments(route: Endpoint, args: Arguments, needsEtag: boolean) {
  const key = shapeOfHeaders(route)[idempotencyKeyHeader];
  const headers: Record<string, string> = {};
  const names = new Set<string>();
  if (key instanceof z.ZodType && args[idempotencyArgument] !== undefined) {
    check(z.object({ [idempotencyArgument]: key }), { [idempotencyArgument]: args[idempotencyArgument] });
    headers[idempotencyKeyHeader] = String(args[idempotencyArgument]);
    names.add(idempotencyArgument);
  }
  if (needsEtag) {
    check(z.object({ [etagArgument]: EtagArgument }), { [etagArgument]: args[etagArgument] });
    headers['if-match'] = String(args[etagArgument]);
    names.add(etagArgument);
  }
  if (route.method === 'GET' && args[textFromArgument] !== undefined) {
    check(z.object({ [textFromArgument]: z.int().min(0) }), { [textFromArgument]: args[textFromArgument] });
    names.add(textFromArgument);
  }
  return { headers, names, textFrom: names.has(textFromArgument) ? Number(args[textFromArgument]) : 0 };
}

export function check(schema: z.ZodType, value: Arguments): void {
  const result = schema.safeParse(value);
  if (!result.success) throw validationError(detailsOf(result.error.issues, 'is not an argument of this tool'));
}

function pick(args: Arguments, isIncluded: (name: string) => boolean): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([name]) => isIncluded(name)));
}

/**
 * Returns a path with a query. Arrays become repeated parameters, and objects become JSON, which the endpoint rejects.
 */
function withQuery(path: string, fields: Arguments): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, typeof each === 'object' ? JSON.stringify(each) : String(each)]),
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs as [string, string][])}`;
}
