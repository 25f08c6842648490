// This project has its own client generator, because the client that @hey-api/openapi-ts 0.95 generates from this
// contract has 7,688 lines, but no paging, retries or idempotency keys.

import { readFileSync } from 'node:fs';
import {
  bulkItems,
  Changes,
  ChangesMeta,
  type Endpoint,
  ErrorCode,
  ErrorDetail,
  type EventType,
  events,
  PageMeta,
  pathPrefix,
  rateLimits,
  requestLimits,
  Scope,
  scopes,
  UpsertOutcome,
} from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import * as z from 'zod';
import { type Call, callOf, exampleCall } from '../../contract/src/openapi/calls.ts';
import { literal } from '../../contract/src/openapi/literal.ts';
import { describeEmails, describeTransitions } from '../../contract/src/openapi/prose.ts';
import { tags } from '../../contract/src/registry.ts';
import { capitalize, comment, fieldsParameter, lineWidth, Types, union } from './generate-types.ts';

/** An endpoint, with the data that the generator needs for its client method. */
interface Operation extends Call {
  resource: string;
  name: string;
  route: Endpoint;
}

/**
 * Generates two client files from the contract, because the published client doesn't depend on the contract package.
 * `generated.ts` contains the types and the route table, and imports nothing. `generated-resources.ts` contains the
 * method signatures.
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

/** A resource of the contract, with the source code of its client methods. */
interface Resource {
  resource: string;
  operations: Operation[];
  methods: string[];
}

function typesSource(resources: Resource[], types: Types): string {
  const eventNames = (Object.keys(events) as EventType[]).map((type) => types.addEvent(type));
  for (const schema of [PageMeta, ChangesMeta, Changes, ErrorDetail, ErrorCode]) types.print(schema, 'response');
  types.declare('UpsertOutcome', UpsertOutcome, {
    side: 'response',
    description: 'What the API did with an item. UNCHANGED means that the resource already had all values.',
  });
  types.declare('Scope', Scope, { side: 'request', description: 'A permission of an API key.' });

  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return source([
    `/** @internal */\nexport const version = '${version}';`,
    `/**\n * The prefix of every path.\n *\n * @internal\n */\nexport const pathPrefix = '${pathPrefix}';`,
    `/**\n * The limits of a bulk request.\n *\n * @internal\n */\nexport const limits = ${literal({
      bulkItems,
      bodyBytes: requestLimits.bodyBytes,
    })};`,
    openTypes,
    ...types.declarations.values(),
    `/** The events that this version of the client knows. */\nexport type KnownEvent = ${union(eventNames)};`,
    `/** The event types that this version of the client knows. */\nexport const eventTypes: readonly EventType[] = ${literal(Object.keys(events))};`,
    otherEvents,
    routeTable(resources),
  ]);
}

function resourcesSource(resources: Resource[], types: Types): string {
  const names = [...types.ofMethods, 'CustomFields', 'FieldsOf', 'FieldTypes'].sort(compareNames).join(',\n  ');
  const hasFields = ({ methods }: Resource) => methods.some((method) => method.includes('<Fields>'));
  const fields = resources
    .map(({ resource, ...rest }) => {
      const type = hasFields({ resource, ...rest }) ? `<FieldsOf<Types, '${resource.slice(0, -1)}'>>` : '';
      return `  /** ${tags[resource as keyof typeof tags]} */\n  readonly ${resource}: ${capitalize(resource)}${type};`;
    })
    .join('\n');
  return source([
    [
      "import type { ApiPromise } from './api-promise.ts';",
      "import type { BulkItemResult, BulkResult, BulkUpsertResult, UpsertItemResult } from './bulk.ts';",
      "import type { ApiChanges, FollowQuery } from './changes.ts';",
      "import type { Download, FileUpload } from './files.ts';",
      `import type {\n  ${names},\n} from './generated.ts';`,
      "import type { ApiList } from './list.ts';",
      "import type { BulkOptions, BulkPostOptions, BulkUpsertOptions, PostOptions, RequestOptions } from './options.ts';",
    ].join('\n'),
    ...resources.map((each) => {
      const parameter = hasFields(each) ? fieldsParameter : '';
      return `export interface ${capitalize(each.resource)}${parameter} {\n${each.methods.join('\n\n')}\n}`;
    }),
    `/** The resources of the API, each with its methods. */\nexport interface Resources<Types extends FieldTypes = FieldTypes> {\n${fields}\n}`,
  ]);
}

/** Compares names in the order of Biome, which ignores the case. */
function compareNames(left: string, right: string): number {
  return left.toLowerCase() < right.toLowerCase() ? -1 : 1;
}

function source(parts: string[]): string {
  return `${['// Generated from the contract by `pnpm generate`. Do not edit.', ...parts].join('\n\n')}\n`;
}

const openTypes = `/** A string from a newer server that this version of the client doesn't know. */
export declare enum Unknown {
  Value = 'a value of a newer server',
}

/**
 * One of the known values, or \`Unknown\` from a newer server. A \`switch\` over the values needs a \`default\`. A
 * \`case\` with a string that is not a known value is a type error. You can send a received value back to the API.
 */
export type Open<Known extends string> = Known | Unknown;

/** Fields of which at least one is required. */
export type AtLeastOne<Fields> = {
  [Name in keyof Fields]: Pick<Fields, Name> & { [Other in keyof Fields]?: Fields[Other] | undefined };
}[keyof Fields];

/** The types of the custom fields of a workspace. The program \`itsm-client types\` writes them. */
export interface FieldTypes {
  /** The custom fields of tickets. */
  ticket?: object;
  /** The custom fields of assets. */
  asset?: object;
}

/** The custom fields of a resource: their own type, or else the type for any fields. */
export type FieldsOf<Types extends FieldTypes, Resource extends keyof FieldTypes> =
  Types extends Record<Resource, infer Fields extends object> ? Fields : CustomFields;

/** The custom fields in an update or a response. Each field can be absent or null. */
export type SomeFields<Fields extends object> = string extends keyof Fields
  ? Fields
  : { [Name in keyof Fields]?: Fields[Name] | null | undefined };

/** The filters of a list by custom fields. Each field has one or several values. */
export type FieldFilters<Fields extends object> = string extends keyof Fields
  ? Record<string, string | readonly string[]>
  : { [Name in keyof Fields]?: FilterValue<Fields[Name]> | readonly FilterValue<Fields[Name]>[] | undefined };

/** A value of a custom field in a filter. For a field with a list, one item of the list. */
export type FilterValue<Value> = NonNullable<Value> extends readonly (infer Item)[] ? Item : NonNullable<Value>;`;

/**
 * The type that `unwrap` returns for unknown events. Its field `type` is a literal, because TypeScript can't narrow a
 * union by a field of the type `string`.
 */
const otherEvents = `/** An event from a newer server. */
export interface UnknownEvent {
  /** The id of the event. Every attempt has the same id. Use the id to deduplicate events. */
  id: string;
  /** The value for every event type that this version of the client doesn't know. */
  type: 'unknown';
  /** When the event occurred. */
  timestamp: string;
  /** The complete delivered body. Its \`type\` is the original type. */
  body: Record<string, unknown>;
}

/** A webhook event, discriminated by its \`type\`. */
export type WebhookEvent = KnownEvent | UnknownEvent;`;

function operationOf(resource: string, name: string, route: Endpoint): Operation {
  const call = callOf(route);
  const params = call.params.map(([param, schema]): [string, z.ZodType] => [
    argumentName(resource, route.path, param),
    schema,
  ]);
  return { ...call, params, resource, name, route };
}

/**
 * Returns the name of a method argument, for example `id` for `/tickets/:id` and `projectId` for `/projects/:id/tasks`.
 */
function argumentName(resource: string, path: string, param: string): string {
  const owner = new RegExp(`/(\\w+)s/:${param}/`).exec(path)?.[1];
  return owner === undefined || `${owner}s` === resource ? param : `${owner}Id`;
}

/** Returns the type of the query of a list. A resource can have one list of all rows, and lists of the rows of others. */
function queryName(method: string, rowType: string): string {
  const owner = /^of(\w+)$/.exec(method)?.[1] ?? '';
  return rowType.startsWith(owner) ? `${rowType}Query` : `${owner}${rowType}Query`;
}

function methodOf(operation: Operation, types: Types): string {
  const { name, route, row, kind, params, body, items } = operation;
  const rowName = kind === 'file' ? 'Download' : types.print(row, 'response');
  const rowType = withFields(rowName, types);
  if (kind !== 'file') types.ofMethods.add(rowName);
  const isUpload = route.metadata.binary === 'request';
  const parameters = params.map(([param, schema]) => {
    return `${param}: ${printArgument(schema, types)}`;
  });
  if (kind === 'list' || kind === 'changes') {
    const isList = kind === 'list';
    const queryType = isList ? queryName(name, rowName) : 'ChangesQuery';
    const ofList = `The page and the filters of a list of ${operation.resource}.`;
    const description = isList ? ofList : 'The start of the change feed and the size of its pages.';
    types.declare(queryType, route.query, { side: 'request', description });
    if (isList) types.ofMethods.add(queryType);
    parameters.push(`query?: ${isList ? withFields(queryType, types) : 'FollowQuery'}`);
  }
  const sent = items?.[1] ?? body;
  const sentName = sent === undefined ? '' : types.print(sent, 'request');
  const sentType = withFields(sentName, types);
  if (sent !== undefined) {
    types.ofMethods.add(sentName);
    parameters.push(items === undefined ? `body: ${sentType}` : `items: readonly ${sentType}[]`);
  }
  if (isUpload) parameters.push('file: FileUpload');
  const post = route.method === 'POST' ? 'Post' : '';
  const match = matchOf(operation);
  const bulkOptions =
    match === undefined
      ? `Bulk${post}Options<BulkItemResult<${sentType}, ${rowType}>>`
      : `BulkUpsertOptions<${printArgument(match, types)}, UpsertItemResult<${sentType}, ${rowType}>>`;
  parameters.push(`options?: ${items === undefined ? `${post || 'Request'}Options` : bulkOptions}`);
  const { scope } = route.metadata;
  const transitions = describeTransitions(operation.resource, route);
  const lines = [
    `${route.summary}.`,
    ...(route.description === undefined ? [] : ['', route.description]),
    ...(transitions === undefined ? [] : ['', ...transitions.split('\n')]),
    ...(kind === 'answers' ? ['', bulkWords] : []),
    ...(scope === null || scope === 'any'
      ? []
      : ['', `Requires the scope \`${scope}\`: ${scopes[scope].toLowerCase()}.${describeEmails(route)}`]),
    ...limitOf(operation),
    '',
    '@example',
    ...exampleOf(operation).split('\n'),
  ];
  const answers = {
    one: `ApiPromise<${rowType}>`,
    file: `ApiPromise<${rowType}>`,
    list: `ApiList<${rowType}>`,
    changes: `ApiChanges<${rowType}>`,
    answers: `Promise<Bulk${match === undefined ? '' : 'Upsert'}Result<${sentType}, ${rowType}>>`,
  };
  const signature = `  ${name}(${parameters.join(', ')}): ${answers[kind]};`;
  const broken = `  ${name}(\n${parameters.map((parameter) => `    ${parameter},\n`).join('')}  ): ${answers[kind]};`;
  return `${comment(lines, '  ')}${signature.length <= lineWidth ? signature : broken}`;
}

/** Returns a type with the parameter of the resource if the type has custom fields. */
function withFields(name: string, types: Types): string {
  return types.withFields.has(name) ? `${name}<Fields>` : name;
}

/** Prints the type of an argument, and imports the types that it names. */
function printArgument(schema: z.ZodType, types: Types): string {
  const type = types.print(schema, 'request');
  for (const name of type.match(/\w+/g) ?? [])
    if (name === 'Open' || types.declarations.has(name)) types.ofMethods.add(name);
  return type;
}

/** The sentences in the hover text of bulk methods that describe how the client splits the items into requests. */
const bulkWords =
  `The client accepts any number of items and sends up to ${bulkItems} items per request. ` +
  'It returns a result for each item, and throws an error only if no item got a result.';

/** Returns the lines that describe the rate limit in the hover text of a method. */
function limitOf({ route, kind }: Operation): string[] {
  const { group } = route.metadata;
  if (group === null) return [];
  const what = kind === 'one' || kind === 'file' || kind === 'changes' ? 'Counts' : 'Each request counts';
  return [
    '',
    `${what} against the rate limit \`${group}\`, by default ${rateLimits.group} requests per ${rateLimits.windowSeconds} seconds.`,
  ];
}

function exampleOf(operation: Operation): string {
  const { source, variable, isWalked } = exampleCall(operation);
  const field = operation.row instanceof z.ZodObject && 'id' in operation.row.shape ? 'id' : 'key';
  if (isWalked) return `for await (const ${variable} of ${source}) console.log(${variable}.${field});`;
  return `const ${variable} = await ${source};`;
}

/**
 * Generates the table of the client's routes. The table has a compact format, because it is the largest part of the
 * client.
 */
function routeTable(resources: Resource[]): string {
  const entries = resources.map(({ resource, operations }) => {
    const routes = operations.map((operation) => `    ${operation.name}: ${literal(routeOf(operation))},`);
    return `  ${resource}: {\n${routes.join('\n')}\n  },`;
  });
  const words = [
    'The routes of the client methods. Each route has the HTTP method, the path, the scope and the argument.',
    'The first part of the scope is the rate limit group. An endpoint for any scope has only the rate limit group.',
    'The argument is `query`, `changes`, `body`, `file`, or `items=` and the body field with the items of a bulk request.',
    'For a `download`, the body of the response is a file. For an upsert, the last word is the default of `matchBy`.',
  ];
  return `/**\n * ${words.join('\n * ')}\n *\n * @internal\n */\nexport const routes = {\n${entries.join('\n')}\n} as const;`;
}

/** Returns the schema of the fields by which an upsert finds existing resources. Undefined for other operations. */
function matchOf({ body }: Operation): z.ZodEnum | undefined {
  const matchBy = body instanceof z.ZodObject ? body.shape.matchBy : undefined;
  return matchBy instanceof z.ZodOptional ? (matchBy.unwrap() as z.ZodEnum) : undefined;
}

function routeOf(operation: Operation): string {
  const { route, kind, body, items } = operation;
  const { group, scope } = route.metadata;
  if (scope !== null && scope !== 'any' && group !== scope.split(':')[0]) {
    throw new Error(`${route.path} has a rate limit group that differs from its scope.`);
  }
  const takesBy = { list: 'query', changes: 'changes', file: 'download', one: undefined, answers: undefined };
  const takes = takesBy[kind] ?? (route.metadata.binary === 'request' ? 'file' : body && 'body');
  const access = scope === 'any' ? group : scope;
  const parts = [route.method, route.path.slice(pathPrefix.length), access];
  parts.push(items ? `items=${items[0]}` : (takes ?? null), String(matchOf(operation)?.options[0] ?? ''));
  return parts.filter(Boolean).join(' ');
}
