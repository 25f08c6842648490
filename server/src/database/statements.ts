import type pg from 'pg';
import { withinTenant } from './scope.ts';
import { statementName } from './statement-name.ts';
import { connectionsOf, type TenantClient } from './tenant-client.ts';

/** SQL with `$1`, `$2`, … and their values. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** A statement as a connection takes it that keeps it prepared. */
export function prepared({ text, values }: Statement): pg.QueryConfig {
  return { name: statementName(text), text, values };
}

/**
 * The rows of one statement, in the transaction that is under way or as one of its own. It goes straight to PostgreSQL,
 * beside Prisma: `$queryRaw` takes three times the CPU time (docs/decisions/totals.md). Columns come as pg reads them.
 */
export async function selectRows<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const [rows = []] = await selectTogether(db, [statement]);
  return rows as Row[];
}

/** The rows of several statements in one round trip. Each sees what was committed before it began, and those before it. */
export async function selectTogether(db: TenantClient, statements: Statement[]): Promise<object[][]> {
  const configs = statements.map(prepared);
  const results = await withinTenant(db.$tenantId, () => connectionsOf(db).together(configs));
  return results.map(({ rows }) => rows);
}
