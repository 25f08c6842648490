import { type ErrorDetail, type EventType, events, type WebhookFilter } from '@itsm-api/contract';
import * as z from 'zod';
import { detailsOf, validationError } from '../../shared/validation.ts';

interface Filtered {
  events: readonly EventType[];
  filter?: WebhookFilter | null | undefined;
}

/**
 * Checks that every field of a filter is one that each of the events has, and that its values are ones which it can have:
 * else the subscription would wait for what never comes.
 * @throws ApiError VALIDATION_ERROR naming each field and value
 */
export function checkFilter({ events, filter }: Filtered): void {
  const details = Object.entries(filter ?? {}).flatMap(([field, values]) => {
    const lacking = events.find((event) => fieldOf(event, field) === undefined);
    if (lacking !== undefined) return [{ path: `filter.${field}`, message: lacks(lacking) }];
    return events.flatMap((event) => wrongValues(fieldOf(event, field), field, values));
  });
  const [first] = details;
  if (first !== undefined) throw validationError(details.filter(isFirstOfItsPath));
}

/** The schema of a field of an event's resource; undefined where it has none that filters can look at. */
function fieldOf(event: EventType, field: string): z.ZodType | undefined {
  const { shape } = events[event].payload as z.ZodObject;
  const schema = Object.hasOwn(shape, field) ? (shape[field] as z.ZodType) : undefined;
  return schema !== undefined && isScalar(schema) ? schema : undefined;
}

function isScalar(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return isScalar(schema.unwrap() as z.ZodType);
  return !(schema instanceof z.ZodArray || schema instanceof z.ZodObject || schema instanceof z.ZodRecord);
}

function lacks(event: EventType): string {
  const { shape } = events[event].payload as z.ZodObject;
  const names = Object.keys(shape).filter((name) => isScalar(shape[name] as z.ZodType));
  return `is not a filterable field of ${event}. Use one of: ${names.join(', ')}.`;
}

function wrongValues(schema: z.ZodType | undefined, field: string, values: readonly unknown[]): ErrorDetail[] {
  return values.flatMap((value, index) => {
    const path = `filter.${field}.${index}`;
    const { error, data } = schema?.safeParse(value) ?? {};
    // What is written otherwise as it is taken is so in no event.
    if (error === undefined)
      return data === value ? [] : [{ path, message: `must be written as ${JSON.stringify(data)}` }];
    return detailsOf(error.issues.slice(0, 1), 'is unknown').map(({ message }) => ({ path, message }));
  });
}

/** Two events may find fault with the same value. */
function isFirstOfItsPath({ path }: ErrorDetail, index: number, details: ErrorDetail[]): boolean {
  return details.findIndex((detail) => detail.path === path) === index;
}
