import { withinTenant } from './scope.ts';
import { statementName } from './statement-name.ts';
import { connectionsOf, type TenantClient } from './tenant-client.ts';

/** SQL with `$1`, `$2`, … and their values. */
export interface Statement {
  text: string;
  values: unknown[];
}

/**
 * The rows of one statement, in the transaction that is under way or as one of its own. It goes straight to PostgreSQL,
 * beside Prisma: `$queryRaw` takes three times the CPU time (docs/decisions/totals.md). Columns come as pg reads them.
 */
export async function selectRows<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const [rows = []] = await selectTogether(db, [statement]);
  return rows as Row[];
}

/** What has PostgreSQL plan the statements behind it for their values, until their transaction ends. */
const planAnew = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`;

/**
 * The rows of a statement that PostgreSQL plans for its very values, and keeps nothing of: one whose text is composed of
 * what is asked for, or whose best plan depends on it. Not to be asked for within a transaction.
 */
export async function selectPlanned<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const configs = [{ name: statementName(planAnew), text: planAnew, values: [] }, statement];
  const [, result] = await withinTenant(db.$tenantId, () => connectionsOf(db).together(configs));
  return (result?.rows ?? []) as Row[];
}

/** The rows of several statements in one round trip. Each sees what was committed before it began, and those before it. */
export async function selectTogether(db: TenantClient, statements: Statement[]): Promise<object[][]> {
  const configs = statements.map(({ text, values }) => ({ name: statementName(text), text, values }));
  const results = await withinTenant(db.$tenantId, () => connectionsOf(db).together(configs));
  return results.map(({ rows }) => rows);
}
