import type pg from 'pg';
import { statementName } from './statement-name.ts';
import { connectionsOf, type TenantClient } from './tenant-client.ts';
import { withinTenant } from './tenant-context.ts';

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
 * beside Prisma: `$queryRaw` takes three times the CPU time (docs/decisions/pagination.md). Columns come as pg reads them.
 */
export async function queryRows<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const [rows = []] = await queryPipelined(db, [statement]);
  return rows as Row[];
}

/** A statement that reads one row for one tenant, and brings it along. */
export interface TenantQuery {
  name: string | undefined;
  text: string;
}

/**
 * A statement of a SELECT that names its tenant as `$1`. It sets the tenant itself: a statement before it that does would
 * take a tenth of a small request (docs/decisions/tenant-isolation.md). CASE has the tenant set before anything is read; what was
 * read earlier would see no tenant, and no row. The row comes as JSON.
 */
export function tenantQuery(select: string): TenantQuery {
  const text = `SELECT CASE WHEN set_config('itsm.tenant_id', $1::bigint::text, true) IS NOT NULL
    THEN (SELECT to_json(one) FROM (${select}) AS one) END AS one`;
  return { name: statementName(text), text };
}

/** The row that a reading finds; `values` are those from `$2`. */
export async function queryOne<Row extends object>(
  db: TenantClient,
  { name, text }: TenantQuery,
  values: unknown[],
): Promise<Row | undefined> {
  const config = { name, text, values: [db.$tenantId, ...values] };
  const results = await withinTenant(db.$tenantId, () => connectionsOf(db).together([config], { setsTenant: true }));
  return results[0]?.rows[0]?.one ?? undefined;
}

/** What has PostgreSQL plan the statements behind it for their values, until their transaction ends. */
const planAnew = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`;

/**
 * The rows of a statement that PostgreSQL plans for its very values, and keeps nothing of: one whose text is composed of
 * what is asked for, or whose best plan depends on it. Not to be asked for within a transaction.
 */
export async function queryWithCustomPlan<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const configs = [{ name: statementName(planAnew), text: planAnew, values: [] }, statement];
  const [, result] = await withinTenant(db.$tenantId, () => connectionsOf(db).together(configs));
  return (result?.rows ?? []) as Row[];
}

/** The rows of several statements in one round trip. Each sees what was committed before it began, and those before it. */
export async function queryPipelined(db: TenantClient, statements: Statement[]): Promise<object[][]> {
  const configs = statements.map(prepared);
  const results = await withinTenant(db.$tenantId, () => connectionsOf(db).together(configs));
  return results.map(({ rows }) => rows);
}
