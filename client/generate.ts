import { readFileSync } from 'node:fs';
import {
  Changes,
  contract,
  type Endpoint,
  ErrorCode,
  ErrorDetail,
  type EventType,
  events,
  PageMeta,
  pathPrefix,
  Scope,
  scopes,
} from '@itsm-api/contract';
import * as z from 'zod';
import { capital, comment, literal, Types, union, unwrap } from './generate-types.ts';

/** An endpoint with what its method needs. */
interface Operation {
  resource: string;
  name: string;
  route: Endpoint;
  /** The schema of the resource that is answered. */
  row: z.ZodType;
  list: boolean;
  params: [name: string, schema: z.ZodType][];
  body: z.ZodType | undefined;
}

/**
 * The files of the client that are made from the contract, so that it can be published without it: the types and the
 * route table in one, which needs nothing else, and the methods in another, which need the rest of the client.
 */
export function clientSources(): Record<string, string> {
  const types = new Types();
  const resources = Object.entries(contract).map(([resource, routes]) => {
    const operations = Object.entries(routes).map(([name, route]) => operationOf(resource, name, route as Endpoint));
    return { resource, operations, methods: operations.map((operation) => methodOf(operation, types)) };
  });
  return {
    'client/src/generated.ts': typesSource(resources, types),
    'client/src/generated-resources.ts': resourcesSource(resources, types),
  };
}

/** A resource of the contract, with the methods that the client has for it, as source. */
interface Resource {
  resource: string;
  operations: Operation[];
  methods: string[];
}

function typesSource(resources: Resource[], types: Types): string {
  const eventNames = (Object.keys(events) as EventType[]).map((type) => types.addEvent(type));
  for (const schema of [PageMeta, Changes, ErrorDetail, ErrorCode]) types.print(schema, 'answer');
  types.declare('Scope', Scope, { side: 'request', description: 'What a key may be allowed to do.' });

  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string };
  return source([
    `/** @internal */\nexport const version = '${version}';`,
    `/**\n * What precedes every path.\n *\n * @internal\n */\nexport const pathPrefix = '${pathPrefix}';`,
    openTypes,
    ...types.declarations.values(),
    `/** The events that this version of the client knows. */\nexport type KnownEvent = ${union(eventNames)};`,
    `/** @internal */\nexport const eventTypes: readonly string[] = ${literal(Object.keys(events))};`,
    otherEvents,
    routeTable(resources),
  ]);
}

function resourcesSource(resources: Resource[], types: Types): string {
  const names = [...types.ofMethods].sort().join(',\n  ');
  const fields = resources.map(({ resource }) => `  readonly ${resource}: ${capital(resource)};`).join('\n');
  return source([
    [
      "import type { ApiPromise } from './api-promise.ts';",
      `import type {\n  ${names},\n} from './generated.ts';`,
      "import type { RequestOptions } from './http.ts';",
      "import type { ApiList } from './list.ts';",
    ].join('\n'),
    ...resources.map(({ resource, methods }) => `export interface ${capital(resource)} {\n${methods.join('\n\n')}\n}`),
    `/** The resources of the API, each with its methods. */\nexport interface Resources {\n${fields}\n}`,
  ]);
}

function source(parts: string[]): string {
  return `${['// Made from the contract by `pnpm generate`; not to be edited.', ...parts].join('\n\n')}\n`;
}

const openTypes = `/** One of the values known today; a newer server may answer others. */
export type Open<Known extends string> = Known | (string & {});`;

/** What `unwrap` answers. An open `type` would keep TypeScript from telling the known events apart. */
const otherEvents = `/** An event of a newer server. */
export interface UnknownEvent {
  id: string;
  type: 'unknown';
  timestamp: string;
  /** All that was delivered; its \`type\` names the event. */
  body: Record<string, unknown>;
}

/** A webhook event, told apart by its \`type\`. */
export type WebhookEvent = KnownEvent | UnknownEvent;`;

function operationOf(resource: string, name: string, route: Endpoint): Operation {
  const success = Object.entries(route.responses).find(([status]) => Number(status) < 300)?.[1];
  const { data } = (success as z.ZodObject<{ data: z.ZodType }>).shape;
  const list = data instanceof z.ZodArray;
  const params = route.pathParams instanceof z.ZodObject ? Object.entries(route.pathParams.shape) : [];
  return {
    resource,
    name,
    route,
    row: (list ? data.element : data) as z.ZodType,
    list,
    params: params.map(([param, schema]) => [argumentName(resource, route.path, param), schema]),
    body: 'body' in route && route.body instanceof z.ZodType ? route.body : undefined,
  };
}

/** `id` where it is the resource's own; `/projects/:id/tasks` takes a `projectId`. */
function argumentName(resource: string, path: string, param: string): string {
  const owner = new RegExp(`/(\\w+)s/:${param}/`).exec(path)?.[1];
  return owner === undefined || `${owner}s` === resource ? param : `${owner}Id`;
}

function methodOf(operation: Operation, types: Types): string {
  const { name, route, row, list, params, body } = operation;
  const rowType = types.print(row, 'answer');
  types.ofMethods.add(rowType);
  const parameters = params.map(([param, schema]) => `${param}: ${types.print(schema, 'request')}`);
  if (list) {
    const description = `The page and the filters of \`${operation.resource}.list\`.`;
    types.declare(`${rowType}Query`, route.query, { side: 'request', description });
    types.ofMethods.add(`${rowType}Query`);
    parameters.push(`query?: ${rowType}Query`);
  }
  if (body !== undefined) {
    const bodyType = types.print(body, 'request');
    types.ofMethods.add(bodyType);
    parameters.push(`body: ${bodyType}`);
  }
  parameters.push('options?: RequestOptions');
  const { scope } = route.metadata;
  const lines = [
    `${route.summary}.`,
    ...(route.description === undefined ? [] : ['', route.description]),
    ...(scope === null ? [] : ['', `Needs the scope \`${scope}\`: ${scopes[scope].toLowerCase()}.`]),
    '',
    '@example',
    ...exampleOf(operation, rowType).split('\n'),
  ];
  return `${comment(lines, '  ')}  ${name}(${parameters.join(', ')}): ${list ? 'ApiList' : 'ApiPromise'}<${rowType}>;`;
}

/** A call with the examples of the contract. */
function exampleOf({ resource, name, route, row, list, params, body }: Operation, rowType: string): string {
  const rowExample = (row.meta()?.example ?? {}) as Record<string, unknown>;
  const values = params.map(([param]) => String(rowExample[param] ?? rowExample.id));
  const variable = rowType.toLowerCase();
  if (list) {
    const filter = exampleFilter(route.query);
    if (filter !== undefined) values.push(filter);
    return `for await (const ${variable} of client.${resource}.list(${values.join(', ')})) console.log(${variable}.id);`;
  }
  if (body !== undefined) values.push(literal(body.meta()?.example));
  return `const ${variable} = await client.${resource}.${name}(${values.join(', ')});`;
}

/** The first filter of a list that takes an enum, with the first of its values. */
function exampleFilter(query: z.ZodType): string | undefined {
  for (const [name, schema] of Object.entries((query as z.ZodObject).shape)) {
    const values = unwrap(schema as z.ZodType);
    const filtered = values instanceof z.ZodPipe ? values.out : undefined;
    if (filtered instanceof z.ZodArray && filtered.element instanceof z.ZodEnum) {
      return literal({ [name]: filtered.element.options[0] });
    }
  }
  return undefined;
}

/** The route of each method, as the client reads it at run time. */
function routeTable(resources: Resource[]): string {
  const entries = resources.map(({ resource, operations }) => {
    const routes = operations.map(({ name, route, list, body }) => {
      const { scope } = route.metadata;
      const entry = {
        method: route.method,
        path: route.path.slice(pathPrefix.length),
        ...(scope !== null && { scope }),
        ...(list && { takes: 'query' }),
        ...(body !== undefined && { takes: 'body' }),
      };
      return `    ${name}: ${literal(entry)},`;
    });
    return `  ${resource}: {\n${routes.join('\n')}\n  },`;
  });
  return `/**\n * Method, path and scope of every operation, and what it takes after the ids of its path.\n *\n * @internal\n */\nexport const routes = {\n${entries.join('\n')}\n} as const;`;
}
