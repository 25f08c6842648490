import { withinTenant } from './scope.ts';
import { statementName } from './statement-name.ts';
import { connectionsOf, type TenantClient } from './tenant-client.ts';

/** SQL with `$1`, `$2`, … and their values. `Prisma.sql` makes one too. */
export interface Statement {
  text: string;
  values: unknown[];
}

/**
 * The rows of one statement, in the transaction that is under way or as one of its own. It goes straight to PostgreSQL,
 * beside Prisma: `$queryRaw` takes three times the CPU time (docs/decisions/totals.md). Columns come as pg reads them.
 */
export function selectRows<Row extends object>(db: TenantClient, { text, values }: Statement): Promise<Row[]> {
  return withinTenant(db.$tenantId, async () => {
    const { rows } = await connectionsOf(db).query({ name: statementName(text), text, values });
    return rows as Row[];
  });
}
