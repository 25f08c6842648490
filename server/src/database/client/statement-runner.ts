import pg from 'pg';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { Pool } from './pool.ts';
import { Parameter, tenant, writeDynamic } from './sql.ts';
import { statementName } from './statement-name.ts';
import {
  assertNamesTenant,
  assertOwn,
  type Bound,
  type DynamicStatement,
  type Statement,
  type SystemStatement,
} from './statements.ts';
import { currentScope, withinScope, withinTenant } from './tenant-context.ts';
import { type BoundaryStatements, runTransaction } from './transaction.ts';

/** The values of a statement's parameters. A statement without parameters takes no argument. */
type Values<Input> = keyof Input extends never ? [] : [given: Input];

/** The rows of each statement of a pipeline. */
type Results<Statements extends readonly Bound[]> = {
  [Index in keyof Statements]: Statements[Index] extends Bound<infer Row> ? Row[] : never;
};

/** The operations of Prisma that run SQL. The clients of the server run statements instead. */
export type RawOperation = '$queryRaw' | '$queryRawUnsafe' | '$executeRaw' | '$executeRawUnsafe';

/** Runs statements for the rows of one tenant. If a transaction of the tenant is open, they are part of it. */
export interface TenantStatements {
  /** Returns the first row as JSON, or undefined. */
  $sql<Input extends object, Row>(
    statement: Statement<Input, Row, 'oneAsJson'>,
    ...given: Values<Input>
  ): Promise<Row | undefined>;
  /** Returns all rows. */
  $sql<Input extends object, Row>(
    statement: Statement<Input, Row, 'manyAsJson' | 'rows'>,
    ...given: Values<Input>
  ): Promise<Row[]>;
  /** Returns the number of rows that the statement has written. */
  $sql<Input extends object>(statement: Statement<Input, never, 'command'>, ...given: Values<Input>): Promise<number>;
  /** Returns the rows of a statement that depends on the request. @throws Error in a transaction */
  $sql<Row>(statement: DynamicStatement<Row>): Promise<Row[]>;
  /** Binds values to the parameters of a statement. */
  $bind<Input extends object, Row>(
    statement: Statement<Input, Row, 'rows' | 'command'>,
    ...given: Values<Input>
  ): Bound<Row>;
  /**
   * Runs statements in one round trip, and returns the rows of each statement. A statement sees the changes of the
   * statements before it, and all changes that other transactions committed before it started.
   */
  $pipeline<const Statements extends readonly Bound[]>(statements: Statements): Promise<Results<Statements>>;
  /**
   * Runs `work` in one transaction, which includes Prisma's operations and statements on this client. Sends the boundary
   * statements without an extra round trip.
   * @throws ConditionNotMet
   */
  $transaction<Result>(work: () => Promise<Result>, boundaries?: BoundaryStatements<Result>): Promise<Result>;
}

/** Runs statements over the rows of all tenants. If a transaction of the system client is open, they are part of it. */
export interface SystemStatements {
  /** Returns all rows. */
  $sql<Input extends object, Row>(
    statement: SystemStatement<Input, Row, 'rows'>,
    ...given: Values<Input>
  ): Promise<Row[]>;
  /** Returns the number of rows that the statement has written. */
  $sql<Input extends object>(
    statement: SystemStatement<Input, never, 'command'>,
    ...given: Values<Input>
  ): Promise<number>;
  /** Runs `work` in one transaction, which includes Prisma's operations and statements on this client. */
  $transaction<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Runs `work` in a transaction of its own, even if the caller has one. Its changes stay if the caller's roll back. */
  $ownTransaction<Result>(work: () => Promise<Result>): Promise<Result>;
}

type AnyStatement = Statement<object, unknown> | SystemStatement<object, unknown>;

/** Returns the methods of a tenant client that run statements. */
export function createTenantStatements(pool: Pool, tenantId: TenantId): TenantStatements {
  const bind = (statement: AnyStatement, given: object = {}): Bound => toConfig(statement, given, tenantId);
  const run = (configs: pg.QueryConfig[], options?: { setsTenant: boolean }) =>
    withinTenant(tenantId, () => pool.runPipeline(configs, options));

  async function $sql(statement: Statement<object, unknown> | DynamicStatement<unknown>, given?: object) {
    if (statement.form === 'dynamic') return (await runDynamic(pool, tenantId, statement)).rows;
    const setsTenant = statement.form === 'oneAsJson' || statement.form === 'manyAsJson';
    const [result] = await run([bind(statement, given)], { setsTenant });
    return toResult(statement, result);
  }

  return {
    $sql: $sql as TenantStatements['$sql'],
    $bind: bind as TenantStatements['$bind'],
    $pipeline: (async (statements: readonly Bound[]) => {
      assertOwn(statements, tenantId);
      return (await run([...statements])).map(({ rows }) => rows);
    }) as TenantStatements['$pipeline'],
    $transaction: (work, boundaries = {}) => runTransaction(pool, tenantId, work, boundaries),
  };
}

/** Returns the methods of a system client that run statements. */
export function createSystemStatements(pool: Pool): SystemStatements {
  return {
    $sql: (async (statement: SystemStatement<object, unknown>, given: object = {}) => {
      const [result] = await pool.runPipeline([toConfig(statement, given)]);
      return toResult(statement, result);
    }) as SystemStatements['$sql'],
    $transaction: (work) => runTransaction(pool, undefined, work),
    $ownTransaction: (work) => withinScope({ tenantId: undefined }, () => runTransaction(pool, undefined, work)),
  };
}

/** Returns SQL that changes settings until the end of the transaction. */
function setLocal(settings: Record<string, string>): string {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return `SELECT ${calls.join(', ')}`;
}

/** The setting that makes PostgreSQL plan a statement for its own parameter values. */
const customPlan = { plan_cache_mode: 'force_custom_plan' };

async function runDynamic(
  pool: Pool,
  tenantId: TenantId,
  statement: DynamicStatement<unknown>,
): Promise<pg.QueryResult> {
  if (currentScope()?.transaction !== undefined)
    throw new Error('A dynamic statement ran in a transaction. Run it before the transaction.');
  const { text, values } = writeDynamic(statement.build());
  assertNamesTenant({ text, names: values.flatMap((value) => (value instanceof Parameter ? value.name : [])) });
  const setting = setLocal({ ...customPlan, ...statement.settings });
  const configs = [
    { name: statementName(setting), text: setting },
    { text, values: values.map((value) => (value instanceof Parameter ? tenantId : value)), types },
  ];
  const [, result] = await withinTenant(tenantId, () => pool.runPipeline(configs));
  return result as pg.QueryResult;
}

function toConfig({ name, text, names }: AnyStatement, given: object, tenantId?: TenantId): Bound {
  const values = names.map((each) => {
    const value = each === tenant.name ? tenantId : (given as Record<string, unknown>)[each];
    if (value === undefined) throw new TypeError(`The parameter ${each} has no value. Pass null for no value: ${text}`);
    return value;
  });
  return { name, text, values, types, tenantId };
}

function toResult({ form }: AnyStatement, result: pg.QueryResult | undefined): unknown {
  if (form === 'command') return result?.rowCount ?? 0;
  if (form === 'rows') return result?.rows;
  const json = result?.rows[0]?.json ?? undefined;
  return form === 'manyAsJson' ? (json ?? []) : json;
}

const { INT8 } = pg.types.builtins;
/** The type of `bigint[]`, which pg doesn't name. */
const INT8_ARRAY = 1016;

/** Parses ids as `bigint`, because an id can be larger than a JavaScript number. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return BigInt;
    const parse = pg.types.getTypeParser(oid, format as 'text');
    return oid === INT8_ARRAY
      ? (text: string) => (parse(text) as (string | null)[]).map((id) => id && BigInt(id))
      : parse;
  },
};
