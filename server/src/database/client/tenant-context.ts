import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import type { TenantId } from '../../shared/tenant-id.ts';

/** On whose behalf the code that runs asks the database (docs/decisions/tenant-isolation.md). */
interface TenantScope {
  readonly tenantId: TenantId;
  /** The transaction that is under way; absent outside of one. */
  readonly transaction?: ScopedTransaction;
}

interface ScopedTransaction {
  /** Where its connection comes from: what asks for one there is part of the transaction. */
  readonly pool: pg.Pool;
  /** Runs statements in one round trip; each sees what was committed before it began. */
  run(configs: pg.QueryConfig[]): Promise<pg.QueryResult[]>;
}

const storage = new AsyncLocalStorage<TenantScope>();

/** The scope of the code that asks; undefined where no tenant is asked for. */
export function currentScope(): TenantScope | undefined {
  return storage.getStore();
}

/** Runs `work` in a scope. What it returns is awaited within: Prisma's promises begin only then. */
export function withinScope<Result>(scope: TenantScope, work: () => Promise<Result>): Promise<Result> {
  return storage.run(scope, async () => work());
}

/** Runs `work` for a tenant; what runs for that tenant already stays in its transaction. */
export function withinTenant<Result>(tenantId: TenantId, work: () => Promise<Result>): Promise<Result> {
  return currentScope()?.tenantId === tenantId ? work() : withinScope({ tenantId }, work);
}
