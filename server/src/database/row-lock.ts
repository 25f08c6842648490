import { tables } from '../../generated/prisma/tables.ts';
import { identifier, sql, tenant } from './client/sql.ts';
import { type Bound, rows } from './client/statements.ts';
import type { TenantClient } from './client/tenant-client.ts';

type Table = (typeof tables)[number];

const locks = new Map(
  tables.map((table) => [
    table,
    {
      one: rows<{ id: number }, object>(
        ({ id }) =>
          sql`SELECT 1 AS locked FROM ${identifier(table)} WHERE tenant_id = ${tenant} AND id = ${id} FOR NO KEY UPDATE`,
      ),
      several: rows<{ ids: readonly number[] }, object>(
        ({ ids }) => sql`SELECT 1 AS locked FROM ${identifier(table)}
          WHERE tenant_id = ${tenant} AND id = ANY (${ids}::bigint[]) ORDER BY id FOR NO KEY UPDATE`,
      ),
    },
  ]),
);

/**
 * Locks a row until the end of the transaction. Later statements then read the latest version of the row. Other
 * transactions can still write rows that refer to the locked row.
 * @returns true if the row exists and belongs to the tenant
 */
export async function lockRow(db: TenantClient, table: Table, id: number): Promise<boolean> {
  const [[locked]] = await db.$pipeline([lockOf(db, table, [id])]);
  return locked !== undefined;
}

/**
 * Returns the statement that locks one or more rows, for a pipeline. The statement locks rows in the order of their ids
 * to prevent deadlocks between concurrent transactions.
 */
export function lockOf(db: TenantClient, table: Table, ids: readonly number[]): Bound<object> {
  const { one, several } = locks.get(table) as NonNullable<ReturnType<typeof locks.get>>;
  const [id] = ids;
  return id !== undefined && ids.length === 1 ? db.$bind(one, { id }) : db.$bind(several, { ids });
}

/**
 * The number of each advisory lock. The name of a lock is the data that it protects. A transaction holds the lock of
 * its tenant until the transaction ends.
 */
const advisoryLocks = {
  ticketParents: 1,
  webhookCount: 2,
  ticketSequence: 3,
  administrators: 4,
  ticketExternalIds: 5,
  commentExternalIds: 6,
  assetExternalIds: 7,
  articles: 8,
  keyPolicy: 9,
  customFields: 10,
  ticketCategories: 11,
  requestForms: 12,
  proposals: 13,
} as const;

const lockName = rows<{ name: string; number: number }, object>(
  // The name is unique for the tenant, and the statement reads no rows.
  ({ name, number }) =>
    sql`SELECT pg_advisory_xact_lock(hashtextextended(${name} || ':' || ${tenant}::bigint, ${number}))`,
);

/** Acquires an advisory lock for the tenant. Transactions acquire the lock one after another, in order of arrival. */
export async function lockTenant(db: TenantClient, lock: keyof typeof advisoryLocks): Promise<void> {
  await db.$pipeline([tenantLockStatement(db, lock)]);
}

/** Returns the statement that `lockTenant` runs, for a pipeline. */
export function tenantLockStatement(db: TenantClient, lock: keyof typeof advisoryLocks): Bound<object> {
  return db.$bind(lockName, { name: lock, number: advisoryLocks[lock] });
}
