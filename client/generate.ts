import { readFileSync } from 'node:fs';
import {
  Changes,
  contract,
  deliveryBody,
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

/** As Biome breaks lines. */
const lineWidth = 120;

/** Whether a type is for what is sent or for what is answered: the enums of answers are open. */
type Side = 'request' | 'answer';

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
 * `client/src/generated.ts`: the types, the methods and the route table of the client, made from the contract, so that
 * the client can be published without it.
 */
export function clientSource(): string {
  const types = new Types();
  const resources = Object.entries(contract).map(([resource, routes]) => {
    const operations = Object.entries(routes).map(([name, route]) => operationOf(resource, name, route as Endpoint));
    return { resource, operations, methods: operations.map((operation) => methodOf(operation, types)) };
  });
  const eventNames = (Object.keys(events) as EventType[]).map((type) => types.addEvent(type));
  for (const schema of [PageMeta, Changes, ErrorDetail, ErrorCode]) types.print(schema, 'answer');
  types.declare('Scope', Scope, { side: 'request', description: 'What a key may be allowed to do.' });

  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string };
  return [
    '// Made from the contract by `pnpm generate`; not to be edited.',
    "import type { ApiPromise } from './api-promise.ts';\nimport type { RequestOptions } from './http.ts';\nimport type { ApiList } from './list.ts';",
    `/** @internal */\nexport const version = '${version}';`,
    `/**\n * What precedes every path.\n *\n * @internal\n */\nexport const pathPrefix = '${pathPrefix}';`,
    openTypes,
    ...types.declarations.values(),
    `/** The events that this version of the client knows. */\nexport type KnownEvent = ${union(eventNames)};`,
    `/** @internal */\nexport const eventTypes: readonly string[] = ${literal(Object.keys(events))};`,
    otherEvents,
    ...resources.map(({ resource, methods }) => `export interface ${capital(resource)} {\n${methods.join('\n\n')}\n}`),
    `/** The resources of the API, each with its methods. */\nexport interface Resources {\n${resources
      .map(({ resource }) => `  readonly ${resource}: ${capital(resource)};`)
      .join('\n')}\n}`,
    routeTable(resources.map(({ resource, operations }) => [resource, operations])),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
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
    params: params.map(([param, schema]) => [argumentName(route.path, param), schema]),
    body: 'body' in route && route.body instanceof z.ZodType ? route.body : undefined,
  };
}

/** `id` where it is the resource's own; `/projects/:id/tasks` takes a `projectId`. */
function argumentName(path: string, param: string): string {
  const owner = new RegExp(`/(\\w+)s/:${param}/`).exec(path)?.[1];
  return owner === undefined ? param : `${owner}Id`;
}

function methodOf(operation: Operation, types: Types): string {
  const { name, route, row, list, params, body } = operation;
  const rowType = types.print(row, 'answer');
  const parameters = params.map(([param, schema]) => `${param}: ${types.print(schema, 'request')}`);
  if (list) {
    const description = `The page and the filters of \`${operation.resource}.list\`.`;
    types.declare(`${rowType}Query`, route.query, { side: 'request', description });
    parameters.push(`query?: ${rowType}Query`);
  }
  if (body !== undefined) parameters.push(`body: ${types.print(body, 'request')}`);
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

/** TypeScript types of schemas, the named ones declared once. */
class Types {
  readonly declarations = new Map<string, string>();

  /** The type as it is written where it is used. */
  print(schema: z.ZodType, side: Side): string {
    const { id, description } = schema.meta() ?? {};
    if (id === undefined) return this.#inline(schema, side);
    this.declare(id, schema, { side, description });
    return schema instanceof z.ZodEnum && side === 'answer' ? `Open<${id}>` : id;
  }

  /** Declares the body of an event; answers its name. */
  addEvent(type: EventType): string {
    const name = `${type.split('.').map(capital).join('')}Event`;
    this.declare(name, deliveryBody(type), { side: 'answer', description: events[type].when });
    return name;
  }

  declare(name: string, schema: z.ZodType, { side, description }: { side: Side; description?: string | undefined }) {
    const head = description === undefined ? '' : comment([description], '');
    const declaration = head + this.#declaration(name, schema, side);
    const known = this.declarations.get(name);
    if (known !== undefined && known !== declaration) {
      throw new Error(`${name} is not the same in requests and in answers; give one another id.`);
    }
    this.declarations.set(name, declaration);
  }

  #declaration(name: string, schema: z.ZodType, side: Side): string {
    if (schema instanceof z.ZodObject) {
      return `export interface ${name} {\n${this.#fields(schema.shape, side).join('\n')}\n}`;
    }
    if (!(schema instanceof z.ZodEnum)) return `export type ${name} = ${this.#inline(schema, side)};`;
    const values = schema.options.map(literal);
    const line = `export type ${name} = ${values.join(' | ')};`;
    return line.length <= lineWidth ? line : `export type ${name} =\n  | ${values.join('\n  | ')};`;
  }

  #inline(schema: z.ZodType, side: Side): string {
    const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
    const print = (inner: z.core.$ZodType) => this.print(inner as z.ZodType, side);
    switch (def.type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'unknown':
      case 'null':
        return def.type;
      case 'literal':
        return union(def.values.map(literal));
      case 'enum':
        return side === 'answer' ? `Open<${enumOf(schema as z.ZodEnum)}>` : enumOf(schema as z.ZodEnum);
      case 'nullable':
        return union([print(def.innerType), 'null']);
      case 'optional':
      case 'default':
        return print(def.innerType);
      case 'array':
        return arrayOf(print(def.element));
      case 'record':
        return `Record<string, ${print(def.valueType)}>`;
      case 'union':
        return union(def.options.map(print));
      case 'pipe':
        return side === 'request' ? this.#fromText(def.out as z.ZodType) : print(def.out);
      case 'object':
        return `{ ${Object.entries(def.shape)
          .map(([name, field]) => this.#field(name, field as z.ZodType, side))
          .join('; ')} }`;
      default:
        throw new Error(`The client has no type for a schema of the kind ${def.type}.`);
    }
  }

  /** What the contract's preprocessing of paths and queries takes: text, or the value itself; one filter, or several. */
  #fromText(schema: z.ZodType): string {
    if (schema instanceof z.ZodArray) {
      const element = this.print(schema.element as z.ZodType, 'request');
      return union([element, `readonly ${arrayOf(element)}`]);
    }
    if (schema instanceof z.ZodBoolean) return "boolean | 'true' | 'false'";
    return union([this.print(schema, 'request'), 'string']);
  }

  #fields(shape: z.core.$ZodShape, side: Side): string[] {
    return Object.entries(shape as Record<string, z.ZodType>).map(([name, schema]) => {
      const { description } = schema.meta() ?? unwrap(schema).meta() ?? {};
      const head = description === undefined || isNamed(schema) ? '' : comment([description], '  ');
      return `${head}  ${this.#field(name, schema, side)};`;
    });
  }

  #field(name: string, schema: z.ZodType, side: Side): string {
    const { optin, optout } = schema._zod;
    const optional = (side === 'request' ? optin : optout) !== undefined;
    const type = this.print(schema, side);
    return optional ? `${name}?: ${type} | undefined` : `${name}: ${type}`;
  }
}

/** Without `optional`, `nullable` and `default` around it. */
function unwrap(schema: z.ZodType): z.ZodType {
  const inner = 'innerType' in schema.def ? (schema.def.innerType as z.ZodType) : undefined;
  return inner === undefined ? schema : unwrap(inner);
}

/** Whether the words are those of the type that the field names. */
function isNamed(schema: z.ZodType): boolean {
  const inner = unwrap(schema).meta();
  return inner?.id !== undefined && (schema.meta() ?? inner).description === inner.description;
}

function enumOf(schema: z.ZodEnum): string {
  return union(schema.options.map(literal));
}

function arrayOf(element: string): string {
  return element.includes(' | ') ? `(${element})[]` : `${element}[]`;
}

function union(types: string[]): string {
  return types.join(' | ');
}

/** The route of each method, as the client reads it at run time. */
function routeTable(resources: [resource: string, operations: Operation[]][]): string {
  const entries = resources.map(([resource, operations]) => {
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

function comment(lines: string[], indent: string): string {
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  const body = lines.map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${body.join('\n')}\n${indent} */\n`;
}

/** A value as TypeScript source, on one line where it fits. */
function literal(value: unknown): string {
  if (typeof value === 'string') return value.includes("'") ? JSON.stringify(value) : `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, inner]) => `${name}: ${literal(inner)}`);
  const line = `{ ${fields.join(', ')} }`;
  return line.length <= lineWidth - 20 ? line : `{\n${fields.map((field) => `  ${field},\n`).join('')}}`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
