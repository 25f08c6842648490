import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';
import { DatabasePool } from './pool.ts';
import { setPool, statementName } from './statements.ts';

export interface DatabaseOptions {
  url: string;
  /** Connections at most. */
  poolSize: number;
  /** A statement that takes longer is ended by PostgreSQL. Milliseconds. */
  statementTimeoutMs: number;
  /** Told when an idle connection breaks; the pool makes a new one. */
  onConnectionError: (error: Error) => void;
}

/**
 * The client over all tenants, for what no tenant asks for: looking up keys, delivering webhooks, checking totals, the
 * command line. Queries get the tenant client instead.
 */
export function createPrisma({ url, poolSize, statementTimeoutMs, onConnectionError }: DatabaseOptions): PrismaClient {
  const pool = new DatabasePool({
    connectionString: url,
    max: poolSize,
    statement_timeout: statementTimeoutMs,
    // Planned once per connection: to plan a page of tickets takes longer than to answer it (docs/decisions/totals.md).
    options: '-c plan_cache_mode=force_generic_plan',
    connectionTimeoutMillis: 5000,
    application_name: 'itsm-api',
  });
  pool.on('error', onConnectionError);
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    onConnectionError,
    statementNameGenerator: ({ sql }) => statementName(sql),
  });
  const prisma = new PrismaClient({
    adapter,
    // Longer messages quote the arguments, which may hold what must not be logged.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: 5000, timeout: statementTimeoutMs + 5000 },
  });
  setPool(prisma, pool);
  return prisma;
}

export type { PrismaClient } from './generated/client.ts';
