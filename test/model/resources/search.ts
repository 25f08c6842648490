/*
 * Words of a search (docs/decisions/full-text-search.md): runs of letters and digits in lower case.
 */

/**
 * Whether a row holds all words of a search, in any order; the last may be the beginning of one.
 * @param texts what of it is looked at
 * @param names what of it is one word as it stands, which is never a beginning
 */
export function holdsWords(q: string, texts: readonly string[], names: readonly string[] = []): boolean {
  if (names.some((name) => name.toLowerCase() === q.trim().toLowerCase())) return true;
  const words = texts.flatMap(wordsOf);
  const asked = wordsOf(q);
  return asked.every((word, index) =>
    words.some((each) => (index === asked.length - 1 ? each.startsWith(word) : each === word)),
  );
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
