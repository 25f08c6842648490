/** A connection as the watch sees it. Moments are those of `performance.now()`. */
export interface WatchedConnection {
  /** Since when an answer is overdue that PostgreSQL itself would have cut short; undefined when none is. */
  overdueSince(now: number): number | undefined;
  /** Whether it waits for nothing and has said nothing since. */
  isIdleSince(moment: number): boolean;
  /** Ends it at once: who waits for an answer is told, and its pool makes another when one is needed. */
  sever(reason: string): void;
  once(event: 'end', listener: () => void): unknown;
}

/** How often it is looked for overdue answers. Milliseconds. */
const lookEveryMs = 250;

/**
 * Ends connections on which an answer is overdue. A proxy or a firewall can drop a connection without telling either
 * side; PostgreSQL's own time-outs are of no use then. What is idle and has said nothing since then goes as well: it
 * was lost at the same time, and the next statement would wait on it as long again.
 */
export class ConnectionWatchdog {
  readonly #connections = new Set<WatchedConnection>();
  readonly #timer = setInterval(() => this.#look(), lookEveryMs).unref();

  add(connection: WatchedConnection): void {
    this.#connections.add(connection);
    connection.once('end', () => this.#connections.delete(connection));
  }

  /** Ends every connection that is still open: whoever waits on one is told. */
  severAll(): void {
    for (const connection of this.#connections) connection.sever('The process ends.');
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const overdue = [...this.#connections].flatMap((connection) => connection.overdueSince(now) ?? []);
    if (overdue.length === 0) return;
    const first = Math.min(...overdue);
    for (const connection of this.#connections) {
      if (connection.overdueSince(now) !== undefined) connection.sever('PostgreSQL did not answer in time.');
      else if (connection.isIdleSince(first)) connection.sever('The connection to PostgreSQL may be lost.');
    }
  }
}
