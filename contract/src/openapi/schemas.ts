import * as z from 'zod';
import { maxInt32 } from '../fields.ts';
import type { Schema } from './types.ts';

/** The named schemas of the OpenAPI document. `toSchema` adds each named schema that it finds. */
export type Schemas = Record<string, Schema>;

type Io = 'input' | 'output';

const componentsBelow = '#/components/schemas/';

/**
 * Converts a zod schema to JSON Schema. Schemas with an id become components, and the result contains references to
 * them.
 */
export function toSchema(schema: z.ZodType, io: Io, schemas: Schemas): Schema {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: schema }), {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      adapt(jsonSchema, io);
      if (zodSchema instanceof z.ZodDiscriminatedUnion) jsonSchema.discriminator = discriminatorOf(zodSchema);
    },
  });
  for (const [name, definition] of Object.entries($defs)) addSchema(schemas, name, tidy(definition, schemas));
  return tidy(properties?.root, schemas);
}

/** Adds a named schema to the components and returns a reference to it. @throws if another schema has the same name */
export function addSchema(schemas: Schemas, name: string, schema: Schema): Schema {
  if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema)) {
    throw new Error(`Two different schemas are called ${name}. Give one of them another id.`);
  }
  schemas[name] = schema;
  return { $ref: `${componentsBelow}${name}` };
}

/** Returns the name of the component that a reference points to. */
export function componentNamed($ref: string): string {
  return $ref.slice(componentsBelow.length);
}

/** Returns the id, the description and the example of the schema of a body or a response. @throws if one is missing */
export function metaOf(schema: z.ZodType): { id: string; description: string; example: unknown } {
  const { id, description, example } = z.globalRegistry.get(schema) ?? {};
  if (id === undefined || description === undefined || example === undefined) {
    const name = id ?? `{ ${Object.keys(schema instanceof z.ZodObject ? schema.shape : {}).join(', ')} }`;
    throw new Error(`The schema ${name} lacks an id, a description or an example. Add it with \`meta\`.`);
  }
  return { id, description, example };
}

/** Converts a JSON Schema from zod to OpenAPI 3.1. Removes details that don't help readers. */
function adapt(schema: z.core.JSONSchema.BaseSchema, io: Io): void {
  delete schema.id;
  // Newer servers can add fields to responses, but the document doesn't declare a type for added fields. This type
  // would contradict the types of the known fields, so generated clients wouldn't compile.
  if (io === 'output' && (schema.properties ?? schema.$ref) !== undefined) delete schema.additionalProperties;
  if ('example' in schema) {
    // A reference needs no example, because the named schema already has one.
    if (schema.$ref === undefined) schema.examples = [schema.example];
    delete schema.example;
  }
  // Generators choose the type of an integer by its format.
  if (schema.type === 'integer' && Number(schema.maximum) <= maxInt32) schema.format ??= 'int32';
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The format already describes the value, and the pattern is an implementation detail of zod.
  if (schema.format !== undefined) delete schema.pattern;
}

/** Returns the discriminator of a union of named schemas, with the schema of each value for code generators. */
function discriminatorOf({ def: { discriminator, options } }: z.ZodDiscriminatedUnion) {
  const mapping = options.map((option) => {
    const { shape } = option as z.ZodObject<Record<string, z.ZodLiteral<string>>>;
    return [shape[discriminator]?.value, `${componentsBelow}${(option as z.ZodObject).meta()?.id}`];
  });
  return { propertyName: discriminator, mapping: Object.fromEntries(mapping) };
}

/**
 * Changes references so that they point to the components. Converts a choice between a schema and null to a nullable
 * schema.
 */
function tidy(value: unknown, schemas: Schemas): Schema {
  return mapSchema(value, (schema) => {
    if (typeof schema.$ref === 'string') schema.$ref = schema.$ref.replace('#/$defs/', componentsBelow);
    return nullable(flattened(schema), schemas);
  }) as Schema;
}

/** Merges nested `anyOf` lists into one list. */
function flattened(schema: Schema): Schema {
  if (!Array.isArray(schema.anyOf)) return schema;
  const choices = schema.anyOf.flatMap((each: Schema) => {
    return Array.isArray(each.anyOf) && Object.keys(each).length === 1 ? each.anyOf : [each];
  });
  return { ...schema, anyOf: choices };
}

/**
 * Converts a choice between a schema and null. If the schema has a name, the result is a reference to the component
 * `Nullable<Name>`. If it has a single type, the result is a schema whose type list includes null. Returns other
 * schemas unchanged.
 */
function nullable(schema: Schema, schemas: Schemas): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== 'null') return schema;
  const { $ref, ...inline } = anyOf[0] as Schema;
  if (typeof $ref === 'string') {
    const name = componentNamed($ref);
    const either = { description: `\`${name}\`, or null.`, anyOf: [{ $ref }, { type: 'null' }] };
    return { ...addSchema(schemas, `Nullable${name}`, either), ...inline, ...rest };
  }
  return typeof inline.type === 'string' ? { ...inline, ...rest, type: [inline.type, 'null'] } : schema;
}

/** Copies a JSON value. Replaces every object with the result of `change`, starting with the innermost objects. */
export function mapSchema(value: unknown, change: (object: Schema) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapSchema(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapSchema(inner, change)])));
}
