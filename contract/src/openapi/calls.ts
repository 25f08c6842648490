import * as z from 'zod';
import { ChangesMeta } from '../changes.ts';
import { type Endpoint, FileContent, hasFileResponse } from '../endpoint.ts';
import { type Resources, resources } from '../registry.ts';
import { FileName } from '../resources/attachments.ts';
import { literal, pythonLiteral } from './literal.ts';
import { metaOf } from './schemas.ts';

/** A description of the client method of an endpoint. */
export interface Call {
  /**
   * The schema of the resource that the method returns. For a bulk request, the schema of the resource in a successful
   * result.
   */
  row: z.ZodType;
  /**
   * The content of `data` in the response: one row, a page of rows, changed rows, or one result per item of a bulk
   * request. `file` is a response without `data`, whose body is a file.
   */
  kind: 'one' | 'list' | 'changes' | 'answers' | 'file';
  /**
   * For a bulk request, the name of the body field that contains the items, and the schema of one item. Otherwise,
   * undefined.
   */
  items: [field: string, item: z.ZodType] | undefined;
  params: [name: string, schema: z.ZodType][];
  body: z.ZodType | undefined;
}

/** Returns the description of the client method of an endpoint. */
export function callOf(route: Endpoint): Call {
  const success = Object.entries(route.responses).find(([status]) => Number(status) < 300)?.[1];
  const params = route.pathParams instanceof z.ZodObject ? Object.entries(route.pathParams.shape) : [];
  if (hasFileResponse(route)) {
    return { row: FileContent, kind: 'file', items: undefined, params, body: undefined };
  }
  const { data, meta } = (success as z.ZodObject<{ data: z.ZodType; meta?: z.ZodType }>).shape;
  const isArray = data instanceof z.ZodArray;
  const kindOfMany = meta === undefined ? 'answers' : meta === ChangesMeta ? 'changes' : 'list';
  const kind = isArray ? kindOfMany : 'one';
  const row = (isArray ? data.element : data) as z.ZodType;
  const body = 'body' in route && route.body instanceof z.ZodType ? route.body : undefined;
  return {
    row: kind === 'answers' ? getResultRow(row) : row,
    kind,
    items: kind === 'answers' ? itemsOf(body as z.ZodObject) : undefined,
    params,
    body,
  };
}

/** Returns the schema of the resource in a successful result of a bulk request. */
function getResultRow(result: z.ZodType): z.ZodType {
  const [done] = (result as z.ZodUnion<[z.ZodObject<{ data: z.ZodType }>]>).options;
  return done.shape.data;
}

/**
 * Returns the name of the body field that contains the bulk items, and the schema of one item without its `catch`
 * wrapper.
 */
function itemsOf(body: z.ZodObject): [string, z.ZodType] {
  const [[field, items] = []] = Object.entries(
    body.shape as Record<string, z.ZodPipe<z.ZodType, z.ZodArray<z.ZodCatch>>>,
  );
  if (field === undefined || items === undefined) throw new Error('A bulk body has no items.');
  return [field, items.out.element.def.innerType as z.ZodType];
}

/** Returns the resource that a path parameter identifies, such as `requestForms` for `:key` in `/request-forms/:key`. */
export function resourceIn(path: string, parameter: string): string {
  const parts = path.split('/');
  const name = parts[parts.indexOf(`:${parameter}`) - 1] ?? '';
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns true if the ticket in a path must be a CHANGE, because only a CHANGE can have approvals. */
export function takesChange(path: string): boolean {
  return path.endsWith('/tickets/:id/approvals');
}

/** Returns the id or key that examples use for a path parameter: the one in the example of the resource. */
export function exampleIdOf(path: string, parameter: string): number | string {
  const routes: Endpoint[] = Object.values(resources[resourceIn(path, parameter) as keyof Resources] ?? {});
  const route = takesChange(path)
    ? resources.approvals.get
    : routes.find(({ path }) => path.endsWith(`/:${parameter}`));
  if (route === undefined) throw new Error(`No endpoint returns the resource with the id in ${path}.`);
  const { ticketId, ...ids } = metaOf(callOf(route).row).example as { id: number; key: string; ticketId: number };
  return takesChange(path) ? ticketId : ids[parameter === 'key' ? 'key' : 'id'];
}

/** A sample call of a client method, with example values from the contract. */
export interface ExampleCall {
  /** The source code of the call, such as `client.tickets.get(38)`. */
  source: string;
  /** The name of the variable for the result of the call. For lists and change feeds, the variable contains one row. */
  variable: string;
  /** Whether a program iterates over the result with `for await`. */
  isWalked: boolean;
}

/** A method of the client, and its endpoint. */
interface Method {
  resource: string;
  name: string;
  route: Endpoint;
}

/**
 * Returns a sample call of an endpoint in TypeScript.
 * @param width the maximum length of a value in characters; a longer value is split into several lines
 */
export function exampleCall({ resource, name, route }: Method, width?: number): ExampleCall {
  const { ids, query, body, isUpload, result } = exampleArguments(route);
  const values = [...ids, ...(query === undefined ? [] : [query]), ...(body === undefined ? [] : [body])];
  const printed = values.map((value) => literal(value, width));
  if (isUpload) printed.push("new File(['Connection lost.'], 'vpn-client.log', { type: 'text/plain' })");
  const variable = result === 'result' ? '{ done, failed }' : result;
  return { source: `client.${resource}.${name}(${printed.join(', ')})`, variable, isWalked: isWalked(route) };
}

/** Returns a sample call of an endpoint in Python. */
export function pythonExampleCall({ resource, name, route }: Method, width?: number): ExampleCall {
  const { ids, query = {}, body, isUpload, result } = exampleArguments(route);
  const values = body === undefined ? ids : [...ids, body];
  const printed = values.map((value) => pythonLiteral(value, width));
  for (const [parameter, value] of Object.entries(query))
    printed.push(`${snakeCase(parameter)}=${pythonLiteral(value)}`);
  if (isUpload) printed.push('b"Connection lost."', 'name="vpn-client.log"', 'content_type="text/plain"');
  const source = `client.${snakeCase(resource)}.${snakeCase(name)}(${printed.join(', ')})`;
  return { source, variable: snakeCase(result), isWalked: isWalked(route) };
}

function exampleArguments(route: Endpoint) {
  const { row, kind, params, body, items } = callOf(route);
  const isUpload = route.metadata.binary === 'request';
  const example = exampleBody(route) as Record<string, unknown> | undefined;
  const { id = '' } = row.meta() ?? {};
  return {
    ids: params.map(([param]) => exampleIdOf(route.path, param)) as unknown[],
    query: isUpload ? undefined : exampleQuery(route),
    body: body === undefined || items === undefined ? body && example : example?.[items[0]],
    isUpload,
    /** The name of the result. */
    result: kind === 'file' ? 'file' : kind === 'answers' ? 'result' : id.charAt(0).toLowerCase() + id.slice(1),
  };
}

function isWalked(route: Endpoint): boolean {
  const { kind } = callOf(route);
  return kind === 'list' || kind === 'changes';
}

/** The keywords of Python that could be names of the API. */
const pythonKeywords = ['and', 'as', 'class', 'from', 'global', 'import', 'in', 'is', 'not', 'or', 'pass', 'with'];

/** Converts a name to the form of names in Python, such as `custom_fields`. A keyword gets an underscore at the end. */
export function snakeCase(name: string): string {
  const snake = name.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  return pythonKeywords.includes(snake) ? `${snake}_` : snake;
}

/** Returns the example request body of an endpoint, or undefined if the endpoint has none. */
export function exampleBody(route: Endpoint): unknown {
  return callOf(route).body?.meta()?.example;
}

/**
 * Returns an example query of an endpoint. For a change feed, the query contains `since`. For an upload, it contains
 * the name of the file. For other endpoints, it contains the first enum filter with its first value. Returns undefined
 * if the endpoint has no enum filter.
 */
export function exampleQuery(route: Endpoint): Record<string, string> | undefined {
  if (callOf(route).kind === 'changes') return { since: '2026-11-20T10:00:00Z' };
  if (route.metadata.binary === 'request') return { name: String(FileName.meta()?.example) };
  const filters = route.query instanceof z.ZodObject ? route.query.shape : {};
  for (const [name, schema] of Object.entries(filters)) {
    const values = withoutWrappers(schema as z.ZodType);
    const filtered = values instanceof z.ZodPipe ? values.out : undefined;
    if (filtered instanceof z.ZodArray && filtered.element instanceof z.ZodEnum) {
      return { [name]: String(filtered.element.options[0]) };
    }
  }
  return undefined;
}

/** Removes the `optional`, `nullable` and `default` wrappers from a schema. */
function withoutWrappers(schema: z.ZodType): z.ZodType {
  const inner = 'innerType' in schema.def ? (schema.def.innerType as z.ZodType) : undefined;
  return inner === undefined ? schema : withoutWrappers(inner);
}
