import { atLeastOne, deliveryBody, type EventType, events, openEnum } from '@itsm-api/contract';
import * as z from 'zod';
import { literal } from '../../contract/src/openapi/literal.ts';
import { factsOf } from './hover-texts.ts';

/** The line width that Biome uses for formatting. */
export const lineWidth = 120;

/**
 * The purpose of a generated type: requests or responses. Request types have read-only arrays. Enums in response types
 * include unknown values.
 */
type Side = 'request' | 'response';

/** Converts schemas to TypeScript types. Declares the type of each named schema once. */
export class Types {
  readonly declarations = new Map<string, string>();
  /** The names of the declared types that method signatures use. */
  readonly ofMethods = new Set<string>();
  /** The names of the declared types with the parameter `Fields`, which is the type of the custom fields. */
  readonly withFields = new Set<string>();

  /** Returns the TypeScript type of a schema as source code. */
  print(schema: z.ZodType, side: Side): string {
    const existing = openEnum.get(schema);
    if (existing !== undefined) return this.print(existing, 'request');
    const named = findNamed(schema);
    const { id, description } = named?.meta() ?? {};
    if (named === undefined || id === undefined) return this.#inline(schema, side);
    this.declare(id, named, { side, description });
    return named instanceof z.ZodEnum || named instanceof z.ZodTemplateLiteral ? `Open<${id}>` : id;
  }

  /** Declares the type of an event body, and returns the type name. */
  addEvent(type: EventType): string {
    const name = `${type.split('.').map(capitalize).join('')}Event`;
    this.declare(name, deliveryBody(type), { side: 'response', description: events[type].when });
    return name;
  }

  declare(name: string, schema: z.ZodType, { side, description }: { side: Side; description?: string | undefined }) {
    const head = description === undefined ? '' : comment([description], '');
    const plain = this.#declaration(name, schema, side);
    const hasFields = /(: |<)Fields\b/.test(plain);
    if (hasFields) this.withFields.add(name);
    const declaration = head + (hasFields ? plain.replace(` ${name} `, ` ${name}${fieldsParameter} `) : plain);
    const existing = this.declarations.get(name);
    if (existing !== undefined && existing !== declaration) {
      throw new Error(`${name} has different types in requests and responses. Give one of them another id.`);
    }
    this.declarations.set(name, declaration);
  }

  #declaration(name: string, schema: z.ZodType, side: Side): string {
    if (schema instanceof z.ZodObject) {
      const { of: choice = [] } = atLeastOne.get(schema) ?? {};
      const shape = Object.entries(schema.shape as Record<string, z.ZodType>);
      const rest = shape.filter(([field]) => !choice.includes(field));
      const fields = `{\n${this.#fields(Object.fromEntries(rest), side).join('\n')}\n}`;
      const { catchall } = schema.def;
      if (catchall !== undefined && !(catchall instanceof z.ZodNever)) {
        // An index signature in an interface must allow the types of all fields, so the declared type is an
        // intersection instead of an interface.
        return `export type ${name} = Record<string, ${this.print(catchall as z.ZodType, side)}> & ${fields};`;
      }
      if (choice.length === 0) return `export interface ${name} ${fields}`;
      const chosen = shape
        .filter(([field]) => choice.includes(field))
        .map(([field, of]) => [field, withoutOptional(of)]);
      const either = `AtLeastOne<{\n${this.#fields(Object.fromEntries(chosen), side).join('\n')}\n}>`;
      return `export type ${name} = ${either} & ${fields};`;
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
        return side === 'response' ? `Open<${printEnum(schema as z.ZodEnum)}>` : printEnum(schema as z.ZodEnum);
      case 'nullable':
        return union([print(def.innerType), 'null']);
      case 'optional':
      case 'catch':
      case 'default':
        return print(def.innerType);
      case 'array':
        return printArray(print(def.element), side);
      case 'record':
        // Clients send received maps back to the API, so maps need the same type in requests and responses.
        return `Record<string, ${this.print(def.valueType as z.ZodType, 'request')}>`;
      case 'union':
        return union(def.options.map(print));
      case 'template_literal':
        return `\`${def.parts.map((part) => (isSchema(part) ? `\${${print(part)}}` : String(part))).join('')}\``;
      case 'pipe':
        return side === 'request' ? this.#fromText(def.out as z.ZodType) : print(def.out);
      case 'object':
        return `{\n${this.#fields(def.shape, side).join('\n')}\n}`;
      default:
        throw new Error(`There is no TypeScript type for the schema type ${def.type}. Add it to generate-types.ts.`);
    }
  }

  /**
   * Returns the type of a path or query parameter. A caller can pass a value or its text form. For a filter, a caller
   * can also pass an array of values.
   */
  #fromText(schema: z.ZodType): string {
    // The items of a bulk request must be an array. The client doesn't accept a single item.
    if (schema instanceof z.ZodArray && schema.element instanceof z.ZodCatch) return this.print(schema, 'request');
    if (schema instanceof z.ZodArray) {
      const element = this.print(schema.element as z.ZodType, 'request');
      return union([element, printArray(element, 'request')]);
    }
    if (schema instanceof z.ZodBoolean) return "boolean | 'true' | 'false'";
    if (schema instanceof z.ZodLiteral)
      return union([...schema.values].flatMap((value) => [value, `${value}`]).map(literal));
    // Only values in bodies can be null. They are no text.
    if (schema instanceof z.ZodNullable) return this.print(schema, 'request');
    // The schema allows only some strings, such as ticket numbers, so the type `string` would be too wide.
    if (schema instanceof z.ZodUnion) return this.print(schema, 'request');
    return union([this.print(schema, 'request'), 'string']);
  }

  #fields(shape: z.core.$ZodShape, side: Side): string[] {
    return Object.entries(shape as Record<string, z.ZodType>).map(([name, schema]) => {
      const text = factsOf(schema);
      const head = text === '' ? '' : comment([text], '  ');
      return `${head}  ${this.#field(name, schema, side)};`;
    });
  }

  #field(name: string, schema: z.ZodType, side: Side): string {
    // A zod preprocessing step accepts undefined for every field. Only the schema after this step shows whether the
    // field is optional.
    const { optin, optout } = (schema instanceof z.ZodPipe ? (schema.out as z.ZodType) : schema)._zod;
    const optional = (side === 'request' ? optin : optout) !== undefined;
    // The type of an unnamed object is printed inline, so its fields need additional indentation.
    const printed = this.print(schema, side).replaceAll('\n', '\n  ');
    const type = name === 'customFields' ? withFieldsType(printed, side) : printed;
    return optional ? `${name}?: ${type} | undefined` : `${name}: ${type}`;
  }
}

/** The parameter of the types and the resources with custom fields. */
export const fieldsParameter = '<Fields extends object = CustomFields>';

/** Replaces the general type of custom fields and their filters by a type with the parameter. Only a new resource needs the required fields. */
function withFieldsType(type: string, side: Side): string {
  return type
    .replace(/^Record<.*>/, 'FieldFilters<Fields>')
    .replace(/^CustomFields(Patch)?\b/, (_, patch) =>
      side === 'request' && patch === undefined ? 'Fields' : 'SomeFields<Fields>',
    );
}

/**
 * Returns the schema itself if it has a name. Otherwise, returns the nearest named schema from which the schema is
 * derived. Returns undefined if there is none.
 */
function findNamed(schema: z.ZodType): z.ZodType | undefined {
  if (schema.meta()?.id !== undefined) return schema;
  const { parent } = schema._zod as { parent?: z.ZodType };
  return parent && findNamed(parent);
}

/** Returns true if a part of a template literal is a schema, and false if it is fixed text. */
function isSchema(part: unknown): part is z.core.$ZodType {
  return typeof part === 'object' && part !== null;
}

function printEnum(schema: z.ZodEnum): string {
  return union(schema.options.map(literal));
}

function printArray(element: string, side: Side): string {
  const array = element.includes(' | ') ? `(${element})[]` : `${element}[]`;
  return side === 'request' ? `readonly ${array}` : array;
}

/** Returns the schema of a field without its `optional` wrapper. */
function withoutOptional(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
}

export function union(types: string[]): string {
  return types.join(' | ');
}

export function comment(lines: string[], indent: string): string {
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  const body = lines.map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${body.join('\n')}\n${indent} */\n`;
}

export function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
