import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../../generated/prisma/client.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import { Pool, type PoolOptions, TenantPool } from './pool.ts';
import { statementName } from './statement-name.ts';
import { createSystemStatements, type RawOperation, type SystemStatements } from './statement-runner.ts';
import { type TenantClient, tenantClient } from './tenant-client.ts';

/** A connection pool with the permissions of one database role, and the Prisma client that uses it. */
export interface Database {
  pool: Pool;
  prisma: PrismaClient;
}

/** The database for work that covers all tenants. */
export interface SystemDatabase {
  pool: Pool;
  prisma: SystemClient;
}

/** A Prisma client that also runs statements over the rows of all tenants. */
export type SystemClient = Omit<PrismaClient, RawOperation | '$extends' | '$on' | keyof SystemStatements> &
  SystemStatements & {
    /** Returns a client for the rows of one tenant, with the same connections. */
    $tenant(tenantId: TenantId): TenantClient;
  };

/**
 * Opens the database for requests. Each statement sees only the rows of the current tenant. Without a tenant, it sees
 * no rows.
 */
export function openTenantDatabase(options: PoolOptions): Database {
  return openDatabase(new TenantPool(options), options);
}

/** Opens the database for work that covers all tenants, such as webhook deliveries, checks of totals, and commands. */
export function openSystemDatabase(options: PoolOptions): SystemDatabase {
  const database = openDatabase(new Pool(options), options);
  return { ...database, prisma: systemClient(database) };
}

/** Returns a client for the rows of all tenants. */
export function systemClient({ pool, prisma }: Database): SystemClient {
  const $tenant = (tenantId: TenantId) => tenantClient({ pool, prisma }, tenantId);
  return prisma.$extends({
    name: 'system',
    client: { ...createSystemStatements(pool), $tenant },
  }) as unknown as SystemClient;
}

/** Opens Prisma on a pool, without the restrictions and the statements of the other clients. */
export function openDatabase(pool: Pool, { timeouts, onConnectionError }: PoolOptions): Database {
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    onConnectionError,
    // Prisma's types require a name, but Prisma's adapter also accepts statements without a name.
    statementNameGenerator: ({ sql }) => statementName(sql) as string,
  });
  const prisma = new PrismaClient({
    adapter,
    // Prisma's other error formats quote the arguments of the operation, which may contain data that must not be
    // logged.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: 5000, timeout: timeouts.statementMs + 5000 },
  });
  return { pool, prisma };
}
