import { atLeastOne, deliveryBody, type EventType, events, openEnum } from '@itsm-api/contract';
import * as z from 'zod';
import { factsOf } from './hover-texts.ts';

/** The purpose of a generated type: requests or responses. Only arrays and inline enums differ between the two. */
export type Side = 'request' | 'response';

/** A type of the client, independent of the programming language. */
export type Type =
  | { kind: 'string' | 'boolean' | 'unknown' | 'null' }
  | { kind: 'number'; isInteger: boolean }
  | { kind: 'literal'; values: z.core.util.Literal[] }
  /** An enum without a name. In responses, a newer server can return other values. */
  | { kind: 'enum'; values: string[]; isOpen: boolean }
  /** A declared type. The declaration of an open type contains only the known values. */
  | { kind: 'named'; name: string; isOpen: boolean }
  | { kind: 'union'; of: Type[] }
  | { kind: 'array'; of: Type; isReadonly: boolean }
  | { kind: 'record'; of: Type }
  /** Text that consists of fixed parts and the text forms of types. */
  | { kind: 'template'; parts: (string | Type)[] }
  | ObjectType;

interface ObjectType {
  kind: 'object';
  fields: Field[];
  /** The fields of which a request must contain at least one. */
  atLeastOne: Field[];
  /** The type of all other fields. Undefined if the object has no others. */
  others: Type | undefined;
}

export interface Field {
  name: string;
  /** The description, the limits and the default value. */
  text: string;
  type: Type;
  isOptional: boolean;
}

/** A named type. */
export interface Declaration {
  description: string | undefined;
  type: Type;
  /** The places that use the type. */
  sides: Set<Side>;
}

/** Converts schemas to types. Declares the type of each named schema once. */
export class Types {
  readonly declarations = new Map<string, Declaration>();

  /** Returns the type of a schema. */
  of(schema: z.ZodType, side: Side): Type {
    const existing = openEnum.get(schema);
    if (existing !== undefined) return this.of(existing, 'request');
    const named = findNamed(schema);
    const { id, description } = named?.meta() ?? {};
    if (named === undefined || id === undefined) return this.#inline(schema, side);
    this.declare(id, named, { side, description });
    return { kind: 'named', name: id, isOpen: named instanceof z.ZodEnum || named instanceof z.ZodTemplateLiteral };
  }

  /** Declares the type of an event body, and returns the type name. */
  addEvent(type: EventType): string {
    const name = `${type.split('.').map(capitalize).join('')}Event`;
    this.declare(name, deliveryBody(type), { side: 'response', description: events[type].when });
    return name;
  }

  declare(name: string, schema: z.ZodType, { side, description }: { side: Side; description?: string | undefined }) {
    const type = this.#declaredType(schema, side);
    const existing = this.declarations.get(name);
    if (existing === undefined) this.declarations.set(name, { description, type, sides: new Set([side]) });
    else if (JSON.stringify([existing.description, existing.type]) === JSON.stringify([description, type])) {
      existing.sides.add(side);
    } else {
      throw new Error(`${name} has different types in requests and responses. Give one of them another id.`);
    }
  }

  #declaredType(schema: z.ZodType, side: Side): Type {
    if (schema instanceof z.ZodEnum) return { kind: 'enum', values: schema.options.map(String), isOpen: false };
    if (!(schema instanceof z.ZodObject)) return this.#inline(schema, side);
    const { of: choice = [] } = atLeastOne.get(schema) ?? {};
    const shape = Object.entries(schema.shape as Record<string, z.ZodType>);
    const fields = this.#fields(
      shape.filter(([field]) => !choice.includes(field)),
      side,
    );
    const { catchall } = schema.def;
    const hasOthers = catchall !== undefined && !(catchall instanceof z.ZodNever);
    const others = hasOthers ? this.of(catchall as z.ZodType, side) : undefined;
    const chosen = shape
      .filter(([field]) => choice.includes(field))
      .map(([field, of]): [string, z.ZodType] => [field, withoutOptional(of)]);
    return { kind: 'object', fields, atLeastOne: this.#fields(chosen, side), others };
  }

  #inline(schema: z.ZodType, side: Side): Type {
    const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
    const of = (inner: z.core.$ZodType) => this.of(inner as z.ZodType, side);
    switch (def.type) {
      case 'string':
      case 'boolean':
      case 'unknown':
      case 'null':
        return { kind: def.type };
      case 'number':
        return { kind: 'number', isInteger: (schema as z.ZodNumber).isInt };
      case 'literal':
        return { kind: 'literal', values: def.values };
      case 'enum':
        return { kind: 'enum', values: (schema as z.ZodEnum).options.map(String), isOpen: side === 'response' };
      case 'nullable':
        return union([of(def.innerType), { kind: 'null' }]);
      case 'optional':
      case 'catch':
      case 'default':
        return of(def.innerType);
      case 'array':
        return array(of(def.element), side);
      case 'record':
        // Clients send received maps back to the API, so maps need the same type in requests and responses.
        return { kind: 'record', of: this.of(def.valueType as z.ZodType, 'request') };
      case 'union':
        return union(def.options.map(of));
      case 'template_literal':
        return { kind: 'template', parts: def.parts.map((part) => (isSchema(part) ? of(part) : String(part))) };
      case 'pipe':
        return side === 'request' ? this.#fromText(def.out as z.ZodType) : of(def.out);
      case 'object':
        return {
          kind: 'object',
          fields: this.#fields(Object.entries(def.shape as Record<string, z.ZodType>), side),
          atLeastOne: [],
          others: undefined,
        };
      default:
        throw new Error(`The client has no type for the schema type ${def.type}. Add it to type-model.ts.`);
    }
  }

  /**
   * Returns the type of a path or query parameter. A caller can pass a value or its text form. For a filter, a caller
   * can also pass an array of values.
   */
  #fromText(schema: z.ZodType): Type {
    // The items of a bulk request must be an array. The client doesn't accept a single item.
    if (schema instanceof z.ZodArray && schema.element instanceof z.ZodCatch) return this.of(schema, 'request');
    if (schema instanceof z.ZodArray) {
      const element = this.of(schema.element as z.ZodType, 'request');
      return union([element, array(element, 'request')]);
    }
    if (schema instanceof z.ZodBoolean)
      return union([{ kind: 'boolean' }, { kind: 'literal', values: ['true', 'false'] }]);
    if (schema instanceof z.ZodLiteral)
      return { kind: 'literal', values: [...schema.values].flatMap((value) => [value, `${value}`]) };
    // Only values in bodies can be null. They are no text.
    if (schema instanceof z.ZodNullable) return this.of(schema, 'request');
    // The schema allows only some strings, such as ticket numbers, so the type `string` would be too wide.
    if (schema instanceof z.ZodUnion) return this.of(schema, 'request');
    return union([this.of(schema, 'request'), { kind: 'string' }]);
  }

  #fields(shape: [name: string, schema: z.ZodType][], side: Side): Field[] {
    return shape.map(([name, schema]) => {
      // A zod preprocessing step accepts undefined for every field. Only the schema after this step shows whether the
      // field is optional.
      const { optin, optout } = (schema instanceof z.ZodPipe ? (schema.out as z.ZodType) : schema)._zod;
      const isOptional = (side === 'request' ? optin : optout) !== undefined;
      return { name, text: factsOf(schema), type: this.of(schema, side), isOptional };
    });
  }
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

function union(of: Type[]): Type {
  return { kind: 'union', of };
}

function array(of: Type, side: Side): Type {
  return { kind: 'array', of, isReadonly: side === 'request' };
}

/** Returns the schema of a field without its `optional` wrapper. */
function withoutOptional(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
}

export function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
