/** So many custom fields, numbered from `from` on. */
export const keys = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i + from}`, 1]));

/** Takes so many bytes as JSON, of which the euro signs take three each. */
export const bytes = (size: number) => ({ k: '€'.repeat(5000) + 'x'.repeat(size - 15_000 - '{"k":""}'.length) });

/** What PostgreSQL or UTF-8 can't hold. */
export const unstorable = ['a\0b', '\0', 'half \ud83d', '\ude00 half', '\ude00\ud83d'];
