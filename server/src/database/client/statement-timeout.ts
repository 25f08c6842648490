/** The timeouts of a session, in milliseconds. */
export interface Timeouts {
  /** The `statement_timeout`: PostgreSQL cancels a statement that takes longer. */
  statementMs: number;
  /** The `lock_timeout`: PostgreSQL cancels a statement that waits longer for a lock. */
  lockMs: number;
}

/** Milliseconds that a transaction may wait for its next statement, in addition to `statement_timeout`. */
const idleMarginMs = 5000;

/** Returns the statements that set the timeouts of a session. */
export function timeoutStatements({ statementMs, lockMs }: Timeouts): string[] {
  return [
    `SET statement_timeout = ${statementMs}`,
    `SET lock_timeout = ${lockMs}`,
    `SET idle_in_transaction_session_timeout = ${statementMs + idleMarginMs}`,
  ];
}
