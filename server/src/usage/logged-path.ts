import { ticketNumberPrefixes } from '@itsm-api/contract';
import * as z from 'zod';
import { keyedEndpoints } from './dimensions.ts';

const maxPathLength = 1000;

/** Replaces a name or a value that can be personal data or a secret. */
const omitted = '…';

/** The schemas of all query parameters, by name. */
const parameters = keyedEndpoints.flatMap(({ route: { query } }) =>
  query instanceof z.ZodObject ? Object.entries<z.ZodType>(query.shape) : [],
);
const parameterNames = new Set(parameters.map(([name]) => name));

/** The names of the parameters that accept any text, such as `q` and `email`. */
const textParameters = new Set(
  parameters.filter(([, schema]) => partsOf(schema).some(acceptsAnyText)).map(([name]) => name),
);

/** The words that parameters accept, such as `OPEN`. */
const words = new Set([
  ...['me', 'none', 'true', 'false'],
  ...parameters.flatMap(([, schema]) => partsOf(schema).flatMap(({ entries = {} }) => Object.values(entries))),
]);

/** The segments of the contract's paths, and the paths with `:` in place of each parameter. */
const segments = new Set(
  keyedEndpoints.flatMap(({ route }) => route.path.split('/').filter((each) => each[0] !== ':')),
);
const routes = new Set(keyedEndpoints.map(({ route }) => route.path.replace(/:\w+/g, ':')));

/** The properties of a schema that `toLoggedPath` needs. */
interface Definition {
  type: string;
  format?: string;
  entries?: Record<string, string>;
  innerType?: z.ZodType;
  out?: z.ZodType;
  element?: z.ZodType;
}

/** Returns the definitions of a schema and of the schemas inside it. */
function partsOf(schema: z.ZodType): Definition[] {
  const definition = schema.def as unknown as Definition;
  const inner = definition.innerType ?? definition.out ?? definition.element;
  return [definition, ...(inner === undefined ? [] : partsOf(inner))];
}

function acceptsAnyText({ type, format }: Definition): boolean {
  return type === 'string' && format === undefined;
}

/**
 * Returns the path and the query of a request as the request log stores them. Keeps numbers, ticket numbers, times, and
 * the names, path segments and words that the contract defines. Replaces everything else with `…`, because users search
 * for names and other personal data, and clients can send secrets by mistake. A path that matches no endpoint keeps
 * only segments of the contract's paths.
 */
export function toLoggedPath(url: string): string {
  const [path = '', query] = splitOnce(url, '?');
  const logged = query === undefined ? toLoggedSegments(path) : `${toLoggedSegments(path)}?${toLoggedQuery(query)}`;
  return logged.length > maxPathLength ? `${logged.slice(0, maxPathLength - 1)}…` : logged;
}

function toLoggedSegments(path: string): string {
  const given = path.split('/').map(decode);
  const hasRoute = routes.has(given.map((each) => (segments.has(each) ? each : ':')).join('/'));
  return given.map((each) => (segments.has(each) || (hasRoute && isSafe(each)) ? each : omitted)).join('/');
}

function toLoggedQuery(query: string): string {
  const logged = query.split('&').map((parameter) => {
    const [name = '', value] = splitOnce(parameter, '=').map(decode);
    const loggedName = nested.test(name) ? `customFields[${omitted}]` : parameterNames.has(name) ? name : omitted;
    return value === undefined ? loggedName : `${loggedName}=${toLoggedValue(name, value)}`;
  });
  return logged.join('&');
}

/** A filter by a custom field (http/nested-query.ts). */
const nested = /^customFields\[/;

function toLoggedValue(name: string, value: string): string {
  if (value === '') return value;
  // A number in a text can be a phone number.
  if (textParameters.has(name) || nested.test(name)) return omitted;
  const values = value.split(',').map((each) => (isSafe(each) ? each : omitted));
  return values.join(',');
}

const safeValue = new RegExp(
  `^(\\d{1,16}|(${Object.values(ticketNumberPrefixes).join('|')})-\\d{1,15}` +
    '|\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)?)?)$',
);

function isSafe(value: string): boolean {
  return safeValue.test(value) || words.has(value);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Decodes a part of a URL. Returns malformed text unchanged, because it is never safe to store. */
function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
