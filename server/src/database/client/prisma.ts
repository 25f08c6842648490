import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../../generated/prisma/client.ts';
import { Pool, type PoolOptions, TenantPool } from './pool.ts';
import { statementName } from './statement-name.ts';

/** One way into the database: connections with one role's rights, and Prisma over them. */
export interface Database {
  pool: Pool;
  prisma: PrismaClient;
}

/** For requests: each statement sees the rows of the tenant that it is asked for, and without one no row. */
export function openTenantDatabase(options: PoolOptions): Database {
  return over(new TenantPool(options), options);
}

/** Over all tenants, for what no tenant asks for: delivering webhooks, checking totals, the command line. */
export function openSystemDatabase(options: PoolOptions): Database {
  return over(new Pool(options), options);
}

function over(pool: Pool, { timeouts, onConnectionError }: PoolOptions): Database {
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    onConnectionError,
    // Prisma's types know of no statement without a name, its adapter does.
    statementNameGenerator: ({ sql }) => statementName(sql) as string,
  });
  const prisma = new PrismaClient({
    adapter,
    // Longer messages quote the arguments, which may hold what must not be logged.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: 5000, timeout: timeouts.statementMs + 5000 },
  });
  return { pool, prisma };
}

export type { PrismaClient } from '../../../generated/prisma/client.ts';
