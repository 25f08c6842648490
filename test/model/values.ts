/*
 * The model knows all values of a row except those that the server chooses: ids, times and ETags. Until a response
 * contains such a value, a placeholder is used.
 */

/** A text chosen by the server and still unknown: a time or an ETag. */
export const untold = '(untold)';
/** An id chosen by the server and still unknown. */
export const untoldId = -1;

/** Returns whether a response matches the model, in which values can still be unknown. */
export function agrees(expected: unknown, told: unknown): boolean {
  if (expected === told) return true;
  if (expected === untold) return typeof told === 'string';
  if (expected === untoldId) return typeof told === 'number';
  if (!isObject(expected) || !isObject(told) || Array.isArray(expected) !== Array.isArray(told)) return false;
  const names = Object.keys(expected);
  return (
    names.length === Object.keys(told).length &&
    names.every((name) => Object.hasOwn(told, name) && agrees(expected[name], told[name]))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
