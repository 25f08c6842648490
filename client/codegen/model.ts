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
  Scope,
  scopes,
  UpsertOutcome,
} from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import * as z from 'zod';
import { callOf } from '../../contract/src/openapi/calls.ts';
import { describeEmails, describeTransitions } from '../../contract/src/openapi/prose.ts';
import { tags } from '../../contract/src/registry.ts';
import { type Type, Types } from './type-model.ts';

/** The client, independent of the programming language. */
export interface Model {
  resources: Resource[];
  types: Types;
  /** The names of the types of the events. */
  eventNames: string[];
}

/** A resource of the contract, with the methods of the client. */
export interface Resource {
  name: string;
  /** A sentence that describes the resource. */
  text: string;
  operations: Operation[];
}

/** A method of the client. */
export interface Operation {
  resource: string;
  name: string;
  route: Endpoint;
  /** What the method returns: one row, a list, a change feed, the result of each item of a bulk call, or a file. */
  kind: 'one' | 'list' | 'changes' | 'answers' | 'file';
  /** The type of a row, or undefined for a file. */
  row: Type | undefined;
  /** The field that identifies a row. */
  rowKey: 'id' | 'key';
  params: [name: string, type: Type][];
  /** The name of the declared type of the query. Undefined if the method has no query. */
  query: string | undefined;
  /** The type of the body, or of an item of a bulk call. Undefined if the method sends no body. */
  sent: Type | undefined;
  isUpload: boolean;
  /** The type of the field by which an upsert finds existing resources, and its default. */
  match: { type: Type; default: string } | undefined;
  /** The paragraphs of the description, each with its lines. */
  paragraphs: string[][];
  /**
   * The HTTP method, the path, the scope and the argument, separated by spaces. The first part of the scope is the rate
   * limit group. An endpoint for any scope has only the rate limit group.
   */
  definition: string;
}

/** Reads the model of the client from the contract. */
export function readModel(): Model {
  const types = new Types();
  const resources = Object.entries(contract).map(([resource, routes]) => ({
    name: resource,
    text: tags[resource as keyof typeof tags],
    operations: Object.entries(routes).map(([name, route]) => operationOf(resource, name, route as Endpoint, types)),
  }));
  const eventNames = (Object.keys(events) as EventType[]).map((type) => types.addEvent(type));
  for (const schema of [PageMeta, ChangesMeta, Changes, ErrorDetail, ErrorCode]) types.of(schema, 'response');
  types.declare('UpsertOutcome', UpsertOutcome, {
    side: 'response',
    description: 'What the API did with an item. UNCHANGED means that the resource already had all values.',
  });
  types.declare('Scope', Scope, { side: 'request', description: 'A permission of an API key.' });
  return { resources, types, eventNames };
}

function operationOf(resource: string, name: string, route: Endpoint, types: Types): Operation {
  const { row, kind, params, body, items } = callOf(route);
  const rowType = kind === 'file' ? undefined : types.of(row, 'response');
  const paramTypes = params.map(([param, schema]): [string, Type] => [
    argumentName(resource, route.path, param),
    types.of(schema, 'request'),
  ]);
  let query: string | undefined;
  if (kind === 'list' || kind === 'changes') {
    const isList = kind === 'list';
    query = isList ? queryName(name, rowType) : 'ChangesQuery';
    const ofList = `The page and the filters of a list of ${resource}.`;
    const description = isList ? ofList : 'The start of the change feed and the size of its pages.';
    types.declare(query, route.query, { side: 'request', description });
  }
  const sent = items?.[1] ?? body;
  const sentType = sent && types.of(sent, 'request');
  const matchBy = body instanceof z.ZodObject ? body.shape.matchBy : undefined;
  const matchEnum = matchBy instanceof z.ZodOptional ? (matchBy.unwrap() as z.ZodEnum) : undefined;
  const match = matchEnum && { type: types.of(matchEnum, 'request'), default: String(matchEnum.options[0]) };
  return {
    ...{ resource, name, route, kind, row: rowType, params: paramTypes, query, sent: sentType, match },
    rowKey: row instanceof z.ZodObject && 'id' in row.shape ? 'id' : 'key',
    isUpload: route.metadata.binary === 'request',
    paragraphs: describe(resource, route, kind),
    definition: define(route, { takes: argumentOf(route, kind, body, items?.[0]), match: match?.default }),
  };
}

/**
 * Returns the name of a method argument, for example `id` for `/tickets/:id` and `projectId` for `/projects/:id/tasks`.
 */
function argumentName(resource: string, path: string, param: string): string {
  const owner = new RegExp(`/(\\w+)s/:${param}/`).exec(path)?.[1];
  return param !== 'id' || owner === undefined || `${owner}s` === resource ? param : `${owner}Id`;
}

/** Returns the type of the query of a list. A resource can have one list of all rows, and lists of the rows of others. */
function queryName(method: string, row: Type | undefined): string {
  const rowType = row?.kind === 'named' ? row.name : '';
  const owner = /^of(\w+)$/.exec(method)?.[1] ?? '';
  return rowType.startsWith(owner) ? `${rowType}Query` : `${owner}${rowType}Query`;
}

/** Returns what an operation does, with the required scope and the rate limit. */
function describe(resource: string, route: Endpoint, kind: Operation['kind']): string[][] {
  const { scope, group } = route.metadata;
  const counts = kind === 'list' || kind === 'answers' ? 'Each request counts' : 'Counts';
  const limit = `by default ${rateLimits.group} requests per ${rateLimits.windowSeconds} seconds.`;
  return [
    [`${route.summary}.`],
    [route.description],
    describeTransitions(resource, route)?.split('\n') ?? [],
    [kind === 'answers' ? bulkText : undefined],
    [
      scope === null || scope === 'any'
        ? undefined
        : `Requires the scope \`${scope}\`: ${scopes[scope].toLowerCase()}.${describeEmails(route)}`,
    ],
    [group === null ? undefined : `${counts} against the rate limit \`${group}\`, ${limit}`],
  ]
    .map((lines) => lines.filter((line) => line !== undefined))
    .filter((lines) => lines.length > 0);
}

/** Describes how bulk methods split the items into requests. */
const bulkText =
  `The client accepts any number of items and sends up to ${bulkItems} items per request. ` +
  'It returns a result for each item, and fails only if no item got a result.';

/**
 * Returns the argument of an operation: `query`, `changes`, `body`, `file`, or `items=` and the body field with the items
 * of a bulk request. Returns `download` if the body of the response is a file, and undefined without an argument.
 */
function argumentOf(route: Endpoint, kind: Operation['kind'], body: unknown, items: string | undefined) {
  if (items !== undefined) return `items=${items}`;
  const takesBy = { list: 'query', changes: 'changes', file: 'download', one: undefined, answers: undefined };
  return takesBy[kind] ?? (route.metadata.binary === 'request' ? 'file' : body && 'body');
}

function define({ method, path, metadata }: Endpoint, { takes, match }: { takes: unknown; match: string | undefined }) {
  const { group, scope } = metadata;
  if (scope !== null && scope !== 'any' && group !== scope.split(':')[0]) {
    throw new Error(`${path} has a rate limit group that differs from its scope.`);
  }
  const access = scope === 'any' ? group : scope;
  return [method, path.slice(pathPrefix.length), access, takes, match].filter(Boolean).join(' ');
}
