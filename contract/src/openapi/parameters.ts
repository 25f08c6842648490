import type * as z from 'zod';
import { acceptsIfMatch, acceptsIfNoneMatch, type Endpoint } from '../endpoint.ts';
import { exampleIdOf, resourceIn, takesChange } from './calls.ts';
import { type Schemas, toSchema } from './schemas.ts';
import type { Parameter, Reference } from './types.ts';

/** Returns the OpenAPI parameters for the request headers of an endpoint. ts-rest can't describe headers with zod 4. */
export function headerParameters({ headers }: Endpoint, schemas: Schemas): Parameter[] {
  return Object.entries((headers ?? {}) as Record<string, z.ZodType>).map(([name, header]) => {
    const { description = '', ...schema } = toSchema(header, 'input', schemas);
    const written = name.split('-').map(capitalize).join('-');
    return { name: written, in: 'header', required: false, description: String(description), schema };
  });
}

/** Adds a parameter to the components, with a name and a description. Returns a reference to the component. */
export function toComponent(
  drafted: Parameter,
  path: string,
  resource: string,
  parameters: Record<string, Parameter>,
): Reference {
  const [key, described] = describeParameter(drafted, path, resource);
  const parameter = { ...described, ...(drafted.schema.deprecated === true && { deprecated: true }) };
  if (key in parameters && JSON.stringify(parameters[key]) !== JSON.stringify(parameter)) {
    throw new Error(`Two different parameters are called ${key}. Rename one of them.`);
  }
  parameters[key] = parameter;
  return { $ref: `#/components/parameters/${key}` };
}

function describeParameter(
  { name, in: where, required = false, description, schema }: Parameter,
  path: string,
  resource: string,
): [string, Parameter] {
  if (where === 'path') {
    const owner = ownerOf(path, name);
    const { examples: _, ...type } = schema;
    const examples = [exampleIdOf(path, name)];
    if (name === 'key') {
      return [
        `${owner}Key`,
        { name, in: where, required: true, description, schema: { ...type, description, examples } },
      ];
    }
    const noun = owner === 'Webhook' ? 'webhook subscription' : owner.toLowerCase();
    const words = `The \`id\` of the ${noun}${owner === 'Ticket' ? ', or its number such as `INC-17`' : owner === 'Change' ? ', or its number such as `CHG-4`' : ''}.`;
    const described = { ...type, description, examples };
    return [`${owner}Id`, { name, in: where, required: true, description: words, schema: described }];
  }
  if (where === 'header') return [name, { name, in: where, required: false, description, schema }];
  if (/v1\/[\w-]+\/(changes|activity)$/.test(path)) {
    return [`Changes${capitalize(name)}`, { name, in: where, required: false, description, schema }];
  }
  if (schema.type === 'object') {
    const nested = { style: 'deepObject', explode: true, schema };
    return [
      `${singular(resource)}${capitalize(name)}Filter`,
      { name, in: where, required: false, description, ...nested },
    ];
  }
  if (schema.type !== 'array') {
    const key = name === 'page' || name === 'perPage' ? '' : singular(resource);
    // The API reference page sends the example of a parameter by default, so only paging parameters
    // and required parameters have examples.
    const { examples, ...withoutExamples } = schema;
    const shown = key === '' || required ? { ...withoutExamples, examples } : withoutExamples;
    return [key + capitalize(name), { name, in: where, required, description, schema: shown }];
  }
  const filtered = listFilters[name] ?? `Returns only items whose \`${name}\` is one of these values.`;
  const several = description ?? 'Repeat the parameter, or separate the values with commas.';
  const filter = {
    ...{ name, in: where, required: false, description: `${filtered} ${several}` },
    ...{ style: 'form', explode: true, schema },
  };
  return [`${singular(resource)}${capitalize(name)}Filter`, filter];
}

/** The descriptions of filters that compare their values with a list of ids. */
const listFilters: Record<string, string> = {
  watcherUserId: 'Returns only tickets that one of these users watches.',
  assetId: 'Returns only tickets that concern one of these assets.',
};

/** The headers for conditional requests (RFC 9110 §13). */
const conditions = {
  'If-Match': condition(
    'If-Match',
    'One or more `ETag` values, or `*` for any version. ' +
      'If the current `ETag` is not one of them, the server changes nothing and returns 412.',
  ),
  'If-None-Match': condition(
    'If-None-Match',
    'The `ETag` of an earlier response. If the resource is unchanged, the server returns 304 without a body.',
  ),
};

function condition(name: string, description: string): Parameter {
  return { name, in: 'header', required: false, description, schema: { type: 'string' }, example: '"7-mi7d2ls0"' };
}

/** Adds the conditional headers of an endpoint to the components. Returns references to these headers. */
export function conditionsOf(route: Endpoint, parameters: Record<string, Parameter>): Reference[] {
  const names = [
    ...(acceptsIfMatch(route) ? (['If-Match'] as const) : []),
    ...(acceptsIfNoneMatch(route) ? (['If-None-Match'] as const) : []),
  ];
  return names.map((name) => {
    parameters[name] = conditions[name];
    return { $ref: `#/components/parameters/${name}` };
  });
}

/** Returns the resource that a path parameter identifies, such as `Ticket` for `:id` in `/tickets/:id`. */
function ownerOf(path: string, parameter: string): string {
  return takesChange(path) ? 'Change' : singular(resourceIn(path, parameter));
}

function singular(resource: string): string {
  return capitalize(resource.replace(/ies$/, 'y').replace(/s$/, ''));
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
