import * as z from 'zod';

/**
 * Returns the input schema of an update command. The schema requires at least one change, and converts an empty value
 * of a nullable field to null.
 * @param names the options and arguments that identify the resource
 * @param fields the fields that the command can change
 */
export function updateInput<Names extends z.ZodRawShape, Fields extends z.ZodRawShape>(names: Names, fields: Fields) {
  const changes = Object.entries(fields);
  const clearable = new Set(changes.filter(([, field]) => z.safeParse(field, null).success).map(([name]) => name));
  const cleared = ([name, value]: [string, unknown]) => [name, value === '' && clearable.has(name) ? null : value];
  const schema = z.strictObject({ ...names, ...fields }).refine((given) => changes.some(([name]) => name in given), {
    path: [changes[0]?.[0] ?? ''],
    message: 'or another option is required. Choose what to change',
  });
  return z.preprocess((given: object) => Object.fromEntries(Object.entries(given).map(cleared)), schema);
}

/** The schema of an option whose value is `true` or `false`. */
export const TrueOrFalse = z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' });

/** A sentence in the help that explains how to clear a field. Some commands replace `notes` with another option. */
export const clearing = "To clear a field, pass an empty value, such as --notes ''.";
