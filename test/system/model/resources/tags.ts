import type { TagChanges } from '@itsm-api/contract';

/* Models tags (docs/decisions/tags.md). */

/** Returns tags as the server stores them. */
export function storedTags(given: readonly string[]): string[] {
  return [...new Set(given.map((tag) => tag.toLowerCase()))].sort();
}

/** Applies the changes of a patch to tags. */
export function changeTags(before: string[], { tags, addTags = [], removeTags = [] }: TagChanges): string[] {
  if (tags !== undefined) return storedTags(tags);
  const removed = storedTags(removeTags);
  return storedTags([...before.filter((tag) => !removed.includes(tag)), ...addTags]);
}
