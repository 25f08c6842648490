import * as z from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { ErrorEnvelope } from '../errors.ts';
import { addSchema, metaOf, type Schemas, toSchema } from './schemas.ts';
import type { Content, Schema } from './types.ts';

/** Where an endpoint has a schema, as ts-rest names it. */
interface Place {
  schema: unknown;
  type: 'path' | 'query' | 'header' | 'body' | 'response';
  appRoute: unknown;
}

/** A schema with the examples that ts-rest puts beside it. */
type Described = Schema & { mediaExamples?: Content['application/json']['examples'] };

/** The JSON Schema of one place; null where there is none, and for errors, which are described by their codes. */
export function describeSchema({ schema, type, appRoute }: Place, schemas: Schemas): Described | null {
  if (!(schema instanceof z.ZodObject) || schema === ErrorEnvelope) return null;
  if (type === 'response') return describeEnvelope(schema, appRoute as Endpoint, schemas);
  // What a path takes beside ids is said in words.
  const described = toSchema(schema, 'input', type === 'path' ? {} : schemas);
  return type === 'body' ? { ...described, mediaExamples: { example: { value: metaOf(schema).example } } } : described;
}

/** The answer of a success: the resource as the request would leave it, in its envelope. */
function describeEnvelope(schema: z.ZodObject, route: Endpoint, schemas: Schemas): Described {
  const data = schema.shape.data as z.ZodType;
  const several = data instanceof z.ZodArray;
  const isList = 'meta' in schema.shape;
  const { id, example } = metaOf(several ? (data.element as z.ZodType) : data);
  const value = several
    ? { success: true, data: [example], ...(isList && { meta: { page: 1, perPage: 20, totalCount: 1 } }) }
    : { success: true, data: { ...(example as object), ...visible(changeOf(route), example as object) } };
  const name = `${id}${isList ? 'List' : several ? 's' : ''}Envelope`;
  const reference = addSchema(schemas, name, toSchema(schema, 'output', schemas));
  return { ...reference, mediaExamples: { success: { value } } };
}

/** What the example of the request changes in the example of the resource. */
function changeOf(route: Endpoint): object {
  if (route.method === 'DELETE') return { active: false };
  return 'body' in route && route.body instanceof z.ZodObject ? (metaOf(route.body).example as object) : {};
}

/** What was sent and is answered: not a secret. */
function visible(change: object, answered: object): object {
  return Object.fromEntries(Object.entries(change).filter(([field]) => field in answered));
}
