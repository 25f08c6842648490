import { type TenantId, toTenantId } from '../shared/tenant-id.ts';
import type { SystemClient } from './client/prisma.ts';
import { sql, tenant } from './client/sql.ts';
import { type None, rows } from './client/statements.ts';
import { inBatches } from './in-batches.ts';

/**
 * The SQL condition that is true if the tenant `t` isn't in maintenance. Workers, scheduled jobs and periodic writes
 * skip the rows of other tenants (docs/decisions/maintenance.md).
 */
export const notInMaintenance = sql`t.maintenance_since IS NULL`;

/**
 * The SQL condition that is true if the server rejects reads of the tenant `t`. The rows of a tenant are only partly
 * there until an import or a deletion is complete.
 */
export const isUnavailable = sql`(t.maintenance_since IS NOT NULL AND (t.unavailable_since IS NOT NULL OR t.incomplete))`;

/** A tenant whose rows a job changes. */
export interface JobTenant {
  tenantId: TenantId;
  /** Runs `work` as `inBatches` does. If the tenant is in maintenance, runs no further batch. */
  inBatches(size: number, work: () => Promise<number>): Promise<number>;
}

/** Runs `work` for one tenant after another, including inactive ones. @returns the sum of the results */
export async function forEachTenant(
  prisma: SystemClient,
  work: (tenant: JobTenant) => Promise<number>,
): Promise<number> {
  let sum = 0;
  for (const { id } of await prisma.tenant.findMany({ select: { id: true } })) {
    sum += await work(toJobTenant(prisma, toTenantId(id)));
  }
  return sum;
}

/** Returns a tenant for a job. */
export function toJobTenant(prisma: SystemClient, tenantId: TenantId): JobTenant {
  return {
    tenantId,
    inBatches: (size, batch) => inBatches(size, async () => ((await isInMaintenance(prisma, tenantId)) ? 0 : batch())),
  };
}

/** Returns true if the tenant is in maintenance or no longer exists. */
async function isInMaintenance(prisma: SystemClient, id: TenantId): Promise<boolean> {
  return (await prisma.$tenant(id).$sql(selectNotInMaintenance)).length === 0;
}

/** Selects the tenant if it exists and isn't in maintenance. */
export const selectNotInMaintenance = rows<None, object>(
  () => sql`SELECT t.id FROM tenants t WHERE t.id = ${tenant} AND ${notInMaintenance}`,
);
