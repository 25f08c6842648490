import * as z from 'zod';
import { ChangesMeta } from '../changes.ts';
import type { Endpoint } from '../endpoint.ts';
import { literal } from './literal.ts';
import { exampleIdOf } from './parameters.ts';

/** An endpoint as the client has it. */
export interface Call {
  /** The schema of the resource that is answered; of a bulk request, that of an item that was done. */
  row: z.ZodType;
  /** What `data` holds: one row, those of a page, what has changed, or an answer for each item of a bulk request. */
  kind: 'one' | 'list' | 'changes' | 'answers';
  /** The field of a bulk request that holds its items, and the schema of one. */
  items: [field: string, item: z.ZodType] | undefined;
  params: [name: string, schema: z.ZodType][];
  body: z.ZodType | undefined;
}

/** What the client makes of an endpoint. */
export function callOf(route: Endpoint): Call {
  const success = Object.entries(route.responses).find(([status]) => Number(status) < 300)?.[1];
  const { data, meta } = (success as z.ZodObject<{ data: z.ZodType; meta?: z.ZodType }>).shape;
  const isArray = data instanceof z.ZodArray;
  const kindOfMany = meta === undefined ? 'answers' : meta === ChangesMeta ? 'changes' : 'list';
  const kind = isArray ? kindOfMany : 'one';
  const row = (isArray ? data.element : data) as z.ZodType;
  const body = 'body' in route && route.body instanceof z.ZodType ? route.body : undefined;
  return {
    row: kind === 'answers' ? doneOf(row) : row,
    kind,
    items: kind === 'answers' ? itemsOf(body as z.ZodObject) : undefined,
    params: route.pathParams instanceof z.ZodObject ? Object.entries(route.pathParams.shape) : [],
    body,
  };
}

/** The row that a bulk request answers for an item that was done. */
function doneOf(answer: z.ZodType): z.ZodType {
  const [done] = (answer as z.ZodUnion<[z.ZodObject<{ data: z.ZodType }>]>).options;
  return done.shape.data;
}

/** The one field of a bulk body, and what stands in it behind the preprocessing and `catch` that check items one by one. */
function itemsOf(body: z.ZodObject): [string, z.ZodType] {
  const [[field, items] = []] = Object.entries(
    body.shape as Record<string, z.ZodPipe<z.ZodType, z.ZodArray<z.ZodCatch>>>,
  );
  if (field === undefined || items === undefined) throw new Error('A bulk body has no items.');
  return [field, items.out.element.def.innerType as z.ZodType];
}

/** A call of the client with the examples of the contract. */
export interface ExampleCall {
  /** `client.tickets.get(38)` */
  source: string;
  /** What a program calls its answer: of a list and of changes, one row. */
  variable: string;
  /** Whether it is walked through with `for await`. */
  isWalked: boolean;
}

/** @param width how many characters a value in it may have on one line */
export function exampleCall(
  { resource, name, route }: { resource: string; name: string; route: Endpoint },
  width?: number,
): ExampleCall {
  const { row, kind, params, body, items } = callOf(route);
  const values: unknown[] = params.map(([param]) => exampleIdOf(route.path, param));
  const query = exampleQuery(route);
  if (query !== undefined) values.push(query);
  const example = exampleBody(route) as Record<string, unknown> | undefined;
  if (body !== undefined && example !== undefined) values.push(items === undefined ? example : example[items[0]]);
  const { id = '' } = row.meta() ?? {};
  return {
    source: `client.${resource}.${name}(${values.map((value) => literal(value, width)).join(', ')})`,
    variable: kind === 'answers' ? '{ done, failed }' : id.charAt(0).toLowerCase() + id.slice(1),
    isWalked: kind === 'list' || kind === 'changes',
  };
}

/** The example that the contract gives a body; undefined where there is none. */
export function exampleBody(route: Endpoint): unknown {
  return callOf(route).body?.meta()?.example;
}

/** What an example asks with: the first filter that takes an enum, with the first of its values; or since when. */
export function exampleQuery(route: Endpoint): Record<string, string> | undefined {
  if (callOf(route).kind === 'changes') return { since: '2026-11-20T10:00:00Z' };
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

/** Without `optional`, `nullable` and `default` around it. */
function withoutWrappers(schema: z.ZodType): z.ZodType {
  const inner = 'innerType' in schema.def ? (schema.def.innerType as z.ZodType) : undefined;
  return inner === undefined ? schema : withoutWrappers(inner);
}
