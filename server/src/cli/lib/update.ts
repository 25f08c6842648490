import * as z from 'zod';

/**
 * The input of an update: what names the thing, and what of it may change. At least one change must be given; an empty
 * value clears a field that may be without one.
 */
export function updateInput<Names extends z.ZodRawShape, Fields extends z.ZodRawShape>(names: Names, fields: Fields) {
  const changes = Object.entries(fields);
  const clearable = new Set(changes.filter(([, field]) => z.safeParse(field, null).success).map(([name]) => name));
  const cleared = ([name, value]: [string, unknown]) => [name, value === '' && clearable.has(name) ? null : value];
  const schema = z.strictObject({ ...names, ...fields }).refine((given) => changes.some(([name]) => name in given), {
    path: [changes[0]?.[0] ?? ''],
    message: 'or another option is required: what to change',
  });
  return z.preprocess((given: object) => Object.fromEntries(Object.entries(given).map(cleared)), schema);
}

/** What is said of options that may be cleared. */
export const clearing = "An empty value clears a field: --notes ''";
