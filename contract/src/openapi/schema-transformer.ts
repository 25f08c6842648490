import * as z from 'zod';
import { type Endpoint, PageMeta } from '../endpoint.ts';
import { ErrorEnvelope } from '../errors.ts';
import { addSchema, metaOf, type Schemas, toSchema } from './schemas.ts';
import type { JsonContent, Schema } from './types.ts';

/** The data that ts-rest passes to the transformer: a schema, its endpoint, and where the endpoint uses the schema. */
interface SchemaContext {
  schema: unknown;
  type: 'path' | 'query' | 'header' | 'body' | 'response';
  appRoute: unknown;
}

/** A schema with its examples. ts-rest adds the examples to the media type. */
type DescribedSchema = Schema & { mediaExamples?: JsonContent['application/json']['examples'] };

/**
 * Returns the JSON Schema of a body, query, path, header or response. Returns null if the schema doesn't describe an
 * object. Also returns null for error responses, because `completed` describes them.
 */
export function describeSchema({ schema, type, appRoute }: SchemaContext, schemas: Schemas): DescribedSchema | null {
  const isDescribed = schema instanceof z.ZodObject || schema instanceof z.ZodDiscriminatedUnion;
  if (!isDescribed || schema === ErrorEnvelope) return null;
  if (type === 'response') return describeEnvelope(schema as z.ZodObject, appRoute as Endpoint, schemas);
  const described = toSchema(schema, 'input', schemas);
  return type === 'body' ? { ...described, mediaExamples: { example: { value: metaOf(schema).example } } } : described;
}

const onePage: PageMeta = { page: 1, perPage: 20, totalCount: 1 };

/** Returns the schema of a successful response. The example shows the resource after the example request. */
function describeEnvelope(schema: z.ZodObject, route: Endpoint, schemas: Schemas): DescribedSchema {
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

/** Returns the component name and the description of a response schema. */
function envelopeOf(id: string, meta: z.ZodType | null | undefined): [name: string, description: string] {
  if (meta === undefined) return [`${id}Envelope`, `One \`${id}\`.`];
  if (meta === null) return [`${id}sEnvelope`, `One \`${id}\` for each item.`];
  if (meta === PageMeta) return [`${id}ListEnvelope`, `A page of \`${id}\` items.`];
  return [`${id}ChangesEnvelope`, `A page of changed \`${id}\` items.`];
}

/** Returns the fields that the example request changes, with their new values. */
function changeOf(route: Endpoint): object {
  if (route.method === 'DELETE') return { active: false };
  return 'body' in route && route.body instanceof z.ZodObject ? (metaOf(route.body).example as object) : {};
}

/** Removes the changed fields that the response doesn't contain, such as the signing secret. */
function visible(change: object, responseExample: object): object {
  return Object.fromEntries(Object.entries(change).filter(([field]) => field in responseExample));
}
