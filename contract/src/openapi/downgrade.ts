import { componentNamed, mapSchema } from './schemas.ts';
import type { Components, OpenApi, Schema } from './types.ts';

/** The document in OpenAPI 3.0.3, for generators that know no later one. It has no webhooks: 3.0 can't say them. */
export function downgrade({ webhooks = {}, ...document }: OpenApi): OpenApi {
  const deliveryTags = Object.values(webhooks).flatMap(({ post }) => post.tags);
  const { identifier, ...license } = document.info.license;
  const { schemas } = document.components;
  const said = mapSchema(
    {
      ...document,
      openapi: '3.0.3',
      info: { ...document.info, license: { ...license, url: `https://spdx.org/licenses/${identifier}.html` } },
      tags: document.tags.filter(({ name }) => !deliveryTags.includes(name)),
    },
    (schema) => downgradeSchema(downgradeReference(schema, schemas)),
  ) as OpenApi;
  return { ...said, components: usedBy(said.paths, said.components) };
}

/**
 * A reference of 3.0 has nothing beside it, and can't be null: what is to be said of it stands around it
 * (docs/decisions/openapi.md).
 */
function downgradeReference({ $ref, ...words }: Schema, schemas: Record<string, Schema>): Schema {
  if (typeof $ref !== 'string') return words;
  const { anyOf } = schemas[componentNamed($ref)] ?? {};
  const [choice, other] = Array.isArray(anyOf) ? (anyOf as Schema[]) : [];
  if (typeof choice?.$ref === 'string' && other !== undefined && isNull(other)) {
    // `nullable` must stand beside a type.
    return { ...words, type: schemas[componentNamed(choice.$ref)]?.type, nullable: true, allOf: [choice] };
  }
  return Object.keys(words).length === 0 ? { $ref } : { ...words, allOf: [{ $ref }] };
}

/** Says what 3.1 says of a schema in the words of 3.0; objects that are no schemas have none of these. */
function downgradeSchema({ propertyNames, ...schema }: Schema): Schema {
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
  if (Array.isArray(schema.anyOf) && schema.anyOf.some(isNull)) {
    // `nullable` must stand beside a type.
    const [first, ...others] = schema.anyOf.filter((each) => !isNull(each));
    schema.anyOf = [{ ...first, nullable: true }, ...others];
  }
  return schema;
}

function isNull(schema: Schema): boolean {
  return schema.type === 'null';
}

/** The components that the paths refer to, and those that these refer to. */
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
