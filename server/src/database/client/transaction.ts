import type pg from 'pg';
import { CONDITION_NOT_MET, errorCode } from '../../shared/pg-errors.ts';
import { QueryPipeline } from './query-pipeline.ts';
import { prepared, type Statement } from './raw-sql.ts';
import { connectionsOf, type TenantClient } from './tenant-client.ts';
import { currentScope, withinScope } from './tenant-context.ts';

/** Statements that take no round trip of their own. If a condition of `require_condition` doesn't hold, nothing is committed. */
export interface TransactionGuards<Result> {
  /** Sent before the first statement of the work. */
  opening?: readonly Statement[] | undefined;
  /** Sent with COMMIT. */
  closing?: ((result: Result) => readonly Statement[]) | undefined;
}

/** A condition of the transaction (`require_condition`) doesn't hold. */
export class ConditionNotMet extends Error {
  override name = 'ConditionNotMet';
}

/**
 * Runs `work` in one transaction of the tenant's: what it writes through `db`, by Prisma or by statements of our own, is
 * committed whole or not at all. It begins with its first statement, in the same round trip. Prisma's own transactions
 * take four times the CPU time.
 * @throws ConditionNotMet
 */
export async function inTransaction<Result>(
  db: TenantClient,
  work: () => Promise<Result>,
  { opening = [], closing }: TransactionGuards<Result> = {},
): Promise<Result> {
  if (currentScope()?.transaction !== undefined) throw new Error('A transaction was begun within another.');
  const tenantId = db.$tenantId;
  const pool = connectionsOf(db);
  const connection: pg.PoolClient = await pool.connect();
  let begun = false;
  let notMet: ConditionNotMet | undefined;

  /** Statements that are asked together go one after the other, as their connection has it. */
  let last: Promise<unknown> = Promise.resolve();
  function run(given: pg.QueryConfig[], { closes = false } = {}): Promise<pg.QueryResult[]> {
    const answered = last.then(() => send(given, closes));
    last = answered.catch(() => undefined);
    return answered;
  }

  function send(given: pg.QueryConfig[], closes: boolean): Promise<pg.QueryResult[]> {
    const first = begun ? [] : opening.map(prepared);
    const batch = new QueryPipeline([...first, ...given], {
      ...(!begun && { tenantId, begins: true }),
      commits: closes,
    });
    begun = true;
    return new Promise((resolve, reject) => {
      batch.callback = (error, results = []) => {
        if (error === null) return resolve(results.slice(first.length));
        // Kept here, because Prisma wraps the error.
        if (errorCode(error) === CONDITION_NOT_MET) notMet = new ConditionNotMet(error.message, { cause: error });
        reject(error);
      };
      connection.query(batch);
    });
  }

  try {
    const result = await withinScope({ tenantId, transaction: { pool, run } }, work);
    const ending = closing?.(result) ?? [];
    // In a transaction that has failed they fail, too.
    if (ending.length > 0) await run(ending.map(prepared), { closes: true });
    else if (begun) await commit(connection);
    connection.release();
    return result;
  } catch (error) {
    if (!begun) connection.release();
    else {
      await connection.query('ROLLBACK').then(
        () => connection.release(),
        // It may be in whatever state: nobody else is to have it.
        (cause: Error) => connection.release(cause),
      );
    }
    throw notMet ?? error;
  }
}

async function commit(connection: pg.PoolClient): Promise<void> {
  const { command } = await connection.query('COMMIT');
  if (command !== 'COMMIT') throw new Error('A statement of the transaction failed, and nobody was told.');
}
