import type pg from 'pg';
import type { TenantId } from '../../shared/tenant-id.ts';
import { type FixedText, Parameter, type Sql, sql, tenant, writeFixed } from './sql.ts';
import { statementName } from './statement-name.ts';

/*
 * Defines SQL statements (docs/decisions/tenant-isolation.md). A statement is written once, when its file is loaded.
 * `$sql` of a client runs it. Parameters have names. The constant `tenant` is the parameter that the client provides:
 *
 *   const selectName = oneAsJson<{ id: number }, { name: string }>(
 *     ({ id }) => sql`SELECT name FROM users WHERE tenant_id = ${tenant} AND id = ${id}`,
 *   );
 *   const user = await db.$sql(selectName, { id });
 */

/**
 * How a client runs a statement, and what it returns:
 * - `oneAsJson`: the first row, as JSON. One statement sets the tenant and reads the row.
 * - `manyAsJson`: all rows, as JSON in the order of the statement. One statement sets the tenant and reads the rows.
 * - `rows`: all rows, with the values of pg. Use it for writes, for pipelines, and for large results.
 * - `command`: the number of rows that the statement has written.
 */
type Form = 'oneAsJson' | 'manyAsJson' | 'rows' | 'command';

/** A statement for the rows of one tenant. */
export interface Statement<Input extends object, Row, F extends Form = Form> extends FixedText {
  form: F;
  name: string | undefined;
  /** Carries the types. It has no value. */
  readonly types?: { given: (given: Input) => void; row: Row };
}

/** A statement over the rows of all tenants, which only the system client runs. */
export interface SystemStatement<Input extends object, Row, F extends 'rows' | 'command' = 'rows' | 'command'>
  extends Omit<Statement<Input, Row, F>, 'types'> {
  readonly isOverAllTenants: true;
  readonly types?: { given: (given: Input) => void; row: Row };
}

/** A statement whose text depends on the request. */
export interface DynamicStatement<Row> {
  form: 'dynamic';
  build(): Sql;
  /** Settings of PostgreSQL's planner for this statement. */
  settings: Record<string, string>;
  /** Carries the type. It has no value. */
  readonly row?: Row;
}

/** A statement with the values of its parameters, for a pipeline or for the boundaries of a transaction. */
export interface Bound<Row = unknown> extends pg.QueryConfig {
  values: unknown[];
  /** The tenant of the client that bound the statement. Undefined for the system client. */
  tenantId: TenantId | undefined;
  /** Carries the type. It has no value. */
  readonly row?: Row;
}

/** The parameters of a statement without parameters other than the tenant. */
export type None = Record<never, never>;

/** The parameters of a statement, by name. */
type Parameters<Input> = { readonly [Name in keyof Input]-?: Parameter };
type Build<Input> = (parameters: Parameters<Input>) => Sql;

/** All statements for one tenant that the loaded modules define. The tests run each of them. */
export const definedStatements: Statement<object, unknown>[] = [];

/** Defines a statement that returns its first row as JSON: numbers, texts, and timestamps as text. */
export function oneAsJson<Input extends object, Row extends object>(
  build: Build<Input>,
): Statement<Input, Row, 'oneAsJson'> {
  return define('oneAsJson', build, (select) => sql`SELECT to_json(one) FROM (${select}) AS one`);
}

/** Defines a statement that returns all rows as JSON: numbers, texts, and timestamps as text. */
export function manyAsJson<Input extends object, Row extends object>(
  build: Build<Input>,
): Statement<Input, Row, 'manyAsJson'> {
  return define('manyAsJson', build, (select) => sql`SELECT json_agg(many) FROM (${select}) AS many`);
}

/** Defines a statement that returns rows with the values of pg: `bigint` for ids, `Date` for timestamps. */
export function rows<Input extends object, Row extends object>(build: Build<Input>): Statement<Input, Row, 'rows'> {
  return define('rows', build);
}

/** Defines a statement that returns the number of rows that it has written. */
export function command<Input extends object>(build: Build<Input>): Statement<Input, never, 'command'> {
  return define('command', build);
}

/**
 * Defines a statement whose text or best plan depends on the request, such as a list with filters. PostgreSQL plans it
 * for its values, with the given settings. It can't run in a transaction, because the transaction's later statements would be planned likewise.
 */
export function dynamic<Row extends object>(
  build: () => Sql,
  settings: Record<string, string> = {},
): DynamicStatement<Row> {
  return { form: 'dynamic', build, settings };
}

/** Defines statements over the rows of all tenants. */
export const allTenants = {
  rows: <Input extends object, Row extends object>(build: (parameters: Parameters<Input>) => Sql) => {
    return defineSystem<Input, Row, 'rows'>('rows', build);
  },
  command: <Input extends object>(build: (parameters: Parameters<Input>) => Sql) => {
    return defineSystem<Input, never, 'command'>('command', build);
  },
};

/**
 * Extends a SELECT so that it also sets the tenant. A separate statement for the tenant would take 10% of the time of a
 * small request. CASE makes PostgreSQL set the tenant before it reads the rows.
 */
function setTenant(json: Sql): Sql {
  return sql`SELECT CASE WHEN set_config('itsm.tenant_id', ${tenant}::bigint::text, true) IS NOT NULL
    THEN (${json}) END AS json`;
}

function define<Input extends object, Row, F extends Form>(
  form: F,
  build: Build<Input>,
  toJson?: (select: Sql) => Sql,
): Statement<Input, Row, F> {
  const select = build(parameters as Parameters<Input>);
  assertNamesTenant(writeFixed(select));
  const fixed = writeFixed(toJson === undefined ? select : setTenant(toJson(select)));
  const statement = { form, ...fixed, name: statementName(fixed.text) };
  definedStatements.push(statement);
  return statement;
}

function defineSystem<Input extends object, Row, F extends 'rows' | 'command'>(
  form: F,
  build: (parameters: Parameters<Input>) => Sql,
): SystemStatement<Input, Row, F> {
  const fixed = writeFixed(build(parameters as Parameters<Input>));
  return { form, ...fixed, name: statementName(fixed.text), isOverAllTenants: true };
}

/** Throws an error if a statement doesn't name the tenant, because it would read the rows of all tenants. */
export function assertNamesTenant({ text, names }: FixedText): void {
  if (!names.includes(tenant.name)) throw new Error(`The statement doesn't contain \${tenant}: ${text}`);
}

/** Throws an error if another client bound one of the statements. */
export function assertOwn(statements: readonly Bound[], tenantId: TenantId | undefined): void {
  if (statements.some((each) => each.tenantId !== tenantId)) throw new Error('A statement belongs to another tenant.');
}

/** Returns the parameter of any name. */
const parameters: unknown = new Proxy({}, { get: (_, name) => new Parameter(String(name)) });
