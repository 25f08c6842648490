import type pg from 'pg';
import { statementName } from './statement-name.ts';
import { connectionsOf, type TenantClient } from './tenant-client.ts';
import { withinTenant } from './tenant-context.ts';

/** SQL with the parameters `$1`, `$2`, …, and their values. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** Returns the query config of a prepared statement, which each connection prepares once and reuses. */
export function prepared({ text, values }: Statement): pg.QueryConfig {
  return { name: statementName(text), text, values };
}

/**
 * Runs a statement and returns its rows. If there is a current transaction, the statement is part of it. Bypasses
 * Prisma, because `$queryRaw` takes three times the CPU time (docs/decisions/pagination.md). pg parses the column
 * values.
 */
export async function queryRows<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const [rows = []] = await queryPipelined(db, [statement]);
  return rows as Row[];
}

/** A SELECT of one row that also sets the tenant for row-level security. Created by `tenantQuery`. */
export interface TenantQuery {
  name: string | undefined;
  text: string;
}

/**
 * Wraps a SELECT, whose parameter `$1` is the tenant, so that it also sets the tenant. A separate statement would take
 * 10 % of the time of a small request (docs/decisions/tenant-isolation.md). CASE makes PostgreSQL set the tenant before
 * it reads the row. PostgreSQL returns the row as JSON.
 */
export function tenantQuery(select: string): TenantQuery {
  const text = `SELECT CASE WHEN set_config('itsm.tenant_id', $1::bigint::text, true) IS NOT NULL
    THEN (SELECT to_json(one) FROM (${select}) AS one) END AS one`;
  return { name: statementName(text), text };
}

/** Runs a tenant query and returns its row. @param values the parameters from `$2` */
export async function queryOne<Row extends object>(
  db: TenantClient,
  { name, text }: TenantQuery,
  values: unknown[],
): Promise<Row | undefined> {
  const config = { name, text, values: [db.$tenantId, ...values] };
  const results = await withinTenant(db.$tenantId, () => connectionsOf(db).runPipeline([config], { setsTenant: true }));
  return results[0]?.rows[0]?.one ?? undefined;
}

/** The SQL that makes PostgreSQL plan each later statement of the transaction for its own parameter values. */
const useCustomPlan = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`;

/**
 * Runs a statement with a custom plan for its parameter values, and returns its rows. Use this function if the SQL text
 * or the best plan depends on the request. The statement is not prepared for reuse. Don't call this function within a
 * transaction, because the setting would also apply to the later statements of the transaction.
 */
export async function queryWithCustomPlan<Row extends object>(db: TenantClient, statement: Statement): Promise<Row[]> {
  const configs = [{ name: statementName(useCustomPlan), text: useCustomPlan, values: [] }, statement];
  const [, result] = await withinTenant(db.$tenantId, () => connectionsOf(db).runPipeline(configs));
  return (result?.rows ?? []) as Row[];
}

/**
 * Runs statements in one round trip and returns their rows. Each statement sees the changes of earlier commits and of
 * the statements before it.
 */
export async function queryPipelined(db: TenantClient, statements: Statement[]): Promise<object[][]> {
  const configs = statements.map(prepared);
  const results = await withinTenant(db.$tenantId, () => connectionsOf(db).runPipeline(configs));
  return results.map(({ rows }) => rows);
}
