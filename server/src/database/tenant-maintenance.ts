import { Prisma } from '../../generated/prisma/client.ts';
import { type TenantId, toTenantId } from '../shared/tenant-id.ts';
import type { PrismaClient } from './client/prisma.ts';
import { inBatches } from './in-batches.ts';

/**
 * The SQL condition that is true if the tenant `t` isn't in maintenance. Workers, scheduled jobs and periodic writes
 * skip the rows of other tenants (docs/decisions/maintenance.md).
 */
export const notInMaintenance = 't.maintenance_since IS NULL';

/** The condition `notInMaintenance` for the raw queries of Prisma. */
export const notInMaintenanceSql = Prisma.raw(notInMaintenance);

/** A tenant whose rows a job changes. */
export interface JobTenant {
  tenantId: TenantId;
  /** Runs `work` as `inBatches` does. If the tenant is in maintenance, runs no further batch. */
  inBatches(size: number, work: () => Promise<number>): Promise<number>;
}

/** Runs `work` for one tenant after another, including inactive ones. @returns the sum of the results */
export async function forEachTenant(
  prisma: PrismaClient,
  work: (tenant: JobTenant) => Promise<number>,
): Promise<number> {
  let sum = 0;
  for (const { id } of await prisma.tenant.findMany({ select: { id: true } })) {
    const tenantId = toTenantId(id);
    sum += await work({
      tenantId,
      inBatches: (size, batch) =>
        inBatches(size, async () => ((await isInMaintenance(prisma, tenantId)) ? 0 : batch())),
    });
  }
  return sum;
}

/** Returns true if the tenant is in maintenance or no longer exists. */
async function isInMaintenance(prisma: PrismaClient, id: TenantId): Promise<boolean> {
  const found = await prisma.$queryRaw<object[]>`
    SELECT t.id FROM tenants t WHERE t.id = ${id} AND ${notInMaintenanceSql}`;
  return found.length === 0;
}
