import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../../generated/prisma/client.ts';
import { Pool, type PoolOptions, TenantPool } from './pool.ts';
import { statementName } from './statement-name.ts';

/** A connection pool with the permissions of one database role, and the Prisma client that uses it. */
export interface Database {
  pool: Pool;
  prisma: PrismaClient;
}

/**
 * Opens the database for requests. Each statement sees only the rows of the current tenant. Without a tenant, it sees
 * no rows.
 */
export function openTenantDatabase(options: PoolOptions): Database {
  return openDatabase(new TenantPool(options), options);
}

/** Opens the database for work that covers all tenants, such as webhook deliveries, checks of totals, and commands. */
export function openSystemDatabase(options: PoolOptions): Database {
  return openDatabase(new Pool(options), options);
}

function openDatabase(pool: Pool, { timeouts, onConnectionError }: PoolOptions): Database {
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

export type { PrismaClient } from '../../../generated/prisma/client.ts';
