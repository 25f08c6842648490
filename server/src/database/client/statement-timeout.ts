/** The timeouts of a session, in milliseconds. */
export interface Timeouts {
  /** The `statement_timeout`. PostgreSQL cancels a statement that runs longer. */
  statementMs: number;
  /** The `lock_timeout`. PostgreSQL cancels a statement that waits longer for a lock. */
  lockMs: number;
}

/** The maximum wait between two statements of a transaction is `statement_timeout` plus this number of milliseconds. */
const idleMarginMs = 5000;

/** Returns the SQL statements that set a session's timeouts. */
export function timeoutStatements({ statementMs, lockMs }: Timeouts): string[] {
  return [
    `SET statement_timeout = ${statementMs}`,
    `SET lock_timeout = ${lockMs}`,
    `SET idle_in_transaction_session_timeout = ${statementMs + idleMarginMs}`,
  ];
}
