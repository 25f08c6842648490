/*
 * The model knows what a row holds but for what the server chooses: ids, moments and tags. Until an answer tells such a
 * value, one of these stands in its place.
 */

/** A text that the server chose and nobody has been told yet: a moment, a tag. */
export const untold = '(untold)';
/** An id that the server chose and nobody has been told yet. */
export const untoldId = -1;

/** Whether an answer is what the model says, which may leave open what nobody has been told. */
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
