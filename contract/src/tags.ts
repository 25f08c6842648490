import * as z from 'zod';
import { normalizeText } from './fields.ts';

/** The maximum number of tags of a ticket or an asset. */
export const maxTags = 50;

/**
 * A tag in requests, in responses and in filters (docs/decisions/tags.md). The schema converts it to lower case and to
 * the normalization form NFC. The OpenAPI document has no pattern for it, because the regular
 * expressions of some languages don't support classes of letters.
 */
export const Tag = z
  .string()
  .overwrite((tag) => normalizeText(tag.toLowerCase(), 'NFC'))
  .min(1, { abort: true })
  .max(50)
  .refine(
    (tag) => /^[\p{L}\p{Nd}][\p{L}\p{M}\p{Nd}:_./-]*$/u.test(tag),
    'must start with a letter or digit, and can then also contain `:`, `_`, `.`, `/` and `-`',
  )
  .meta({
    id: 'Tag',
    description:
      'A tag: 1 to 50 letters and digits of any script, and after the first character also `:`, `_`, `.`, `/` and `-`. ' +
      'The server converts it to lower case and to the normalization form NFC.',
    example: 'vip',
  });

/** Sorts tags and removes duplicates. */
export function sortTags(tags: readonly string[]): string[] {
  return [...new Set(tags)].sort();
}

/** Returns the schema of a list of tags. It sorts the tags and removes duplicates. */
function tagList(description: string) {
  return z.array(Tag).overwrite(sortTags).max(maxTags, `must contain at most ${maxTags} tags`).meta({ description });
}

/** The tags of a ticket or an asset. */
export const Tags = tagList(
  `The tags: at most ${maxTags}. Responses list them in ascending order and without duplicates.`,
);

/** The fields with which a patch changes tags. `checkTags` checks them. */
export const tagChanges = {
  tags: Tags.optional().meta({
    description: 'The new tags, which replace all tags. Not together with `addTags` or `removeTags`.',
  }),
  addTags: tagList('The tags to add. Two requests that add different tags never overwrite each other.').optional(),
  removeTags: tagList('The tags to remove, none of which is in `addTags`.').optional(),
};

/** The changes of tags in a patch. */
export interface TagChanges {
  tags?: string[] | undefined;
  addTags?: string[] | undefined;
  removeTags?: string[] | undefined;
}

/** Rejects a patch that replaces all tags and also adds or removes some, or that adds and removes the same tag. */
export function checkTags({ tags, addTags, removeTags }: TagChanges, context: z.core.$RefinementCtx): void {
  const reject = (field: keyof TagChanges, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (tags !== undefined && addTags !== undefined) reject('addTags', "can't be combined with tags");
  if (tags !== undefined && removeTags !== undefined) reject('removeTags', "can't be combined with tags");
  const contradicting = removeTags?.find((tag) => addTags?.includes(tag));
  if (contradicting !== undefined) reject('removeTags', `must not contain ${contradicting}, which is also in addTags`);
}
