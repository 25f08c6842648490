import { readFileSync } from 'node:fs';
import { bulkItems, events, pathPrefix, requestLimits } from '@itsm-api/contract';
import { exampleCall } from '../../contract/src/openapi/calls.ts';
import { literal } from '../../contract/src/openapi/literal.ts';
import type { Model, Operation, Resource } from './model.ts';
import { capitalize, type Declaration, type Field, type Side, type Type } from './type-model.ts';

/** The line width that Biome uses for formatting. */
const lineWidth = 120;

/** A resource with the source code of its interface. */
interface PrintedResource extends Resource {
  methods: string[];
}

/**
 * Prints the TypeScript client, because the published client doesn't depend on the contract package. `generated.ts`
 * contains the types and the route table, and imports nothing. `generated-resources.ts` contains the method signatures.
 */
export function typeScriptSources(model: Model): Record<string, string> {
  const printer = new Printer(model);
  const resources = model.resources.map((resource) => ({
    ...resource,
    methods: resource.operations.map((operation) => printer.method(operation)),
  }));
  return {
    'client/src/generated.ts': typesSource(model, printer),
    'client/src/generated-resources.ts': resourcesSource(resources, printer),
  };
}

/** Prints the types and the methods of the client. */
class Printer {
  readonly declarations: string[];
  /** The names of the declared types that method signatures use. */
  readonly ofMethods = new Set<string>();
  /** The names of the declared types with the parameter `Fields`, which is the type of the custom fields. */
  readonly #withFields = new Set<string>();
  /** The names of the declared types with the parameter `Answers`, which is the type of the answers to a request form. */
  readonly #withAnswers = new Set<string>();
  readonly #names: ReadonlySet<string>;

  constructor({ types: { declarations } }: Model) {
    this.#names = new Set(declarations.keys());
    this.declarations = Array.from(declarations, ([name, declaration]) => this.#declaration(name, declaration));
  }

  #declaration(name: string, declaration: Declaration): string {
    const { description } = declaration;
    const head = description === undefined ? '' : comment([description], '');
    const plain = printDeclaration(name, declaration);
    const [ofFields, ofAnswers] = [/(: |<)Fields\b/.test(plain), /: Answers\b/.test(plain)];
    if (ofFields) this.#withFields.add(name);
    if (ofAnswers) this.#withAnswers.add(name);
    const parameter = ofFields ? fieldsParameter : ofAnswers ? '<Answers = RequestFormAnswers>' : '';
    return head + plain.replace(` ${name} `, ` ${name}${parameter} `);
  }

  method(operation: Operation): string {
    const { name, route, row, kind, params, query, sent, match } = operation;
    const rowType = row === undefined ? 'Download' : this.#argument(row, { isGeneric: true });
    const parameters = params.map(([param, type]) => `${param}: ${this.#argument(type)}`);
    if (kind === 'list') parameters.push(`query?: ${this.#named(query ?? '')}`);
    if (kind === 'changes') parameters.push('query?: FollowQuery');
    const sentType = sent === undefined ? '' : this.#argument(sent, { isGeneric: true });
    if (sent !== undefined) parameters.push(kind === 'answers' ? `items: readonly ${sentType}[]` : `body: ${sentType}`);
    if (operation.isUpload) parameters.push('file: FileUpload');
    const post = route.method === 'POST' ? 'Post' : '';
    const bulkOptions =
      match === undefined
        ? `Bulk${post}Options<BulkItemResult<${sentType}, ${rowType}>>`
        : `BulkUpsertOptions<${this.#argument(match.type)}, UpsertItemResult<${sentType}, ${rowType}>>`;
    parameters.push(`options?: ${kind === 'answers' ? bulkOptions : `${post || 'Request'}Options`}`);
    const answers = {
      one: `ApiPromise<${rowType}>`,
      file: `ApiPromise<${rowType}>`,
      list: `ApiList<${rowType}>`,
      changes: `ApiChanges<${rowType}>`,
      answers: `Promise<Bulk${match === undefined ? '' : 'Upsert'}Result<${sentType}, ${rowType}>>`,
    };
    const paragraphs = operation.paragraphs.map((lines) => lines.join('\n')).join('\n\n');
    const lines = [...paragraphs.split('\n'), '', '@example', ...exampleOf(operation).split('\n')];
    // The key of a form determines the type of its answers.
    const isForm = sentType.endsWith('<Forms[Key]>');
    if (isForm) parameters[0] = 'key: Key';
    const method = isForm ? `${name}<Key extends keyof Forms & string>` : name;
    const signature = `  ${method}(${parameters.join(', ')}): ${answers[kind]};`;
    const broken = `  ${method}(\n${parameters.map((parameter) => `    ${parameter},\n`).join('')}  ): ${answers[kind]};`;
    return `${comment(lines, '  ')}${signature.length <= lineWidth ? signature : broken}`;
  }

  /**
   * Prints a type of a signature, and imports the types that it names. A generic type has the parameter of the resource
   * if it has custom fields.
   */
  #argument(type: Type, { isGeneric = false } = {}): string {
    if (isGeneric && type.kind === 'named') return this.#named(type.name);
    const printed = print(type);
    for (const name of printed.match(/\w+/g) ?? []) {
      if (name === 'Open' || this.#names.has(name)) this.ofMethods.add(name);
    }
    return printed;
  }

  #named(name: string): string {
    this.ofMethods.add(name);
    if (this.#withAnswers.has(name)) return `${name}<Forms[Key]>`;
    return this.#withFields.has(name) ? `${name}<Fields>` : name;
  }
}

function typesSource({ resources, eventNames }: Model, { declarations }: Printer): string {
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
    ...declarations,
    `/** The events that this version of the client knows. */\nexport type KnownEvent = ${eventNames.join(' | ')};`,
    `/** The event types that this version of the client knows. */\nexport const eventTypes: readonly EventType[] = ${literal(Object.keys(events))};`,
    otherEvents,
    routeTable(resources),
  ]);
}

function resourcesSource(resources: PrintedResource[], { ofMethods }: Printer): string {
  const names = [...ofMethods, 'CustomFields', 'FieldsOf', 'FieldTypes', 'FormsOf', 'RequestFormAnswers']
    .sort(compareNames)
    .join(',\n  ');
  const uses = ({ methods }: PrintedResource, type: string) => methods.some((method) => method.includes(`<${type}`));
  const fields = resources
    .map((resource) => {
      const { name, text } = resource;
      const ofFields = uses(resource, 'Fields>') ? `<FieldsOf<Types, '${name.slice(0, -1)}'>>` : '';
      const type = uses(resource, 'Forms[') ? "<FieldsOf<Types, 'ticket'>, FormsOf<Types>>" : ofFields;
      return `  /** ${text} */\n  readonly ${name}: ${capitalize(name)}${type};`;
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
      const ofFields = uses(each, 'Fields>') ? fieldsParameter : '';
      const parameter = uses(each, 'Forms[') ? formsParameters : ofFields;
      return `export interface ${capitalize(each.name)}${parameter} {\n${each.methods.join('\n\n')}\n}`;
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
  /** The answers to request forms, by the key of the form. */
  forms?: object;
}

/** The custom fields of a resource: their own type, or else the type for any fields. */
export type FieldsOf<Types extends FieldTypes, Resource extends keyof FieldTypes> =
  Types extends Record<Resource, infer Fields extends object> ? Fields : CustomFields;

/** The answers to request forms: their own types, or else the type for any answers. */
export type FormsOf<Types extends FieldTypes> =
  Types extends Record<'forms', infer Forms extends object> ? Forms : Record<string, RequestFormAnswers>;

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

function exampleOf(operation: Operation): string {
  const { source, variable, isWalked } = exampleCall(operation);
  if (isWalked) return `for await (const ${variable} of ${source}) console.log(${variable}.${operation.rowKey});`;
  return `const ${variable} = await ${source};`;
}

/**
 * Prints the table of the client's routes. The table has a compact format, because it is the largest part of the
 * client.
 */
function routeTable(resources: Resource[]): string {
  const entries = resources.map(({ name, operations }) => {
    const routes = operations.map(({ name, definition }) => `    ${name}: ${literal(definition)},`);
    return `  ${name}: {\n${routes.join('\n')}\n  },`;
  });
  const words = [
    'The routes of the client methods. Each route has the HTTP method, the path, the scope and the argument.',
    'The first part of the scope is the rate limit group. An endpoint for any scope has only the rate limit group.',
    'The argument is `query`, `changes`, `body`, `file`, or `items=` and the body field with the items of a bulk request.',
    'For a `download`, the body of the response is a file. For an upsert, the last word is the default of `matchBy`.',
  ];
  return `/**\n * ${words.join('\n * ')}\n *\n * @internal\n */\nexport const routes = {\n${entries.join('\n')}\n} as const;`;
}

/** The parameter of the types and the resources with custom fields. */
const fieldsParameter = '<Fields extends object = CustomFields>';

/** The parameters of the resource of request forms, which creates tickets. */
const formsParameters = fieldsParameter.replace('>', ', Forms extends object = Record<string, RequestFormAnswers>>');

function printDeclaration(name: string, { type, sides }: Declaration): string {
  const [side] = sides;
  if (type.kind === 'enum') {
    const values = type.values.map((value) => literal(value));
    const line = `export type ${name} = ${values.join(' | ')};`;
    return line.length <= lineWidth ? line : `export type ${name} =\n  | ${values.join('\n  | ')};`;
  }
  if (type.kind !== 'object') return `export type ${name} = ${print(type)};`;
  const fields = printFields(type.fields, side);
  // An index signature in an interface must allow the types of all fields, so the declared type is an intersection
  // instead of an interface.
  if (type.others !== undefined) return `export type ${name} = Record<string, ${print(type.others)}> & ${fields};`;
  if (type.atLeastOne.length === 0) return `export interface ${name} ${fields}`;
  return `export type ${name} = AtLeastOne<${printFields(type.atLeastOne, side)}> & ${fields};`;
}

/** Prints a type as TypeScript source code. */
function print(type: Type): string {
  switch (type.kind) {
    case 'literal':
      return type.values.map((value) => literal(value)).join(' | ');
    case 'enum': {
      const values = type.values.map((value) => literal(value)).join(' | ');
      return type.isOpen ? `Open<${values}>` : values;
    }
    case 'named':
      return type.isOpen ? `Open<${type.name}>` : type.name;
    case 'union':
      return type.of.map(print).join(' | ');
    case 'array': {
      const element = print(type.of);
      const array = element.includes(' | ') ? `(${element})[]` : `${element}[]`;
      return type.isReadonly ? `readonly ${array}` : array;
    }
    case 'record':
      return `Record<string, ${print(type.of)}>`;
    case 'template':
      return `\`${type.parts.map((part) => (typeof part === 'string' ? part : `\${${print(part)}}`)).join('')}\``;
    case 'object':
      return printFields(type.fields);
    default:
      return type.kind;
  }
}

function printFields(fields: Field[], side: Side = 'response'): string {
  const printed = fields.map((field) => {
    const head = field.text === '' ? '' : comment([field.text], '  ');
    return `${head}  ${printField(field, side)};`;
  });
  return `{\n${printed.join('\n')}\n}`;
}

function printField({ name, type, isOptional }: Field, side: Side): string {
  // The type of an unnamed object is printed inline, so its fields need additional indentation.
  const printed = print(type).replaceAll('\n', '\n  ');
  const ofForm = name === 'answers' ? 'Answers' : printed;
  const fieldType = name === 'customFields' ? withFieldsType(printed, side) : ofForm;
  return isOptional ? `${name}?: ${fieldType} | undefined` : `${name}: ${fieldType}`;
}

/** Replaces the general type of custom fields and their filters by a type with the parameter. Only a new resource needs the required fields. */
function withFieldsType(type: string, side: Side): string {
  return type
    .replace(/^Record<.*>/, 'FieldFilters<Fields>')
    .replace(/^CustomFields(Patch)?\b/, (_, patch) =>
      side === 'request' && patch === undefined ? 'Fields' : 'SomeFields<Fields>',
    );
}

function comment(lines: string[], indent: string): string {
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  const body = lines.map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${body.join('\n')}\n${indent} */\n`;
}
