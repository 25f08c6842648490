/*
 * Models full-text search (docs/decisions/full-text-search.md). A word is a sequence of lowercase letters and digits.
 */

/**
 * Returns true if a row contains all words of a search, in any order. The last word can be a prefix.
 * @param texts the texts of the row to search
 * @param names texts that match only as a whole, such as the ticket number
 */
export function holdsWords(q: string, texts: readonly string[], names: readonly string[] = []): boolean {
  if (names.some((name) => name.toLowerCase() === q.trim().toLowerCase())) return true;
  const words = texts.flatMap(wordsOf);
  const options = wordsOf(q);
  return options.every((word, index) =>
    words.some((each) => (index === options.length - 1 ? each.startsWith(word) : each === word)),
  );
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
