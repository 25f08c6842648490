import type pg from 'pg';
import { statementName } from './statement-name.ts';
import { connectionsOf, type TenantClient } from './tenant-client.ts';
import { withinTenant } from './tenant-context.ts';

/** SQL text with the parameters `$1`, `$2`, …, and the parameter values. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** Returns the query config of a prepared statement. Each connection prepares the statement once and reuses it. */
export function prepared({ text, values }: Statement): pg.QueryConfig {
  return { name: statementName(text), text, values };
}

/**
 * Runs a statement and returns its rows. If a transaction is open, the statement runs in that transaction. Bypasses
 * Prisma, because `$queryRaw` takes three times the CPU time (docs/decisions/pagination.md). Column values have the
 * types that pg returns.
 */
export async function queryRows<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const [rows = []] = await queryPipelined(db, [statement]);
  return rows as Row[];
}

/** A SELECT that returns one row and also sets the tenant for row-level security. Create it with `tenantQuery`. */
export interface TenantQuery {
  name: string | undefined;
  text: string;
}

/**
 * Extends a SELECT so that it also sets the tenant, which is the parameter `$1`. A separate statement for the tenant
 * would take 10% of the time of a small request (docs/decisions/tenant-isolation.md).
 *
 * CASE makes PostgreSQL set the tenant before it reads the row. The result contains the row as JSON.
 */
export function tenantQuery(select: string): TenantQuery {
  const text = `SELECT CASE WHEN set_config('itsm.tenant_id', $1::bigint::text, true) IS NOT NULL
    THEN (SELECT to_json(one) FROM (${select}) AS one) END AS one`;
  return { name: statementName(text), text };
}

/**
 * Runs a tenant query and returns its row.
 * @param values the values of the parameters `$2`, `$3`, …
 */
export async function queryOne<Row extends object>(
  db: TenantClient,
  { name, text }: TenantQuery,
  values: unknown[],
): Promise<Row | undefined> {
  const config = { name, text, values: [db.$tenantId, ...values] };
  const results = await withinTenant(db.$tenantId, () => connectionsOf(db).runPipeline([config], { setsTenant: true }));
  return results[0]?.rows[0]?.one ?? undefined;
}

/** SQL that makes PostgreSQL plan each later statement of the transaction for the statement's own parameter values. */
const useCustomPlan = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`;

/**
 * Runs a statement and returns its rows. PostgreSQL plans the query for the given parameter values and doesn't reuse
 * the plan. Use this function if the SQL text or the best plan depends on the request.
 *
 * Don't call this function within a transaction, because the plan setting would also affect the transaction's later
 * statements.
 */
export async function queryWithCustomPlan<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const configs = [{ name: statementName(useCustomPlan), text: useCustomPlan, values: [] }, statement];
  const [, result] = await withinTenant(db.$tenantId, () => connectionsOf(db).runPipeline(configs));
  return (result?.rows ?? []) as Row[];
}

/**
 * Runs statements in one round trip and returns the rows of each statement. A statement sees the changes of the
 * statements before it, and all changes that other transactions committed before it started.
 */
export async function queryPipelined(db: TenantClient, statements: Statement[]): Promise<object[][]> {
  const configs = statements.map(prepared);
  const results = await withinTenant(db.$tenantId, () => connectionsOf(db).runPipeline(configs));
  return results.map(({ rows }) => rows);
}
