import type { OpenApi, Schema } from '@itsm-api/contract/openapi';
import { follow } from './operations.ts';

export interface Sides {
  released: OpenApi;
  present: OpenApi;
}

/**
 * Whether a schema describes requests or responses. Request schemas may allow more values than before, and response
 * schemas may allow fewer.
 */
type Direction = 'request' | 'response';

type Fields = Record<string, Schema>;

/** Returns the schema changes that break existing clients. */
export function findSchemaBreaks(sides: Sides, direction: Direction, old: Schema, now: Schema, at: string): string[] {
  const [was, is] = [plain(old, sides.released), plain(now, sides.present)];
  const inner = (before: unknown, after: unknown, place: string) =>
    isSchema(before) && isSchema(after) ? findSchemaBreaks(sides, direction, before, after, place) : [];
  return [
    ...findValueBreaks(direction, was, is).map((what) => `${at}: ${what}`),
    ...(direction === 'request' ? findLimitBreaks(was, is).map((what) => `${at}: ${what}`) : []),
    ...findFieldBreaks(direction, was, is, at),
    ...Object.entries(fieldsOf(was)).flatMap(([name, field]) => inner(field, fieldsOf(is)[name], `${at}.${name}`)),
    ...inner(was.items, is.items, `${at}[]`),
    ...inner(was.additionalProperties, is.additionalProperties, `${at}{}`),
    ...newNames(was, is).flatMap((name) => inner(was.additionalProperties, fieldsOf(is)[name], `${at}.${name}`)),
    ...inner(was.propertyNames, is.propertyNames, `names of ${at}`),
    ...findChoiceBreaks(sides, direction, was, is, at),
  ];
}

/** Returns the breaking changes to types, constants, enums and formats. */
function findValueBreaks(direction: Direction, was: Schema, is: Schema): string[] {
  const isRequest = direction === 'request';
  const [narrower, wider] = isRequest ? [was, is] : [is, was];
  const added = typesOf(narrower).filter((type) => wider.type !== undefined && !typesOf(wider).includes(type));
  const isNarrowed = narrower.type === undefined && wider.type !== undefined && choicesOf(narrower) === undefined;
  return [
    ...added.map((type) => `type ${type} is ${isRequest ? 'no longer taken' : 'new'}`),
    ...(isNarrowed ? [isRequest ? 'other types are no longer taken' : 'the type is open now'] : []),
    ...(wider.const !== undefined && was.const !== is.const ? ['the constant is changed'] : []),
    ...(isRequest ? removedValues(was, is) : []),
    ...(wider.format !== undefined && was.format !== is.format && !isNewIntegerFormat(was, is)
      ? [`format ${was.format ?? 'none'} became ${is.format ?? 'none'}`]
      : []),
  ];
}

/**
 * Returns true if the new schema adds a format to an integer, and the format has enough bits. The format `int64` has
 * enough bits for every integer that JSON can represent exactly.
 */
function isNewIntegerFormat(was: Schema, is: Schema): boolean {
  if (was.format !== undefined || !typesOf(was).includes('integer')) return false;
  const fitsInt32 = Number(was.minimum) >= -(2 ** 31) && Number(was.maximum) < 2 ** 31;
  return is.format === 'int64' || (is.format === 'int32' && fitsInt32);
}

function removedValues(was: Schema, is: Schema): string[] {
  if (!Array.isArray(is.enum)) return [];
  if (!Array.isArray(was.enum)) return ['only some values are still taken'];
  const present = is.enum;
  return was.enum.filter((value) => !present.includes(value)).map((value) => `value ${value} is no longer taken`);
}

/** Returns the limits that are stricter in the new schema than in the released schema. */
function findLimitBreaks(was: Schema, is: Schema): string[] {
  const minimums = ['minimum', 'minLength', 'minItems', 'minProperties'];
  const maximums = ['maximum', 'maxLength', 'maxItems', 'maxProperties'];
  return [
    ...minimums.filter((limit) => Number(is[limit] ?? -Infinity) > Number(was[limit] ?? -Infinity)),
    ...maximums.filter((limit) => Number(is[limit] ?? Infinity) < Number(was[limit] ?? Infinity)),
    ...(is.pattern !== undefined && is.pattern !== was.pattern ? ['pattern'] : []),
    ...(is.uniqueItems === true && was.uniqueItems !== true ? ['uniqueItems'] : []),
  ].map((limit) => `${limit} is tighter`);
}

function findFieldBreaks(direction: Direction, was: Schema, is: Schema, at: string): string[] {
  const closed = is.additionalProperties === false;
  const removed = Object.keys(fieldsOf(was)).filter((name) => !(name in fieldsOf(is)));
  const required = requiredOf(is).filter((name) => !requiredOf(was).includes(name));
  const optional = requiredOf(was).filter((name) => !requiredOf(is).includes(name) && name in fieldsOf(is));
  if (direction === 'response') {
    return [
      ...removed.map((name) => `${at}.${name}: the field is removed`),
      ...optional.map((name) => `${at}.${name}: the field may be absent now`),
    ];
  }
  return [
    ...(closed ? removed.map((name) => `${at}.${name}: the field is removed`) : []),
    ...required.map((name) => `${at}.${name}: the field is newly required`),
    ...(closed && was.additionalProperties !== false && was.type === 'object'
      ? [`${at}: other fields are no longer taken`]
      : []),
  ];
}

/** Returns the choices that were removed from a request schema or added to a response schema. */
function findChoiceBreaks(sides: Sides, direction: Direction, was: Schema, is: Schema, at: string): string[] {
  const now = choicesOf(is);
  // A request schema with one type may become a choice that includes the type.
  const old = choicesOf(was) ?? (direction === 'request' && now !== undefined ? splitTypes(was) : undefined);
  if (old === undefined || now === undefined) return old === now ? [] : [`${at}: the choices are others`];
  const [required, offered] = direction === 'request' ? [old, now] : [now, old];
  const fits = (choice: Schema, other: Schema) => {
    const [before, after] = direction === 'request' ? [choice, other] : [other, choice];
    return findSchemaBreaks(sides, direction, before, after, at).length === 0;
  };
  const lost = required.filter((choice) => !offered.some((other) => fits(choice, other)));
  return lost.map(
    (choice) => `${at}: the choice ${JSON.stringify(choice)} ${direction === 'request' ? 'is removed' : 'is new'}`,
  );
}

/** Converts a schema with several types to one schema per type. */
function splitTypes(schema: Schema): Schema[] {
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : [schema];
}

/** Returns the new named properties of a map. Clients may already use these names for additional properties. */
function newNames(was: Schema, is: Schema): string[] {
  return Object.keys(fieldsOf(is)).filter((name) => !(name in fieldsOf(was)));
}

/** Resolves references. Converts a choice between a schema and null to a single nullable schema. */
function plain(schema: Schema, document: OpenApi): Schema {
  const { anyOf, ...rest } = follow(schema, document);
  const [choice, other] = Array.isArray(anyOf) && anyOf.length === 2 ? (anyOf as Schema[]) : [];
  if (choice === undefined || other?.type !== 'null') return anyOf === undefined ? rest : { ...rest, anyOf };
  const inner = plain(choice, document);
  if (Array.isArray(inner.anyOf)) return { ...inner, ...rest, anyOf: [...inner.anyOf, other] };
  return {
    ...inner,
    ...rest,
    type: [...typesOf(inner), 'null'],
    ...(Array.isArray(inner.enum) && { enum: [...inner.enum, null] }),
  };
}

function choicesOf({ anyOf, oneOf }: Schema): Schema[] | undefined {
  return (anyOf ?? oneOf) as Schema[] | undefined;
}

function typesOf({ type }: Schema): unknown[] {
  return type === undefined ? [] : [type].flat();
}

function fieldsOf({ properties = {} }: Schema): Fields {
  return properties as Fields;
}

function requiredOf({ required = [] }: Schema): string[] {
  return required as string[];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
