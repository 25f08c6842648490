import { type Endpoint, hasBody, isImportField } from '@itsm-api/contract';
import * as z from 'zod';

/**
 * A JSON Schema that contains only the keywords that an agent needs to write arguments. The API validates the values.
 */
export interface InputSchema {
  type?: string;
  /** Alternative types. They aren't listed in `type`, because some models don't support several values in `type`. */
  anyOf?: InputSchema[];
  description?: string;
  enum?: unknown[];
  format?: string;
  items?: InputSchema;
  properties?: Record<string, InputSchema>;
  required?: string[];
}

type Json = z.core.JSONSchema.JSONSchema;

/** The data that `simplify` needs in addition to the schema itself. */
interface SchemaContext {
  defs: Record<string, Json>;
  /** Whether null clears a field. If not, the simplified schema omits the type null. */
  clearsWithNull: boolean;
}

/** Returns the arguments of an endpoint: its path parameters, query parameters and body fields. */
export function argumentsOf(route: Endpoint): Record<string, z.ZodType> {
  const body = hasBody(route) ? route.body : undefined;
  return { ...shapeOf(route.pathParams), ...shapeOf(route.query), ...shapeOf(body) };
}

/** Returns the fields of an object schema, by name. Returns an empty object if `schema` isn't an object schema. */
export function shapeOf(schema: unknown): Record<string, z.ZodType> {
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
}

/** The fields that tool definitions omit, because agents rarely need them. The API still accepts these fields. */
const omitted = new Set([
  'externalId',
  'ifMatch',
  'dueSince',
  'dueBefore',
  'plannedStartAt',
  'plannedEndAt',
  'plannedSince',
  'plannedBefore',
  'approvalStatus',
  'attachmentIds',
]);

/**
 * Returns true if tool definitions omit a field. Agents add and remove tags, but don't replace them. Filters by custom
 * fields would need the fields of the workspace.
 */
function isOmitted(name: string, fields: object): boolean {
  return (
    omitted.has(name) || (name === 'tags' && 'addTags' in fields) || (name === 'customFields' && 'perPage' in fields)
  );
}

/** Returns the JSON Schema for the arguments of an endpoint, without fields that only programs need. */
export function inputSchemaOf(route: Endpoint): InputSchema & { type: 'object' } {
  const all = argumentsOf(route);
  const fields = Object.entries(all).filter(([name, schema]) => !isOmitted(name, all) && !isImportField(schema));
  const required = fields.filter(([, schema]) => !schema.safeParse(undefined).success).map(([name]) => name);
  const clearsWithNull = route.method === 'PATCH';
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, toSmallSchema(schema, clearsWithNull)])),
    ...(required.length > 0 && { required }),
  };
}

function toSmallSchema(schema: z.ZodType, clearsWithNull: boolean): InputSchema {
  const json = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return simplify(json, { defs: json.$defs ?? {}, clearsWithNull });
}

/** Simplifies a JSON Schema: removes limits, examples and names. The API still validates the values. */
function simplify(json: Json, context: SchemaContext): InputSchema {
  if (json.$ref !== undefined) {
    return simplify({ ...context.defs[json.$ref.replace('#/$defs/', '')], ...withoutRef(json) }, context);
  }
  if (json.anyOf !== undefined) return simplifyUnion(json, json.anyOf as Json[], context);
  const { type, format } = json;
  return {
    ...(typeof type === 'string' && { type }),
    ...(json.enum !== undefined ? { enum: json.enum } : toDescription(json)),
    ...(format?.startsWith('date') && { format }),
    ...(json.items !== undefined && { items: withoutDescription(simplify(json.items as Json, context)) }),
    ...(json.properties !== undefined && propertiesOf(json, context)),
  };
}

function propertiesOf({ properties = {}, required }: Json, context: SchemaContext): InputSchema {
  const fields = Object.entries(properties)
    .filter(([name]) => !isOmitted(name, properties))
    .map(([name, field]) => [name, simplify(field as Json, context)]);
  return { properties: Object.fromEntries(fields), ...(required !== undefined && { required }) };
}

/**
 * Simplifies a union schema. If the union has no description and contains only one type besides null, uses the
 * description of that type.
 */
function simplifyUnion(json: Json, choices: Json[], context: SchemaContext): InputSchema {
  const parts = choices
    .map((choice) => simplify(choice, context))
    .filter(({ type }) => context.clearsWithNull || type !== 'null');
  const [first = {}, ...others] = parts.filter(({ type }) => type !== 'null');
  const { description = others.length === 0 ? first.description : undefined } = toDescription(json);
  const text = first.enum !== undefined || description === undefined ? {} : { description };
  const [only, ...more] = parts.flatMap(({ anyOf, ...part }) => anyOf ?? [withoutDescription(part)]);
  return more.length === 0 ? { ...only, ...text } : { ...text, anyOf: [only as InputSchema, ...more] };
}

function toDescription({ description }: Json): InputSchema {
  return description === undefined ? {} : { description: firstClause(description) };
}

/** Returns the first clause of a description, without its words about null, which the schema already describes. */
function firstClause(description: string): string {
  return description.split(/(?<=\.) |; |: |, or null\b/)[0]?.replace(/\.$/, '') ?? '';
}

function withoutDescription({ description, ...schema }: InputSchema): InputSchema {
  return schema;
}

function withoutRef({ $ref, ...others }: Json): Json {
  return others;
}
