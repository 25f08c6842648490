/*
 * The model knows all values of a row except the values that the server chooses: ids, times and ETags. A placeholder
 * stands for an unknown value until a response contains the value.
 */

/** The placeholder for an unknown time or ETag. */
export const unknownText = '(unknownText)';
/** The placeholder for an unknown id. */
export const unknownId = -1;

/** Returns true if a response matches the expected values. A placeholder matches every value of its type. */
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
