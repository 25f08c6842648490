import { isDeepStrictEqual } from 'node:util';
import { type Changes, type CustomFields, MergedCustomFields } from '@itsm-api/contract';
import { detailsOf, validationError } from '../../shared/validation.ts';

/**
 * Merges the custom fields in a patch into the custom fields of a resource (docs/decisions/data-model.md). A value in
 * the patch replaces the current value. `null` removes the field.
 * @param schema the schema of the result, with the limits and their messages
 * @throws ApiError VALIDATION_ERROR if the result exceeds a limit
 */
export function mergeCustomFields(
  current: CustomFields,
  given: CustomFields | undefined,
  schema: typeof MergedCustomFields = MergedCustomFields,
): CustomFields {
  if (given === undefined) return current;
  const merged = { ...current };
  for (const [name, value] of Object.entries(given)) {
    if (value === null) delete merged[name];
    else merged[name] = value;
  }
  const checked = schema.safeParse(merged);
  if (!checked.success) {
    const issues = checked.error.issues.map((issue) => ({ ...issue, path: ['customFields', ...issue.path] }));
    throw validationError(detailsOf(issues, 'is unknown'));
  }
  return checked.data;
}

/** Returns the fields that differ between two versions of a resource, or an empty object if they are equal. */
export function diffFields<Resource extends object>(before: Resource, after: Resource): Changes {
  const changes: Changes = {};
  for (const name of Object.keys(after) as (keyof Resource & string)[]) {
    if (!isDeepStrictEqual(before[name], after[name])) changes[name] = { from: before[name], to: after[name] };
  }
  return changes;
}
