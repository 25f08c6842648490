import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import type { TenantId } from '../../shared/tenant-id.ts';

/** The tenant and the transaction of the code that is running (docs/decisions/tenant-isolation.md). */
interface TenantScope {
  /** Undefined in a transaction of the system client. */
  readonly tenantId: TenantId | undefined;
  /** The current transaction. Undefined if no transaction is open. */
  readonly transaction?: ScopedTransaction | undefined;
}

interface ScopedTransaction {
  /** The pool of the transaction's connection. Statements on this pool run in the transaction. */
  readonly pool: pg.Pool;
  /** Runs statements in one round trip. Each statement sees the changes that were committed before it started. */
  run(configs: pg.QueryConfig[]): Promise<pg.QueryResult[]>;
  /** See `withSavepoint`. */
  withSavepoint<Result>(work: () => Promise<Result>, isKept: (result: Result) => boolean): Promise<Result>;
}

const storage = new AsyncLocalStorage<TenantScope>();

/** Returns the scope of the code that is running, or undefined if the code runs for no tenant. */
export function currentScope(): TenantScope | undefined {
  return storage.getStore();
}

/**
 * Runs `work` in a scope. Prisma sends a query only when code awaits the query's promise, so this function awaits the
 * promise of `work` within the scope.
 */
export function withinScope<Result>(scope: TenantScope, work: () => Promise<Result>): Promise<Result> {
  return storage.run(scope, async () => work());
}

/**
 * Runs `work` for a tenant. If the current scope has the given tenant, reuses the scope and its transaction.
 * @throws Error in a transaction of another tenant
 */
export function withinTenant<Result>(tenantId: TenantId, work: () => Promise<Result>): Promise<Result> {
  const scope = currentScope();
  if (scope?.tenantId === tenantId) return work();
  if (scope?.transaction !== undefined && scope.tenantId !== undefined)
    return Promise.reject(new Error('A statement ran in the transaction of another tenant.'));
  return withinScope({ tenantId, transaction: scope?.transaction }, work);
}
