import type pg from 'pg';
import { CONDITION_NOT_MET, errorCode } from '../../shared/error-codes.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { Pool } from './pool.ts';
import { QueryPipeline } from './query-pipeline.ts';
import { assertOwn, type Bound } from './statements.ts';
import { currentScope, withinScope } from './tenant-context.ts';

/**
 * Statements that a transaction sends without an extra round trip. If a condition of `require_condition` is false,
 * PostgreSQL rolls the transaction back.
 */
export interface BoundaryStatements<Result> {
  /** The statements to send before the first statement of `work`, in the same round trip. */
  opening?: readonly Bound[] | undefined;
  /** Returns the statements to send before COMMIT, in the same round trip. */
  closing?: ((result: Result) => readonly Bound[]) | undefined;
}

/** The error if a condition of the SQL function `require_condition` is false. */
export class ConditionNotMet extends Error {
  override name = 'ConditionNotMet';
}

/**
 * Runs `work` in one transaction of a tenant, or of the system client. The transaction includes the client's Prisma
 * operations and statements. BEGIN and the first statement share one round trip. A transaction of Prisma would take four
 * times the CPU time.
 * @param tenantId the tenant; undefined for the system client
 * @throws ConditionNotMet
 */
export async function runTransaction<Result>(
  pool: Pool,
  tenantId: TenantId | undefined,
  work: () => Promise<Result>,
  { opening = [], closing }: BoundaryStatements<Result> = {},
): Promise<Result> {
  if (currentScope()?.transaction?.pool === pool)
    throw new Error('A transaction began within another transaction. Use the outer transaction.');
  assertOwn(opening, tenantId);
  const connection: pg.PoolClient = await pool.connect();
  let begun = false;
  let notMet: ConditionNotMet | undefined;

  /**
   * A promise that resolves when the last query has finished. Concurrent queries share a connection, so they run one
   * after another.
   */
  let last: Promise<unknown> = Promise.resolve();
  function run(configs: pg.QueryConfig[], { closes = false } = {}): Promise<pg.QueryResult[]> {
    const result = last.then(() => send(configs, closes));
    last = result.catch(() => undefined);
    return result;
  }

  function send(configs: readonly pg.QueryConfig[], closes: boolean): Promise<pg.QueryResult[]> {
    const first = begun ? [] : opening;
    const pipeline = new QueryPipeline([...first, ...configs], {
      ...(!begun && { tenantId, begins: true }),
      commits: closes,
    });
    begun = true;
    return new Promise((resolve, reject) => {
      pipeline.callback = (error, results = []) => {
        if (error === null) return resolve(results.slice(first.length));
        // Stores the original error, because Prisma throws a different error that wraps it.
        if (errorCode(error) === CONDITION_NOT_MET) notMet = new ConditionNotMet(error.message, { cause: error });
        reject(error);
      };
      connection.query(pipeline);
    });
  }

  async function withSavepoint<Work>(work: () => Promise<Work>, isKept: (result: Work) => boolean): Promise<Work> {
    await run([{ text: 'SAVEPOINT undone' }]);
    let keeps = false;
    try {
      const result = await work();
      keeps = isKept(result);
      return result;
    } finally {
      await run([{ text: keeps ? 'RELEASE SAVEPOINT undone' : 'ROLLBACK TO SAVEPOINT undone' }]);
      if (!keeps) notMet = undefined;
    }
  }

  try {
    const result = await withinScope({ tenantId, transaction: { pool, run, withSavepoint } }, work);
    const ending = closing?.(result) ?? [];
    assertOwn(ending, tenantId);
    // If a statement has failed, PostgreSQL also rejects the closing statements. The transaction is then rolled back,
    // even if `work` has ignored the error.
    if (ending.length > 0) await run([...ending], { closes: true });
    else if (begun) await commit(connection);
    connection.release();
    return result;
  } catch (error) {
    if (!begun) connection.release();
    else {
      await connection.query('ROLLBACK').then(
        () => connection.release(),
        // The transaction may still be open on the connection, so the pool closes the connection.
        (cause: Error) => connection.release(cause),
      );
    }
    throw notMet ?? error;
  }
}

async function commit(connection: pg.PoolClient): Promise<void> {
  const { command } = await connection.query('COMMIT');
  if (command !== 'COMMIT')
    throw new Error(
      'A statement of the transaction failed, and its error was ignored. Rethrow the error to roll the changes back.',
    );
}

/**
 * Runs `work` in the current transaction. If `work` throws, or `isKept` returns false for its result, undoes its changes
 * in the database, and releases the locks that it has acquired. Values of sequences stay used.
 * @throws Error outside of a transaction
 */
export function withSavepoint<Result>(
  work: () => Promise<Result>,
  isKept: (result: Result) => boolean,
): Promise<Result> {
  const { transaction } = currentScope() ?? {};
  if (transaction === undefined) throw new Error('A savepoint was set outside of a transaction.');
  return transaction.withSavepoint(work, isKept);
}

/**
 * Runs a statement of another library, such as pg-boss, in the current transaction.
 * @throws Error outside of a transaction
 */
export async function queryInTransaction(text: string, values?: unknown[]): Promise<pg.QueryResult> {
  const { transaction } = currentScope() ?? {};
  if (transaction === undefined) throw new Error('A statement that needs a transaction ran outside of one.');
  const [result] = await transaction.run([{ text, values }]);
  return result as pg.QueryResult;
}
