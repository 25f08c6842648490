import { maxTags, sortTags, type TagChanges, Tags } from '@itsm-api/contract';
import * as z from 'zod';
import { invalidField } from '../../shared/errors.ts';

/**
 * Returns the tags of a resource after a patch, which replaces all tags, or adds and removes some
 * (docs/decisions/tags.md).
 * @throws ApiError VALIDATION_ERROR if the result has too many tags
 */
export function mergeTags(current: string[], { tags, addTags = [], removeTags = [] }: TagChanges): string[] {
  if (tags !== undefined) return tags;
  if (addTags.length + removeTags.length === 0) return current;
  const merged = sortTags([...current.filter((tag) => !removeTags.includes(tag)), ...addTags]);
  if (merged.length <= maxTags) return merged;
  const message = `would give the resource ${merged.length} tags, and the maximum is ${maxTags}. Remove tags.`;
  throw invalidField('VALIDATION_ERROR', 'addTags', message);
}

/** The schema of tags as text, separated by commas, as in forms and CSV files. */
export const TagText = z.preprocess(
  (text) => (typeof text === 'string' ? text.split(',').flatMap((tag) => tag.trim() || []) : text),
  Tags.optional(),
);
