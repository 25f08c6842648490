import * as z from 'zod';
import type { Schema } from './types.ts';

/** The named schemas of the document, filled as places are described that use them. */
export type Schemas = Record<string, Schema>;

type Io = 'input' | 'output';

const componentsBelow = '#/components/schemas/';

/** The schema of one place; what the contract gives an id becomes a component and is referred to. */
export function toSchema(schema: z.ZodType, io: Io, schemas: Schemas): Schema {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: schema }), {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => adapt(jsonSchema, io),
  });
  for (const [name, definition] of Object.entries($defs)) addSchema(schemas, name, tidy(definition, schemas));
  return tidy(properties?.root, schemas);
}

/** Adds a component and refers to it. @throws when another schema has the name */
export function addSchema(schemas: Schemas, name: string, schema: Schema): Schema {
  if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema)) {
    throw new Error(`Two schemas are called ${name}; give one another id.`);
  }
  schemas[name] = schema;
  return { $ref: `${componentsBelow}${name}` };
}

/** The name of the component that a reference leads to. */
export function componentNamed($ref: string): string {
  return $ref.slice(componentsBelow.length);
}

/** The id, the words and the example that the contract gives a schema. */
export function metaOf(schema: z.ZodType): { id: string; description: string; example: unknown } {
  const { id, description, example } = z.globalRegistry.get(schema) ?? {};
  if (id === undefined || description === undefined) throw new Error('A body or an answer lacks an id or words.');
  return { id, description, example };
}

/** Takes out of zod's JSON Schema what says nothing to a reader, and says the rest as OpenAPI 3.1 does. */
function adapt(schema: z.core.JSONSchema.BaseSchema, io: Io): void {
  delete schema.id;
  // An answer may get new fields; a request may not have unknown ones. What is known of new ones isn't said: generators
  // make types of it that don't compile, since the known fields aren't of the same type.
  if (io === 'output' && (schema.properties ?? schema.$ref) !== undefined) delete schema.additionalProperties;
  if ('example' in schema) {
    // A named schema that is said in other words has its example already.
    if (schema.$ref === undefined) schema.examples = [schema.example];
    delete schema.example;
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The format says it; the pattern is zod's way to check it.
  if (schema.format !== undefined) delete schema.pattern;
}

/** References into the components, and what may be null without a choice that has no name. */
function tidy(value: unknown, schemas: Schemas): Schema {
  return mapSchema(value, (schema) => {
    if (typeof schema.$ref === 'string') schema.$ref = schema.$ref.replace('#/$defs/', componentsBelow);
    return nullable(flattened(schema), schemas);
  }) as Schema;
}

/** A choice within a choice is one choice. */
function flattened(schema: Schema): Schema {
  if (!Array.isArray(schema.anyOf)) return schema;
  const choices = schema.anyOf.flatMap((each: Schema) => {
    return Array.isArray(each.anyOf) && Object.keys(each).length === 1 ? each.anyOf : [each];
  });
  return { ...schema, anyOf: choices };
}

/** What may be null: of a named schema `Nullable<Name>`, of any other its type with null among the types. */
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

/** A copy of a JSON value in which every object went through `change`, the inner ones first. */
export function mapSchema(value: unknown, change: (object: Schema) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapSchema(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapSchema(inner, change)])));
}
