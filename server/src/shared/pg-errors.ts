/** The code of an error of Node.js (`ENOENT`) or of PostgreSQL (`42P04`). */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** The code of our own that the SQL function `require_condition` raises. */
export const CONDITION_NOT_MET = 'IT001';

/** What PostgreSQL answers to a statement that has waited too long for a lock. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** What PostgreSQL answers to a statement that has taken too long, or that an administrator ends. */
export const QUERY_CANCELED = '57014';

/** Whether PostgreSQL has said this code, whoever wraps what it said. */
export function hasPgCode(error: unknown, code: string): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (errorCode(each) === code) return true;
    const wrapped = (each as { meta?: { driverAdapterError?: unknown } }).meta?.driverAdapterError;
    if (wrapped !== undefined && hasPgCode(wrapped, code)) return true;
    const { originalCode } = (each.cause ?? {}) as { originalCode?: unknown };
    if (originalCode === code) return true;
  }
  return false;
}
