import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import type { TenantId } from '../../shared/tenant-id.ts';

/** The tenant and transaction of the running code (docs/decisions/tenant-isolation.md). */
interface TenantScope {
  readonly tenantId: TenantId;
  /** The current transaction, if there is one. */
  readonly transaction?: ScopedTransaction;
}

interface ScopedTransaction {
  /** The pool of the transaction's connection. Statements on this pool are part of the transaction. */
  readonly pool: pg.Pool;
  /** Runs statements in one round trip. Each statement sees the changes that were committed before it started. */
  run(configs: pg.QueryConfig[]): Promise<pg.QueryResult[]>;
}

const storage = new AsyncLocalStorage<TenantScope>();

/** Returns the tenant scope of the running code, or undefined if the code runs for no tenant. */
export function currentScope(): TenantScope | undefined {
  return storage.getStore();
}

/**
 * Runs `work` in a scope. Awaits the promise of `work` within the scope, because Prisma sends a query only when its
 * promise is awaited.
 */
export function withinScope<Result>(scope: TenantScope, work: () => Promise<Result>): Promise<Result> {
  return storage.run(scope, async () => work());
}

/** Runs `work` for a tenant. If the current scope has the same tenant, reuses the scope and its transaction. */
export function withinTenant<Result>(tenantId: TenantId, work: () => Promise<Result>): Promise<Result> {
  return currentScope()?.tenantId === tenantId ? work() : withinScope({ tenantId }, work);
}
