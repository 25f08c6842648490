import type { OpenApi, Operation, Schema } from '@itsm-api/contract/openapi';
import { findSchemaBreaks, type Sides } from './compatibility-schemas.ts';
import { follow } from './operations.ts';

/**
 * Returns the breaking changes in a new document, each with its location. New operations and optional parameters are
 * compatible. New response fields and enum values are also compatible, because clients must ignore unknown values.
 */
export function findBreaks(released: OpenApi, present: OpenApi): string[] {
  return [
    ...each(released.paths, present.paths, 'path', (old, now, path) =>
      each(old, now, `operation ${path}`, (before, after, method) =>
        findOperationBreaks({ released, present }, before, after, `${method.toUpperCase()} ${path}`),
      ),
    ),
    ...each(released.webhooks ?? {}, present.webhooks ?? {}, 'event', (old, now, event) =>
      findEventBreaks({ released, present }, old.post, now.post, event),
    ),
    ...each(released.components.securitySchemes, present.components.securitySchemes, 'security scheme', () => []),
  ];
}

/**
 * Compares the entries that have the same name in both documents. If the new document lacks an entry, reports a
 * breaking change.
 */
function each<Value>(
  old: Readonly<Record<string, Value>>,
  now: Readonly<Record<string, Value>>,
  what: string,
  compare: (old: Value, now: Value, name: string) => string[],
): string[] {
  return Object.entries(old).flatMap(([name, before]) => {
    const after = now[name];
    return after === undefined ? [`${what} ${name} is removed`] : compare(before, after, name);
  });
}

function findOperationBreaks(sides: Sides, old: Operation, now: Operation, at: string): string[] {
  const scopes = [old, now].map((operation) => operation['x-required-scope']);
  return [
    ...(old.operationId === now.operationId ? [] : [`${at}: operationId ${old.operationId} is changed`]),
    ...(scopes[0] === scopes[1] ? [] : [`${at}: the scope ${scopes[0] ?? 'none'} became ${scopes[1] ?? 'none'}`]),
    ...findParameterBreaks(sides, old, now, at),
    ...findBodyBreaks(sides, old, now, at),
    ...findResponseBreaks(sides, old, now, at),
  ];
}

/** Compares a webhook event in both documents. Applies the rules for responses, because clients only receive events. */
function findEventBreaks(sides: Sides, old: Operation, now: Operation, event: string): string[] {
  const [before, after] = [parametersOf(sides.released, old), parametersOf(sides.present, now)];
  return [
    ...each(before, after, `${event}: header`, () => []),
    ...findSchemaBreaks(sides, 'response', bodyOf(old), bodyOf(now), event),
  ];
}

function findParameterBreaks(sides: Sides, old: Operation, now: Operation, at: string): string[] {
  const [before, after] = [parametersOf(sides.released, old), parametersOf(sides.present, now)];
  const added = Object.entries(after).filter(([name, { required }]) => required && before[name]?.required !== true);
  return [
    ...added.map(([name]) => `${at}: parameter ${name} is newly required`),
    ...each(before, after, `${at}: parameter`, (was, is, name) => [
      ...(was.style === is.style && was.explode === is.explode
        ? []
        : [`${at}: parameter ${name} is written otherwise`]),
      ...findSchemaBreaks(sides, 'request', was.schema, is.schema, `${at}: parameter ${name}`),
    ]),
  ];
}

function findBodyBreaks(sides: Sides, old: Operation, now: Operation, at: string): string[] {
  if (now.requestBody === undefined) return old.requestBody === undefined ? [] : [`${at}: the body is removed`];
  if (old.requestBody === undefined) return [`${at}: a body is newly required`];
  return findSchemaBreaks(sides, 'request', bodyOf(old), bodyOf(now), `${at}: body`);
}

function findResponseBreaks(sides: Sides, old: Operation, now: Operation, at: string): string[] {
  return each(old.responses, now.responses, `${at}: response`, (before, after, status) => {
    const was = follow<Response>(before, sides.released);
    const is = follow<Response>(after, sides.present);
    return [
      ...each(was.headers ?? {}, is.headers ?? {}, `${at}: response ${status}: header`, () => []),
      ...findSchemaBreaks(sides, 'response', contentOf(was), contentOf(is), `${at}: response ${status}`),
    ];
  });
}

interface Response {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: Schema }>;
}

interface Input {
  name: string;
  in: string;
  required: boolean;
  style?: string;
  explode?: boolean;
  schema: Schema;
}

function parametersOf(document: OpenApi, { parameters = [] }: Operation): Record<string, Input> {
  const followed = parameters.map((parameter) => follow<Input>(parameter, document));
  return Object.fromEntries(followed.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]));
}

function bodyOf({ requestBody }: Operation): Schema {
  return requestBody?.content['application/json']?.schema ?? {};
}

function contentOf({ content }: Response): Schema {
  return content?.['application/json']?.schema ?? {};
}
