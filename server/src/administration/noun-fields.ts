import { Id, integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import type { Context } from '../resources/shared/context.ts';
import type { Field, NounDeclaration, Operations } from './noun.ts';

/** A field of the requests that create and update a noun. */
export interface RequestField extends Field {
  name: string;
  /** The schema of a value, which is neither null nor undefined. */
  schema: z.ZodType;
  /** The values of an enumeration. */
  choices: readonly string[] | undefined;
  isBoolean: boolean;
  /** Whether a new row needs a value. */
  isRequired: boolean;
  isNullable: boolean;
  isInCreate: boolean;
  isInUpdate: boolean;
}

/** Returns the fields of a noun, in the order of its forms. */
export function fieldsOf({ fields, schemas: { create, update } }: NounDeclaration): RequestField[] {
  return Object.entries(fields).map(([name, field]) => {
    const [ofCreate, ofUpdate]: (z.ZodType | undefined)[] = [create.shape[name], update.shape[name]];
    const given = ofUpdate ?? ofCreate ?? z.never();
    const schema = withoutAbsence(given);
    return {
      ...field,
      ...{ name, schema, choices: schema instanceof z.ZodEnum ? schema.options.map(String) : undefined },
      isBoolean: schema instanceof z.ZodBoolean,
      isRequired: ofCreate?.safeParse(undefined).success === false,
      isNullable: given.safeParse(null).success,
      ...{ isInCreate: ofCreate !== undefined, isInUpdate: ofUpdate !== undefined },
    };
  });
}

function withoutAbsence(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? withoutAbsence(schema.unwrap() as z.ZodType) : schema;
}

/** Returns the schemas of the fields that identify a row, as text. */
export function keyShape({ key, schemas }: NounDeclaration): Record<string, z.ZodType> {
  return Object.fromEntries(key.map((name) => [name, schemas.create.shape[name] ?? integerFromText(Id)]));
}

/** Returns the fields of an object that identify a row. */
export function keyOf({ key }: NounDeclaration, row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(key.map((name) => [name, row[name]]));
}

/** Converts the values that a person typed to a request. @throws ApiError INVALID_REFERENCE */
export async function toRequest(
  { converters = {} }: Operations,
  context: Context,
  typed: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const values = Object.entries(typed).map(async ([name, value]) => {
    const converter = converters[name];
    return [name, value == null || converter === undefined ? value : await converter.toValue(context, value)];
  });
  return Object.fromEntries(await Promise.all(values));
}
