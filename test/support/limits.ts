/** Returns `count` custom fields with numbered names. The first number is `from`. */
export const keys = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i + from}`, 1]));

/**
 * Returns custom fields with a JSON size of `size` bytes. The text contains euro signs, which take three bytes each.
 */
export const bytes = (size: number) => ({ k: '€'.repeat(5000) + 'x'.repeat(size - 15_000 - '{"k":""}'.length) });

/** Texts with characters that PostgreSQL or UTF-8 can't store. */
export const unstorable = ['a\0b', '\0', 'half \ud83d', '\ude00 half', '\ude00\ud83d'];
