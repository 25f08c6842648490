import { type ErrorDetail, requestLimits } from '@itsm-api/contract';
import '../config/validation-messages.ts';
import { ApiError } from './errors.ts';
import { nearestName } from './suggestion.ts';

/** A validation error in the format of zod and Standard Schema. */
export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined;
  readonly code?: string;
  readonly keys?: readonly string[];
}

/** The error message for an unknown field in a request body. */
export const unknownField = 'is not a field of this request';

/** Returns a VALIDATION_ERROR with the given details. The message describes the first detail (spec §7). */
export function validationError(details: ErrorDetail[]): ApiError {
  const [first] = details;
  if (first === undefined)
    return new ApiError(
      'VALIDATION_ERROR',
      'The request is invalid, but the server could not identify the invalid field. Compare the request with the API reference.',
    );
  const count = details.length - 1;
  const more = count > 0 ? ` (and ${count} more ${count === 1 ? 'error' : 'errors'})` : '';
  return new ApiError('VALIDATION_ERROR', `${joined([first.path, first.message], ' ')}${more}`, {
    details: details.slice(0, requestLimits.errorDetails),
  });
}

/** Runs all checks, even if a check fails. @throws ApiError VALIDATION_ERROR with the details of all failed checks */
export function checkAll(...checks: (() => void)[]): void {
  const details = checks.flatMap(errorsOf);
  if (details.length > 0) throw validationError(details);
}

/** Runs a check, and returns the details of the ApiError that it throws. */
export function errorsOf(check: () => void): readonly ErrorDetail[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ApiError && error.details !== undefined) return error.details;
    throw error;
  }
}

/**
 * Converts validation issues to the details of an error response.
 * @param unknownName the error message for a name that isn't in the schema
 * @param known the names in the schema; an error message suggests the most similar one
 */
export function detailsOf(issues: readonly Issue[], unknownName: string, known: readonly string[] = []): ErrorDetail[] {
  return issues.flatMap((issue) => {
    const path = (issue.path ?? []).map((part) => printable(typeof part === 'object' ? part.key : part));
    if (issue.code === 'unrecognized_keys' && issue.keys) {
      return issue.keys.map((key, index) => {
        // Compares only names that the error response contains, because comparing names takes CPU time.
        const isCompared = path.length === 0 && index < requestLimits.errorDetails;
        const nearest = isCompared ? nearestName(key, known) : undefined;
        const hint = nearest === undefined ? '. Remove it.' : `. Did you mean \`${nearest}\`?`;
        return { path: joined([...path, printable(key)]), message: unknownName + hint };
      });
    }
    return [{ path: joined(path) || 'body', message: issue.message }];
  });
}

function joined(parts: readonly string[], separator = '.'): string {
  return parts.filter((part) => part !== '').join(separator);
}

function printable(name: PropertyKey): string {
  const text = String(name);
  const { namesInErrors } = requestLimits;
  return (text.length > namesInErrors ? `${text.slice(0, namesInErrors)}…` : text).toWellFormed();
}
