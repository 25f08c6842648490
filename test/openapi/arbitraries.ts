import type { Schema } from '@itsm-api/contract/openapi';
import fc, { type Arbitrary } from 'fast-check';
import { follow } from './operations.ts';

/**
 * Valid cursors, valid answers and the ids of existing rows, by the name of the field or parameter that accepts them.
 */
export type KnownIds = Readonly<Record<string, readonly (number | string | object)[]>>;

/** Generates values that match a schema of the OpenAPI document. Most generated ids are ids of existing rows. */
export function valid(schema: Schema, ids: KnownIds = {}, field = ''): Arbitrary<unknown> {
  const { type, enum: values, const: constant, oneOf, anyOf = oneOf, ...rest } = follow(schema);
  if (constant !== undefined) return fc.constant(constant);
  if (Array.isArray(values)) return fc.constantFrom(...values);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((each: Schema) => valid(each, ids, field)));
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => valid({ ...rest, type: each }, ids, field)));
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return mostly<unknown>(ids[field], integer(rest));
    case 'number':
      // JSON Schema can't express the smallest absolute value that the server accepts.
      return fc
        .double({ min: -1e15, max: 1e15, noNaN: true })
        .filter((value) => value === 0 || Math.abs(value) >= 1e-9);
    case 'string':
      return mostly<unknown>(ids[field], text(rest));
    case 'array':
      return array(rest, ids, field);
    case 'object':
      return mostly<unknown>(ids[field], object(rest, ids));
    default:
      return fc.jsonValue();
  }
}

function mostly<Value>(known: readonly Value[] = [], any: Arbitrary<Value>): Arbitrary<Value> {
  return known.length === 0 ? any : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, any);
}

function integer({ minimum = 0, maximum = 1000 }: Schema): Arbitrary<number> {
  return fc.integer({ min: Number(minimum), max: Number(maximum) });
}

function text({ format, pattern, minLength = 0, maxLength = 300 }: Schema): Arbitrary<string> {
  const dates = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  });
  if (format === 'date') return dates.map((date) => date.toISOString().slice(0, 10));
  if (format === 'date-time') return dates.map((date) => date.toISOString());
  if (format === 'uri') return fc.domain().map((domain) => `https://${domain}/hook`);
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
  const lengths = { minLength: Number(minLength), maxLength: Number(maxLength) };
  const units = fc.oneof(fc.string({ ...lengths, unit: 'grapheme-ascii' }), fc.string({ ...lengths, unit: 'binary' }));
  // The server rejects control characters and trims texts before it checks their length. JSON Schema can't express
  // these rules.
  return units.filter(
    (value) =>
      !/[\p{Cc}--[\t\n\r]]/v.test(value) &&
      value.trim().length >= Number(minLength) &&
      value.length <= Number(maxLength),
  );
}

function array({ items, minItems = 0, maxItems = 5 }: Schema, ids: KnownIds, field: string): Arbitrary<unknown[]> {
  const lengths = { minLength: Number(minItems), maxLength: Math.min(Number(maxItems), 5) };
  return fc.array(valid(items as Schema, ids, field), lengths);
}

function object(schema: Schema, ids: KnownIds): Arbitrary<object> {
  const { properties = {}, required = [], additionalProperties, propertyNames, minProperties = 0 } = schema;
  // Omits fields that only an import key can set, because the requests use another key.
  const fields = Object.entries(properties as Record<string, Schema>).filter(
    ([, { description }]) => !String(description).includes('Only an import key can set it.'),
  );
  const named = fc.record(Object.fromEntries(fields.map(([name, field]) => [name, valid(field, ids, name)])), {
    requiredKeys: required as string[],
  });
  const free =
    typeof additionalProperties === 'object' && additionalProperties !== null
      ? fc.dictionary(
          valid((propertyNames ?? { type: 'string' }) as Schema).map(String),
          valid(additionalProperties as Schema),
          {
            maxKeys: 5,
          },
        )
      : fc.constant({});
  return fc
    .tuple(named, free)
    .map(([some, others]) => withoutContradictions({ ...some, ...others }))
    .filter((value) => Object.keys(value).length >= Number(minProperties));
}

/**
 * Removes the fields that a patch can't have together with `tags`, and planned windows that are invalid. JSON Schema
 * can't express these rules. The updated tickets are no changes, so they can't have a window.
 */
function withoutContradictions(fields: Record<string, unknown>): object {
  const { tags, addTags, removeTags, plannedStartAt, plannedEndAt, ...others } = fields;
  const tagging =
    tags === undefined
      ? { ...(addTags !== undefined && { addTags }), ...(removeTags !== undefined && { removeTags }) }
      : { tags };
  const areGiven = typeof plannedStartAt === 'string' && typeof plannedEndAt === 'string';
  const hasWindow = others.type === 'CHANGE' && areGiven && plannedStartAt < plannedEndAt;
  return { ...others, ...tagging, ...(hasWindow && { plannedStartAt, plannedEndAt }) };
}
