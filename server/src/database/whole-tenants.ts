import type { PrismaClient } from './prisma.ts';

/**
 * SQL that says whether all that a tenant has is here: it is not on its way here, was not left half-way, and has not gone
 * (docs/decisions/cells.md). Work over all tenants that nobody asks for leaves the others alone: rows that arrive are compared
 * with those that they were copied of, and of rows that are half there nothing can be told.
 * @param tenantId as SQL
 */
export function isWhole(tenantId: string): string {
  return `NOT EXISTS (
    SELECT FROM tenant_moves AS elsewhere WHERE elsewhere.tenant_id = ${tenantId} AND elsewhere.state <> 'LEAVING')`;
}

/** The ids of tenants of which that is so. */
export async function findWholeTenants(prisma: PrismaClient): Promise<bigint[]> {
  const rows = await prisma.$queryRawUnsafe<{ id: bigint }[]>(`SELECT id FROM tenants WHERE ${isWhole('tenants.id')}`);
  return rows.map(({ id }) => id);
}
