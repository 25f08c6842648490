import * as z from 'zod';
import type { Schema } from './types.ts';

/** The named schemas of the document, filled as places are described that use them. */
export type Schemas = Record<string, Schema>;

type Io = 'input' | 'output';

/** The schema of one place; what the contract gives an id becomes a component and is referred to. */
export function toSchema(schema: z.ZodType, io: Io, schemas: Schemas): Schema {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: schema }), {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => adapt(jsonSchema, io),
  });
  const definitions = $defs as Schemas;
  for (const [name, definition] of Object.entries(definitions)) {
    addSchema(schemas, name, tidy(definition, definitions));
  }
  return tidy(properties?.root, definitions);
}

/** Adds a component and refers to it. @throws when another schema has the name */
export function addSchema(schemas: Schemas, name: string, schema: Schema): Schema {
  if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema)) {
    throw new Error(`Two schemas are called ${name}; give one another id.`);
  }
  schemas[name] = schema;
  return { $ref: `#/components/schemas/${name}` };
}

/** The id and the example that the contract gives a schema. */
export function metaOf(schema: z.ZodType): { id: string; example: unknown } {
  const { id, example } = z.globalRegistry.get(schema) ?? {};
  if (id === undefined) throw new Error('A body or an answer has no id in the contract.');
  return { id, example };
}

/** Takes out of zod's JSON Schema what says nothing to a reader, and says the rest as OpenAPI 3.1 does. */
function adapt(schema: z.core.JSONSchema.BaseSchema, io: Io): void {
  delete schema.id;
  // An answer may get new fields; a request may not have unknown ones.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
  if ('example' in schema) {
    schema.examples = [schema.example];
    delete schema.example;
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The format says it; the pattern is zod's way to check it.
  if (schema.format !== undefined) delete schema.pattern;
}

/** References into the components, and `type: [T, "null"]` for what may be null: generators stumble over `anyOf`. */
function tidy(value: unknown, definitions: Schemas): Schema {
  return mapSchema(value, (schema) => {
    if (typeof schema.$ref === 'string') schema.$ref = schema.$ref.replace('#/$defs/', '#/components/schemas/');
    return nullable(flattened(schema), definitions);
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

function nullable(schema: Schema, definitions: Schemas): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== 'null') return schema;
  const { $ref, ...inline } = anyOf[0] as Schema;
  const target = typeof $ref === 'string' ? tidy(definitions[$ref.split('/').at(-1) ?? ''], definitions) : inline;
  if (typeof target.type !== 'string') return schema;
  const values = Array.isArray(target.enum) && { enum: [...target.enum, null] };
  return { ...target, ...rest, type: [target.type, 'null'], ...values };
}

/** A copy of a JSON value in which every object went through `change`, the inner ones first. */
export function mapSchema(value: unknown, change: (object: Schema) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapSchema(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapSchema(inner, change)])));
}
