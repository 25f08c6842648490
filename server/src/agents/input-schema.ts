import { type Endpoint, takesBody } from '@itsm-api/contract';
import * as z from 'zod';

/** What a schema says to an agent: as little as it needs to fill it in. The API itself checks what it sends. */
export interface InputSchema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  format?: string;
  items?: InputSchema;
  properties?: Record<string, InputSchema>;
  required?: string[];
}

type Json = z.core.JSONSchema.JSONSchema;

/** The arguments of an endpoint, by the contract: those of its path, then its query or its body. */
export function argumentsOf(route: Endpoint): Record<string, z.ZodType> {
  const body = takesBody(route) ? route.body : undefined;
  return { ...shapeOf(route.pathParams), ...shapeOf(route.query), ...shapeOf(body) };
}

/** The fields of an object's schema; none where there is no schema. */
export function shapeOf(schema: unknown): Record<string, z.ZodType> {
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
}

/** The JSON Schema of an endpoint's arguments. */
export function inputSchemaOf(route: Endpoint): InputSchema & { type: 'object' } {
  const fields = Object.entries(argumentsOf(route));
  const required = fields.filter(([, schema]) => !schema.safeParse(undefined).success).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, smallSchemaOf(schema)])),
    ...(required.length > 0 && { required }),
  };
}

function smallSchemaOf(schema: z.ZodType): InputSchema {
  const json = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return small(json, json.$defs ?? {});
}

/** Without bounds, examples and names: what is out of bounds, the API says when it is sent. */
function small(json: Json, defs: Record<string, Json>): InputSchema {
  if (json.$ref !== undefined) {
    return small({ ...defs[json.$ref.replace('#/$defs/', '')], ...rest(json) }, defs);
  }
  if (json.anyOf !== undefined) return either(json, json.anyOf as Json[], defs);
  const { type, format } = json;
  return {
    ...(type !== undefined && { type }),
    ...(json.enum !== undefined ? { enum: json.enum } : described(json)),
    ...(format?.startsWith('date') && { format }),
    ...(json.items !== undefined && { items: withoutWords(small(json.items as Json, defs)) }),
    ...(json.properties !== undefined && propertiesOf(json, defs)),
  };
}

function propertiesOf({ properties = {}, required }: Json, defs: Record<string, Json>): InputSchema {
  const fields = Object.entries(properties).map(([name, field]) => [name, small(field as Json, defs)]);
  return { properties: Object.fromEntries(fields), ...(required !== undefined && { required }) };
}

/** A choice is the types of what may be chosen: `null` beside another type is the common one. */
function either(json: Json, choices: Json[], defs: Record<string, Json>): InputSchema {
  const parts = choices.map((choice) => small(choice, defs));
  const [first = {}, ...others] = parts.filter(({ type }) => type !== 'null');
  const isNullable = others.length < parts.length - 1;
  const merged: InputSchema = others.length === 0 ? first : described(json);
  const types = [...new Set(parts.flatMap(({ type = [] }) => type))];
  return {
    ...merged,
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...(isNullable && merged.enum !== undefined && { enum: [...merged.enum, null] }),
    ...(merged.enum === undefined && described(json)),
  } as InputSchema;
}

function described({ description }: Json): InputSchema {
  return description === undefined ? {} : { description: firstClause(description) };
}

function firstClause(description: string): string {
  return description.split(/(?<=\.) |; |: /)[0]?.replace(/\.$/, '') ?? '';
}

function withoutWords({ description, ...schema }: InputSchema): InputSchema {
  return schema;
}

function rest({ $ref, ...others }: Json): Json {
  return others;
}
