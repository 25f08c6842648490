/** A connection that the watchdog monitors. All times are values of `performance.now()`. */
export interface WatchedConnection {
  /** Returns the time when an overdue statement was sent, or undefined if no response is overdue. */
  overdueSince(now: number): number | undefined;
  /** Returns true if the connection has been idle since before `moment`. */
  isIdleSince(moment: number): boolean;
  /** Closes the connection immediately. Pending statements fail. The pool opens another connection on demand. */
  sever(reason: string): void;
  once(event: 'end', listener: () => void): unknown;
}

/** Milliseconds between two checks for overdue responses. */
const checkIntervalMs = 250;

/**
 * Closes a connection if a response is overdue. PostgreSQL's own timeouts don't help if a proxy or firewall silently
 * drops a connection.
 *
 * The watchdog also closes connections that were already idle when the overdue statement was sent. The network has
 * probably dropped these connections as well, and the next statement on each of them would wait for the full timeout.
 */
export class ConnectionWatchdog {
  readonly #connections = new Set<WatchedConnection>();
  readonly #timer = setInterval(() => this.#check(), checkIntervalMs).unref();

  add(connection: WatchedConnection): void {
    this.#connections.add(connection);
    connection.once('end', () => this.#connections.delete(connection));
  }

  /** Closes every open connection. Pending statements fail. */
  severAll(): void {
    for (const connection of this.#connections) connection.sever('The process is shutting down.');
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    const overdue = [...this.#connections].flatMap((connection) => connection.overdueSince(now) ?? []);
    if (overdue.length === 0) return;
    const first = Math.min(...overdue);
    for (const connection of this.#connections) {
      if (connection.overdueSince(now) !== undefined) connection.sever('PostgreSQL did not respond in time.');
      else if (connection.isIdleSince(first)) connection.sever('The connection to PostgreSQL may be lost.');
    }
  }
}
