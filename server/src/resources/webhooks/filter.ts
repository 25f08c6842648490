import { type ErrorDetail, type EventType, events, type WebhookFilter } from '@itsm-api/contract';
import * as z from 'zod';
import { detailsOf, validationError } from '../../shared/validation.ts';

interface FilterInput {
  events: readonly EventType[];
  filter?: WebhookFilter | null | undefined;
}

/**
 * Checks that every subscribed event type has all fields in the filter and that each value is valid for its field.
 * Otherwise, some event types or values could never match.
 * @throws ApiError VALIDATION_ERROR; the details list all invalid fields and values
 */
export function checkFilter({ events, filter }: FilterInput): void {
  const details = Object.entries(filter ?? {}).flatMap(([field, values]) => {
    const mismatch = events.find((event) => findFieldSchema(event, field) === undefined);
    if (mismatch !== undefined) return [{ path: `filter.${field}`, message: describeMissingField(mismatch) }];
    return events.flatMap((event) => findInvalidValues(findFieldSchema(event, field), field, values));
  });
  const [first] = details;
  if (first !== undefined) throw validationError(details.filter(isFirstOfItsPath));
}

/** The fields of events with a fixed set of values, and their values. Fields of several resources have all values. */
export const enumeratedFields: Readonly<Record<string, readonly string[]>> = findEnumeratedFields();

function findEnumeratedFields(): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { payload } of Object.values(events)) {
    for (const [name, schema] of Object.entries((payload as z.ZodObject).shape)) {
      const values = enumerationOf(schema as z.ZodType);
      if (values.length > 0) found[name] = [...new Set([...(found[name] ?? []), ...values])];
    }
  }
  return found;
}

function enumerationOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodNullable) return enumerationOf(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodEnum ? schema.options.map(String) : [];
}

/** Returns the schema for the values of a field in the event's payload, or undefined if filters can't use the field. */
function findFieldSchema(event: EventType, field: string): z.ZodType | undefined {
  const { shape } = events[event].payload as z.ZodObject;
  if (/^customFields\../.test(field)) return 'customFields' in shape ? CustomFieldItem : undefined;
  const schema = Object.hasOwn(shape, field) ? itemOf(shape[field] as z.ZodType) : undefined;
  return schema !== undefined && isScalar(schema) ? schema : undefined;
}

/** The values of a custom field that a filter such as `customFields.site` can match. A list matches by its items. */
const CustomFieldItem = z.union([z.string(), z.number(), z.boolean()], 'must be a string, a number, true or false');

/** Returns the schema for the items if a field is a list, and otherwise the schema of the field. */
function itemOf(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : schema;
}

function isScalar(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return isScalar(schema.unwrap() as z.ZodType);
  return !(schema instanceof z.ZodArray || schema instanceof z.ZodObject || schema instanceof z.ZodRecord);
}

function describeMissingField(event: EventType): string {
  const { shape } = events[event].payload as z.ZodObject;
  const names = Object.keys(shape).filter((name) => findFieldSchema(event, name) !== undefined);
  const all = 'customFields' in shape ? [...names, 'customFields.KEY'] : names;
  return `is not a filterable field of ${event}. Use one of: ${all.join(', ')}.`;
}

function findInvalidValues(schema: z.ZodType | undefined, field: string, values: readonly unknown[]): ErrorDetail[] {
  return values.flatMap((value, index) => {
    const path = `filter.${field}.${index}`;
    const { error, data } = schema?.safeParse(value) ?? {};
    // Rejects a value that the schema would normalize. Such a value could never match, because events contain only
    // normalized values.
    if (error === undefined)
      return data === value ? [] : [{ path, message: `must be written as ${JSON.stringify(data)}` }];
    return detailsOf(error.issues.slice(0, 1), 'is unknown').map(({ message }) => ({ path, message }));
  });
}

/** Returns true if no earlier error detail has the same path. Several event types can reject the same value. */
function isFirstOfItsPath({ path }: ErrorDetail, index: number, details: ErrorDetail[]): boolean {
  return details.findIndex((detail) => detail.path === path) === index;
}
