import { type Endpoint, hasBody } from '@itsm-api/contract';
import * as z from 'zod';

/** What a schema says to an agent: as little as it needs to fill it in. The API itself checks what it sends. */
export interface InputSchema {
  type?: string;
  /** Types that it may have, each with what holds for it: some models know no list of types. */
  anyOf?: InputSchema[];
  description?: string;
  enum?: unknown[];
  format?: string;
  items?: InputSchema;
  properties?: Record<string, InputSchema>;
  required?: string[];
}

type Json = z.core.JSONSchema.JSONSchema;

/** What a schema stands in. */
interface Surroundings {
  defs: Record<string, Json>;
  /** Whether null says more than to leave a field out: it clears what is there. */
  clears: boolean;
}

/** The arguments of an endpoint, by the contract: those of its path, then its query or its body. */
export function argumentsOf(route: Endpoint): Record<string, z.ZodType> {
  const body = hasBody(route) ? route.body : undefined;
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
  const clears = route.method === 'PATCH';
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, smallSchemaOf(schema, clears)])),
    ...(required.length > 0 && { required }),
  };
}

function smallSchemaOf(schema: z.ZodType, clears: boolean): InputSchema {
  const json = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return small(json, { defs: json.$defs ?? {}, clears });
}

/** Without bounds, examples and names: what is out of bounds, the API says when it is sent. */
function small(json: Json, around: Surroundings): InputSchema {
  if (json.$ref !== undefined) {
    return small({ ...around.defs[json.$ref.replace('#/$defs/', '')], ...rest(json) }, around);
  }
  if (json.anyOf !== undefined) return either(json, json.anyOf as Json[], around);
  const { type, format } = json;
  return {
    ...(typeof type === 'string' && { type }),
    ...(json.enum !== undefined ? { enum: json.enum } : described(json)),
    ...(format?.startsWith('date') && { format }),
    ...(json.items !== undefined && { items: withoutWords(small(json.items as Json, around)) }),
    ...(json.properties !== undefined && propertiesOf(json, around)),
  };
}

function propertiesOf({ properties = {}, required }: Json, around: Surroundings): InputSchema {
  const fields = Object.entries(properties).map(([name, field]) => [name, small(field as Json, around)]);
  return { properties: Object.fromEntries(fields), ...(required !== undefined && { required }) };
}

/** A choice has the words of its own, or of the only one that isn't null. */
function either(json: Json, choices: Json[], around: Surroundings): InputSchema {
  const parts = choices.map((choice) => small(choice, around)).filter(({ type }) => around.clears || type !== 'null');
  const [first = {}, ...others] = parts.filter(({ type }) => type !== 'null');
  const { description = others.length === 0 ? first.description : undefined } = described(json);
  const words = first.enum !== undefined || description === undefined ? {} : { description };
  const [only, ...more] = parts.flatMap(({ anyOf, ...part }) => anyOf ?? [withoutWords(part)]);
  return more.length === 0 ? { ...only, ...words } : { ...words, anyOf: [only as InputSchema, ...more] };
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
