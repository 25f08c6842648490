import {
  type Endpoint,
  hasBody,
  isImportField,
  listQuery,
  placesIn,
  type ReferencePath,
  type ResourceKind,
  resourceKindOf,
} from '@itsm-api/contract';
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

/** What a tool converts an argument to before it calls the endpoint: an id of a resource, or a timestamp. */
export type ArgumentKind = ResourceKind | 'time';

export type ArgumentPlace = ReferencePath<ArgumentKind>;

/** Returns the places of ids and timestamps in the arguments of an endpoint. */
export function findPlaces(route: Endpoint): ArgumentPlace[] {
  return placesIn(z.object(argumentsOf(route)), (schema) =>
    schema instanceof z.ZodISODateTime ? 'time' : resourceKindOf(schema),
  );
}

/** The descriptions of ids for which a tool accepts names or numbers. The names of the arguments say whose ids they are. */
const descriptions: Record<ResourceKind, string> = {
  ticket: 'Id or number such as INC-17',
  user: 'Id, email address or unique name',
  team: 'Id or name',
  category: 'Id or unique name',
  project: 'Id, key or unique name',
  asset: 'Id, unique name, or asset tag with a letter',
};

/** Returns the fields of an object schema, by name. Returns an empty object if `schema` isn't an object schema. */
export function shapeOf(schema: unknown): Record<string, z.ZodType> {
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
}

/** The fields that tool definitions omit, because agents rarely need them. The API still accepts these fields. */
const omitted = new Set([
  'externalId',
  'formKey',
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

/** The arguments of every list, which need no description. */
const PagingQuery = listQuery({});

/** Returns the JSON Schema for the arguments of an endpoint, without fields that only programs need. */
export function inputSchemaOf(route: Endpoint): InputSchema & { type: 'object' } {
  const all = argumentsOf(route);
  const fields = Object.entries(all).filter(([name, schema]) => !isOmitted(name, all) && !isImportField(schema));
  const required = fields.filter(([, schema]) => !schema.safeParse(undefined).success).map(([name]) => name);
  const clearsWithNull = route.method === 'PATCH';
  const schema: InputSchema = {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(([name, schema]) => {
        const small = toSmallSchema(schema, clearsWithNull);
        return [name, name in PagingQuery.shape ? withoutDescription(small) : small];
      }),
    ),
    ...(required.length > 0 && { required }),
  };
  const described = findPlaces(route).reduce(
    (changed, { kind, path }) => (kind === 'time' ? changed : acceptNames(changed, path, descriptions[kind])),
    schema,
  );
  return { ...described, type: 'object' };
}

/** Returns a copy of a schema that accepts text at a path to an id. The fields of list items have no descriptions. */
function acceptNames(schema: InputSchema, [field, ...rest]: readonly string[], description?: string): InputSchema {
  const text = description === undefined ? {} : { description };
  if (field === '*') {
    const { items = {}, ...list } = schema;
    return { ...list, ...(rest.length === 0 && text), items: acceptNames(items, rest) };
  }
  if (field !== undefined) {
    const inner = schema.properties?.[field];
    if (inner === undefined) return schema;
    return { ...schema, properties: { ...schema.properties, [field]: acceptNames(inner, rest, description) } };
  }
  const { description: _, anyOf = [{ type: schema.type as string }] } = schema;
  const [id, ...others] = anyOf.filter((choice) => choice.enum !== undefined || choice.type !== 'string');
  if (id?.type !== 'integer') return { ...schema, ...text };
  return { ...text, anyOf: [id, { type: 'string' }, ...others] };
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
    ...(format === 'date' && { format }),
    // A tool accepts dates without a time, which the format `date-time` would exclude.
    ...(format === 'date-time' && {
      description: `${firstClause(json.description ?? 'A time')}, as a date or timestamp`,
    }),
    ...(json.items !== undefined && { items: withoutDescription(simplify(json.items as Json, context)) }),
    ...(json.properties !== undefined && propertiesOf(json, context)),
  };
}

/** Returns the fields of list items without descriptions, because another tool describes the same fields. */
function propertiesOf({ properties = {}, required }: Json, context: SchemaContext): InputSchema {
  const fields = Object.entries(properties)
    .filter(([name]) => !isOmitted(name, properties))
    .map(([name, field]) => [name, withoutDescription(simplify(field as Json, context))]);
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
