import type { TagChanges } from '@itsm-api/contract';

/* Models tags (docs/decisions/tags.md). */

/** Returns tags as the server stores them. */
export function normalizeTags(given: readonly string[]): string[] {
  return [...new Set(given.map((tag) => tag.toLowerCase()))].sort();
}

/** Applies the changes of a patch to tags. */
export function changeTags(before: string[], { tags, addTags = [], removeTags = [] }: TagChanges): string[] {
  if (tags !== undefined) return normalizeTags(tags);
  const removed = normalizeTags(removeTags);
  return normalizeTags([...before.filter((tag) => !removed.includes(tag)), ...addTags]);
}
