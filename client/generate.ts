import { readFileSync } from 'node:fs';
import {
  Changes,
  ChangesMeta,
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
import { capital, comment, lineWidth, literal, Types, union, unwrap } from './generate-types.ts';

/** An endpoint with what its method needs. */
interface Operation {
  resource: string;
  name: string;
  route: Endpoint;
  /** The schema of the resource that is answered. */
  row: z.ZodType;
  /** What `data` holds: one row, those of a page, what has changed, or an answer for each item of the request. */
  kind: 'one' | 'list' | 'changes' | 'answers';
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
  for (const schema of [PageMeta, ChangesMeta, Changes, ErrorDetail, ErrorCode]) types.print(schema, 'answer');
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
      "import type { PostOptions, RequestOptions } from './http.ts';",
      "import type { ApiList, ChangesPage } from './list.ts';",
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
  const { data, meta } = (success as z.ZodObject<{ data: z.ZodType; meta?: z.ZodType }>).shape;
  const isArray = data instanceof z.ZodArray;
  const kindOfMany = meta === undefined ? 'answers' : meta === ChangesMeta ? 'changes' : 'list';
  const params = route.pathParams instanceof z.ZodObject ? Object.entries(route.pathParams.shape) : [];
  return {
    resource,
    name,
    route,
    row: (isArray ? data.element : data) as z.ZodType,
    kind: isArray ? kindOfMany : 'one',
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
  const { name, route, row, kind, params, body } = operation;
  const rowType = types.print(row, 'answer');
  types.ofMethods.add(rowType);
  const parameters = params.map(([param, schema]) => {
    const type = types.print(schema, 'request');
    for (const name of type.split(' | ')) if (types.declarations.has(name)) types.ofMethods.add(name);
    return `${param}: ${type}`;
  });
  if (kind === 'list' || kind === 'changes') {
    const isList = kind === 'list';
    const queryType = isList ? `${rowType}Query` : 'ChangesQuery';
    const ofList = `The page and the filters of a list of ${operation.resource}.`;
    const description = isList ? ofList : 'Where to begin with what has changed, and how much of it.';
    types.declare(queryType, route.query, { side: 'request', description });
    types.ofMethods.add(queryType);
    parameters.push(`query?: ${queryType}`);
  }
  if (body !== undefined) {
    const bodyType = types.print(body, 'request');
    types.ofMethods.add(bodyType);
    parameters.push(`body: ${bodyType}`);
  }
  parameters.push(`options?: ${route.method === 'POST' ? 'PostOptions' : 'RequestOptions'}`);
  const { scope } = route.metadata;
  const lines = [
    `${route.summary}.`,
    ...(route.description === undefined ? [] : ['', route.description]),
    ...(scope === null || scope === 'any' ? [] : ['', `Needs the scope \`${scope}\`: ${scopes[scope].toLowerCase()}.`]),
    '',
    '@example',
    ...exampleOf(operation, rowType).split('\n'),
  ];
  const answers = {
    one: `ApiPromise<${rowType}>`,
    list: `ApiList<${rowType}>`,
    changes: `ApiPromise<ChangesPage<${rowType}>>`,
    answers: `ApiPromise<${rowType}[]>`,
  };
  const signature = `  ${name}(${parameters.join(', ')}): ${answers[kind]};`;
  const broken = `  ${name}(\n${parameters.map((parameter) => `    ${parameter},\n`).join('')}  ): ${answers[kind]};`;
  return `${comment(lines, '  ')}${signature.length <= lineWidth ? signature : broken}`;
}

/** A call with the examples of the contract. */
function exampleOf({ resource, name, route, row, kind, params, body }: Operation, rowType: string): string {
  const rowExample = (row.meta()?.example ?? {}) as Record<string, unknown>;
  const [, owner] = /\/(\w+)s\/:/.exec(route.path) ?? [];
  const values = params.map(([param]) => String(rowExample[`${owner}Id`] ?? rowExample[param] ?? rowExample.id));
  const variable = kind === 'answers' ? 'answers' : rowType.charAt(0).toLowerCase() + rowType.slice(1);
  if (kind === 'changes') {
    return `const { data, meta } = await client.${resource}.${name}({ since: '2026-11-20T10:00:00Z' });`;
  }
  if (kind === 'list') {
    const filter = exampleFilter(route.query);
    if (filter !== undefined) values.push(filter);
    return `for await (const ${variable} of client.${resource}.${name}(${values.join(', ')})) console.log(${variable}.id);`;
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
    const routes = operations.map(({ name, route, kind, body }) => {
      const { scope } = route.metadata;
      const entry = {
        method: route.method,
        path: route.path.slice(pathPrefix.length),
        ...(scope !== null && scope !== 'any' && { scope }),
        ...(kind === 'list' && { takes: 'query' }),
        ...(kind === 'changes' && { takes: 'changes' }),
        ...(body !== undefined && { takes: 'body' }),
      };
      return `    ${name}: ${literal(entry)},`;
    });
    return `  ${resource}: {\n${routes.join('\n')}\n  },`;
  });
  return `/**\n * Method, path and scope of every operation, and what it takes after the ids of its path.\n *\n * @internal\n */\nexport const routes = {\n${entries.join('\n')}\n} as const;`;
}
