import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';

/** On whose behalf the code that runs asks the database (docs/decisions/tenancy.md). */
interface TenantScope {
  tenantId: bigint;
  /** The connection of the transaction that is under way; absent outside of one. */
  transaction?: pg.ClientBase;
}

const storage = new AsyncLocalStorage<TenantScope>();

/** The scope of the code that asks; undefined where no tenant is asked for. */
export function currentScope(): TenantScope | undefined {
  return storage.getStore();
}

/**
 * Runs `work` for a tenant; what runs for that tenant already stays in its transaction. What `work` returns is awaited
 * within: Prisma's promises begin only then.
 */
export function withinTenant<Result>(tenantId: bigint, work: () => Promise<Result>): Promise<Result> {
  return storage.getStore()?.tenantId === tenantId ? work() : storage.run({ tenantId }, async () => work());
}

/** Runs `work`, which begins a transaction for a tenant: nothing of another transaction around it counts. */
export function withinTransaction<Result>(tenantId: bigint, work: () => Promise<Result>): Promise<Result> {
  return storage.run({ tenantId }, async () => work());
}
