import { currentScope, withinScope } from './scope.ts';
import { connectionsOf, type TenantClient } from './tenant-client.ts';

/**
 * Runs `work` in one transaction of the tenant's: what it writes through `db`, by Prisma or by statements of our own, is
 * committed whole or not at all. Prisma's own transactions take four times the CPU time.
 */
export async function inTransaction<Result>(db: TenantClient, work: () => Promise<Result>): Promise<Result> {
  if (currentScope()?.transaction !== undefined) throw new Error('A transaction was begun within another.');
  const tenantId = db.$tenantId;
  const pool = connectionsOf(db);
  const connection = await pool.connect();
  return withinScope({ tenantId, transaction: { pool, connection } }, async () => {
    try {
      await connection.query({ text: 'BEGIN' });
      const result = await work();
      const { command } = await connection.query({ text: 'COMMIT' });
      if (command !== 'COMMIT') throw new Error('A statement of the transaction failed, and nobody was told.');
      connection.release();
      return result;
    } catch (error) {
      await connection.query({ text: 'ROLLBACK' }).then(
        () => connection.release(),
        // It may be in whatever state: nobody else is to have it.
        (cause: Error) => connection.release(cause),
      );
      throw error;
    }
  });
}
