/*
 * The model knows all values of a row except those that the server chooses: ids, times and ETags. Until a response
 * contains such a value, a placeholder is used.
 */

/** A placeholder for a text that the server chooses and no response has contained yet: a time or an ETag. */
export const unknownText = '(unknownText)';
/** A placeholder for an id that the server chooses and no response has contained yet. */
export const unknownId = -1;

/** Returns whether a response matches the expected values. Placeholders match every value. */
export function agrees(expected: unknown, reported: unknown): boolean {
  if (expected === reported) return true;
  if (expected === unknownText) return typeof reported === 'string';
  if (expected === unknownId) return typeof reported === 'number';
  if (!isObject(expected) || !isObject(reported) || Array.isArray(expected) !== Array.isArray(reported)) return false;
  const names = Object.keys(expected);
  return (
    names.length === Object.keys(reported).length &&
    names.every((name) => Object.hasOwn(reported, name) && agrees(expected[name], reported[name]))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
