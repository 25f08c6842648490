import { atLeastOne, deliveryBody, type EventType, events, openEnum } from '@itsm-api/contract';
import * as z from 'zod';
import { literal } from '../../contract/src/openapi/literal.ts';
import { factsOf } from './hover-texts.ts';

/** As Biome breaks lines. */
export const lineWidth = 120;

/** Whether a type is for what is sent, whose arrays may be read-only, or for what is answered, whose enums are open. */
type Side = 'request' | 'answer';

/** TypeScript types of schemas, the named ones declared once. */
export class Types {
  readonly declarations = new Map<string, string>();
  /** The declared ones that methods take or answer. */
  readonly ofMethods = new Set<string>();

  /** The type as it is written where it is used. */
  print(schema: z.ZodType, side: Side): string {
    const known = openEnum.get(schema);
    if (known !== undefined) return this.print(known, 'request');
    const named = namedOf(schema);
    const { id, description } = named?.meta() ?? {};
    if (named === undefined || id === undefined) return this.#inline(schema, side);
    this.declare(id, named, { side, description });
    return named instanceof z.ZodEnum || named instanceof z.ZodTemplateLiteral ? `Open<${id}>` : id;
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
      const { of: choice = [] } = atLeastOne.get(schema) ?? {};
      const shape = Object.entries(schema.shape as Record<string, z.ZodType>);
      const rest = shape.filter(([field]) => !choice.includes(field));
      const fields = `{\n${this.#fields(Object.fromEntries(rest), side).join('\n')}\n}`;
      const { catchall } = schema.def;
      if (catchall !== undefined && !(catchall instanceof z.ZodNever)) {
        // An interface has no room for fields beside its own whose type is another.
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
        return side === 'answer' ? `Open<${enumOf(schema as z.ZodEnum)}>` : enumOf(schema as z.ZodEnum);
      case 'nullable':
        return union([print(def.innerType), 'null']);
      case 'optional':
      case 'catch':
      case 'default':
        return print(def.innerType);
      case 'array':
        return arrayOf(print(def.element), side);
      case 'record':
        // Such maps are read and written back as they are.
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
        throw new Error(`The client has no type for a schema of the type ${def.type}.`);
    }
  }

  /** What the contract's preprocessing of paths and queries takes: text, or the value itself; one filter, or several. */
  #fromText(schema: z.ZodType): string {
    // The items of a bulk request, each checked by itself.
    if (schema instanceof z.ZodArray && schema.element instanceof z.ZodCatch) return this.print(schema, 'request');
    if (schema instanceof z.ZodArray) {
      const element = this.print(schema.element as z.ZodType, 'request');
      return union([element, arrayOf(element, 'request')]);
    }
    if (schema instanceof z.ZodBoolean) return "boolean | 'true' | 'false'";
    // Words beside the number leave no room for other text.
    if (schema instanceof z.ZodUnion) return this.print(schema, 'request');
    return union([this.print(schema, 'request'), 'string']);
  }

  #fields(shape: z.core.$ZodShape, side: Side): string[] {
    return Object.entries(shape as Record<string, z.ZodType>).map(([name, schema]) => {
      const words = factsOf(schema);
      const head = words === '' ? '' : comment([words], '  ');
      return `${head}  ${this.#field(name, schema, side)};`;
    });
  }

  #field(name: string, schema: z.ZodType, side: Side): string {
    // What is made of a value before it is looked at doesn't make it optional.
    const { optin, optout } = (schema instanceof z.ZodPipe ? (schema.out as z.ZodType) : schema)._zod;
    const optional = (side === 'request' ? optin : optout) !== undefined;
    // The fields of an object without a name stand within it.
    const type = this.print(schema, side).replaceAll('\n', '\n  ');
    return optional ? `${name}?: ${type} | undefined` : `${name}: ${type}`;
  }
}

/** The schema itself where it has a name, or the one that it says in other words. */
function namedOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema.meta()?.id !== undefined) return schema;
  const { parent } = schema._zod as { parent?: z.ZodType };
  return parent && namedOf(parent);
}

/** A part of a template that stands for several texts. */
function isSchema(part: unknown): part is z.core.$ZodType {
  return typeof part === 'object' && part !== null;
}

function enumOf(schema: z.ZodEnum): string {
  return union(schema.options.map(literal));
}

function arrayOf(element: string, side: Side): string {
  const array = element.includes(' | ') ? `(${element})[]` : `${element}[]`;
  return side === 'request' ? `readonly ${array}` : array;
}

/** A field that may be left out, as one that may not. */
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

export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
