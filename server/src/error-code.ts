/** The code of an error of Node.js (`ENOENT`) or of PostgreSQL (`42P04`). */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** What PostgreSQL answers to a statement that divides by a condition, so that it fails where that doesn't hold. */
export const DIVISION_BY_ZERO = '22012';
