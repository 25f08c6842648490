import { componentNamed, mapSchema } from './schemas.ts';
import type { Components, OpenApi, Schema } from './types.ts';

/**
 * Converts the document to OpenAPI 3.0.3, for generators that don't support 3.1. Removes webhooks, because OpenAPI 3.0
 * doesn't support them.
 */
export function downgrade({ webhooks = {}, ...document }: OpenApi): OpenApi {
  const deliveryTags = Object.values(webhooks).flatMap(({ post }) => post.tags);
  const { identifier, ...license } = document.info.license;
  const { schemas } = document.components;
  const older = (value: unknown): unknown =>
    mapSchema(value, (schema) => downgradeSchema(downgradeReference(schema), (name) => older(schemas[name]) as Schema));
  const converted = older({
    ...document,
    openapi: '3.0.3',
    info: { ...document.info, license: { ...license, url: `https://spdx.org/licenses/${identifier}.html` } },
    tags: document.tags.filter(({ name }) => !deliveryTags.includes(name)),
  }) as OpenApi;
  return { ...converted, components: usedBy(converted.paths, converted.components) };
}

/** If a reference has other fields, wraps it in `allOf`, because OpenAPI 3.0 ignores all fields next to `$ref`. */
function downgradeReference({ $ref, ...words }: Schema): Schema {
  if (typeof $ref !== 'string') return words;
  return Object.keys(words).length === 0 ? { $ref } : { ...words, allOf: [{ $ref }] };
}

/**
 * Converts a schema from OpenAPI 3.1 to 3.0. Objects that aren't schemas stay unchanged, because they have no schema
 * keywords.
 * @param findSchema returns a named schema in its 3.0 form
 */
function downgradeSchema({ propertyNames, ...schema }: Schema, findSchema: (name: string) => Schema): Schema {
  if ('const' in schema) {
    schema.enum = [schema.const];
    delete schema.const;
  }
  if (Array.isArray(schema.examples)) {
    schema.example = schema.examples[0];
    delete schema.examples;
  }
  if (Array.isArray(schema.type)) {
    schema.type = schema.type.find((type) => type !== 'null');
    schema.nullable = true;
  }
  if (!Array.isArray(schema.anyOf) || !schema.anyOf.some(isNull)) return schema;
  const choices = schema.anyOf.filter((each) => !isNull(each));
  const [only = {}] = choices;
  if (choices.length > 1 || typeof only.$ref !== 'string') return { ...schema, anyOf: firstNullable(choices) };
  const { anyOf, ...rest } = schema;
  return { ...withNull(findSchema(componentNamed(only.$ref))), ...rest };
}

/** Returns a copy of a named schema that also accepts null (docs/decisions/api-documentation.md). */
function withNull(schema: Schema): Schema {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: firstNullable(schema.anyOf) };
  return { ...schema, nullable: true, ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }) };
}

/**
 * Makes the first schema of an `anyOf` nullable instead of the `anyOf` itself. In OpenAPI 3.0, `nullable` needs a
 * `type` in the same schema.
 */
function firstNullable([first, ...others]: Schema[]): Schema[] {
  return [{ ...first, nullable: true }, ...others];
}

function isNull(schema: Schema): boolean {
  return schema.type === 'null';
}

/** Returns only the components that the paths use, directly or through other components. */
function usedBy(paths: unknown, components: Components): Components {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, section = '', name = ''] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      if (used.has(`${section}/${name}`)) continue;
      used.add(`${section}/${name}`);
      visit((components as unknown as Record<string, Record<string, unknown>>)[section]?.[name]);
    }
  };
  visit(paths);
  const sections = Object.entries(components).map(([section, entries]) => {
    const kept = Object.entries(entries).filter(
      ([name]) => section === 'securitySchemes' || used.has(`${section}/${name}`),
    );
    return [section, Object.fromEntries(kept)];
  });
  return Object.fromEntries(sections);
}
