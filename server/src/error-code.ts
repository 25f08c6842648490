/** The code of an error of Node.js (`ENOENT`) or of PostgreSQL (`42P04`). */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** What PostgreSQL answers to a statement that divides by a condition, so that it fails where that doesn't hold. */
export const DIVISION_BY_ZERO = '22012';

/** What PostgreSQL answers to a statement that has waited too long for a lock. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** What a write is answered in a workspace that is being moved (prisma/migrations/20261123000000_tenant_moves). */
const WORKSPACE_MOVING = 'TM001';

/** Whether a write was refused since its workspace is being moved, whoever wraps what PostgreSQL said. */
export function isMoving(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (codeOf(each) === WORKSPACE_MOVING) return true;
    const wrapped = (each as { meta?: { driverAdapterError?: unknown } }).meta?.driverAdapterError;
    if (wrapped !== undefined && isMoving(wrapped)) return true;
    const { originalCode } = (each.cause ?? {}) as { originalCode?: unknown };
    if (originalCode === WORKSPACE_MOVING) return true;
  }
  return false;
}
