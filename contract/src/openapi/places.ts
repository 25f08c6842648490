import * as z from 'zod';
import { type Endpoint, PageMeta } from '../endpoint.ts';
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
  const described = toSchema(schema, 'input', schemas);
  return type === 'body' ? { ...described, mediaExamples: { example: { value: metaOf(schema).example } } } : described;
}

const onePage: PageMeta = { page: 1, perPage: 20, totalCount: 1 };

/** The answer of a success: the resource as the request would leave it, in its envelope. */
function describeEnvelope(schema: z.ZodObject, route: Endpoint, schemas: Schemas): Described {
  const data = schema.shape.data as z.ZodType;
  const isArray = data instanceof z.ZodArray;
  const { id, example } = metaOf(isArray ? (data.element as z.ZodType) : data);
  const meta = schema.shape.meta as z.ZodType | undefined;
  const value = isArray
    ? { success: true, data: [example], ...(meta && { meta: meta === PageMeta ? onePage : metaOf(meta).example }) }
    : { success: true, data: { ...(example as object), ...visible(changeOf(route), example as object) } };
  const [name, description] = envelopeOf(id, isArray ? (meta ?? null) : undefined);
  const reference = addSchema(schemas, name, { ...toSchema(schema, 'output', schemas), description });
  return { ...reference, mediaExamples: { success: { value } } };
}

/** What the envelope of a resource is called, and what it is: of one; of several, with their meta or without any. */
function envelopeOf(id: string, meta: z.ZodType | null | undefined): [name: string, description: string] {
  if (meta === undefined) return [`${id}Envelope`, `One \`${id}\`.`];
  if (meta === null) return [`${id}sEnvelope`, `A \`${id}\` for each item.`];
  if (meta === PageMeta) return [`${id}ListEnvelope`, `A page of a list, of \`${id}\`.`];
  return [`${id}ChangesEnvelope`, `A page of what has changed, of \`${id}\`.`];
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
