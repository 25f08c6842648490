/** Returns the error code from Node.js, such as `ENOENT`, or from PostgreSQL, such as `42P04`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** The custom error code that the SQL function `require_condition` raises. */
export const CONDITION_NOT_MET = 'IT001';

/** The PostgreSQL error code for a statement that exceeded `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** The PostgreSQL error code for a statement that exceeded `statement_timeout` or was canceled by an administrator. */
export const QUERY_CANCELED = '57014';

/** Returns true if an error, or an error that it wraps, has this PostgreSQL error code. */
export function hasErrorCode(error: unknown, code: string): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (errorCode(each) === code) return true;
    const wrapped = (each as { meta?: { driverAdapterError?: unknown } }).meta?.driverAdapterError;
    if (wrapped !== undefined && hasErrorCode(wrapped, code)) return true;
    const { originalCode } = (each.cause ?? {}) as { originalCode?: unknown };
    if (originalCode === code) return true;
  }
  return false;
}
