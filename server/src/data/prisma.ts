import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';

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
  const names = new Map<string, string>();
  const adapter = new PrismaPg(
    {
      connectionString: url,
      max: poolSize,
      statement_timeout: statementTimeoutMs,
      connectionTimeoutMillis: 5000,
      application_name: 'itsm-api',
    },
    {
      onPoolError: onConnectionError,
      onConnectionError,
      // A name makes PostgreSQL keep the plan. The statements of this code are few, so the map stays small.
      statementNameGenerator: ({ sql }) => {
        let name = names.get(sql);
        if (name === undefined) {
          name = `s${names.size}`;
          names.set(sql, name);
        }
        return name;
      },
    },
  );
  return new PrismaClient({
    adapter,
    // Longer messages quote the arguments, which may hold what must not be logged.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: 5000, timeout: statementTimeoutMs + 5000 },
  });
}

export type { PrismaClient } from './generated/client.ts';
