import type { FastifyBaseLogger } from 'fastify';

type Log = Pick<FastifyBaseLogger, 'error' | 'warn'>;

/** The kinds of work for which the tracker counts failures during an outage. */
type WorkKind =
  | 'requests'
  | 'loop steps'
  | 'jobs'
  | 'idle connections'
  | 'uses of keys'
  | 'counts of usage'
  | 'writes of the request log'
  | 'notifications';

/** Milliseconds between two log entries with failure counts. */
const reportIntervalMs = 5000;
/** The time without failed connections after which an outage counts as over, in milliseconds. */
const recoveryMs = 1000;

/** How many milliseconds `problem` reports a lack of resources after the last error that it caused. */
const shortageMs = 30_000;

/**
 * Detects database outages from failed connections. Counts errors caused by an outage or by a lack of disk space,
 * memory or connections. Logs when each outage starts and ends, and logs the counts at most once every 5 seconds.
 * Without this class, each failed request would write a log entry.
 */
export class OutageTracker {
  readonly #log: Log | undefined;
  #outage: { since: number; reason: string } | undefined;
  #shortage: { at: number; reason: string } | undefined;
  #recoveryTimer: NodeJS.Timeout | undefined;
  readonly #failures = new Map<WorkKind, number>();
  #reportTimer: NodeJS.Timeout | undefined;
  #lastError: unknown;

  /** @param log receives the log entries; without a log, the tracker only counts errors */
  constructor(log?: Log) {
    this.#log = log;
  }

  /**
   * Records that a connection was opened. The outage ends if no connection fails in the next second. The tracker waits,
   * because PostgreSQL still accepts some connections when it is at its connection limit.
   */
  recordSuccess(): void {
    if (this.#outage === undefined || this.#recoveryTimer !== undefined) return;
    this.#recoveryTimer = setTimeout(() => this.#endOutage(), recoveryMs).unref();
  }

  /** Records a connection that could not be opened. */
  recordFailure(error: unknown): void {
    if (!isConnectionError(error) && !this.#isWaitDuringOutage(error)) return;
    clearTimeout(this.#recoveryTimer);
    this.#recoveryTimer = undefined;
    const { since } = this.#outage ?? {};
    this.#outage = { since: since ?? performance.now(), reason: findMessage(error) };
    if (since !== undefined) return;
    this.#log?.error({ err: error }, "the database can't be reached");
  }

  /**
   * Returns true if an outage or a lack of resources caused the error. The tracker then counts the error, and the
   * caller must not log it.
   */
  explains(error: unknown, failing: WorkKind): boolean {
    if (!isConnectionError(error) && !this.#isWaitDuringOutage(error)) {
      const reason = findShortage(error);
      if (reason === undefined) return false;
      this.#shortage = { at: performance.now(), reason };
    }
    this.#failures.set(failing, (this.#failures.get(failing) ?? 0) + 1);
    this.#lastError = error;
    this.#reportTimer ??= setTimeout(() => this.#report(), reportIntervalMs).unref();
    return true;
  }

  /** The reason why the database is unavailable, or undefined if it is available. */
  get problem(): string | undefined {
    if (this.#shortage !== undefined && performance.now() - this.#shortage.at > shortageMs) this.#shortage = undefined;
    return this.#outage?.reason ?? this.#shortage?.reason;
  }

  /** Stops the timers and logs the remaining counts. */
  close(): void {
    clearTimeout(this.#recoveryTimer);
    if (this.#reportTimer !== undefined) this.#report();
  }

  #isWaitDuringOutage(error: unknown): boolean {
    return this.#outage !== undefined && isWaitForConnection(error);
  }

  #endOutage(): void {
    const seconds = Math.round((performance.now() - (this.#outage?.since ?? 0)) / 100) / 10;
    this.#outage = undefined;
    this.#recoveryTimer = undefined;
    this.#log?.warn({ seconds }, 'the database can be reached again');
  }

  #report(): void {
    clearTimeout(this.#reportTimer);
    this.#reportTimer = undefined;
    this.#log?.error(
      { failed: Object.fromEntries(this.#failures), err: this.#lastError },
      'failed because the database is unavailable',
    );
    this.#failures.clear();
  }
}

/**
 * The error codes of Node.js and PostgreSQL for an outage. They mean that the connection is lost, or that the server is
 * unreachable, starting, shutting down, at its connection limit, or a standby.
 */
const codes = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOST\w+|ENET\w+|ENOTFOUND|EAI_AGAIN|08\w{3}|57P\d\d|53300|25006)$/;

/** The error kinds that Prisma's adapter uses for some of the errors in `codes`. */
const kinds = ['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'];

/** Matches the messages of the errors that pg and `ConnectionWatchdog` throw without an error code. */
const messages =
  /(^|\n)(Connection terminated|timeout expired|Client (has encountered a connection error|was closed)|PostgreSQL did not respond in time|The connection to PostgreSQL may be lost)/;

/**
 * An error from pg or Prisma. A Prisma error contains the error of Prisma's adapter, which contains PostgreSQL's error
 * code.
 */
interface Thrown {
  message?: string;
  code?: string;
  kind?: string;
  originalCode?: string;
  originalMessage?: string;
  cause?: unknown;
  meta?: { driverAdapterError?: unknown };
  /** One error per address, if the host name has several addresses. */
  errors?: unknown[];
}

/** Returns true if the error means that a connection was lost or could not be opened. */
export function isConnectionError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { message = '', code, kind = '', originalCode, cause, meta, errors = [] } = error as Thrown;
  return (
    codes.test(originalCode ?? code ?? '') ||
    kinds.includes(kind) ||
    // If an error has a code, ignores its message, because the message may quote the data of a request.
    (code === undefined && messages.test(message)) ||
    [cause, meta?.driverAdapterError, ...errors].some(isConnectionError)
  );
}

/** PostgreSQL's error codes for a lack of disk space, memory or connections. */
const shortageCodes = /^53\w{3}$/;

/** Returns PostgreSQL's message about a lack of resources, or undefined for other errors. */
function findShortage(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { message, code, originalCode, originalMessage, cause, meta } = error as Thrown;
  if (shortageCodes.test(originalCode ?? code ?? '')) return originalMessage ?? message;
  return findShortage(cause) ?? findShortage(meta?.driverAdapterError);
}

/**
 * Returns the message of an error. If the message is empty, returns the message of the first error that this error
 * contains.
 */
function findMessage(error: unknown): string {
  const { message, errors: [first] = [] } = error as Thrown;
  return message || (first === undefined ? String(error) : findMessage(first));
}

/**
 * Returns true if the wait for a pool connection timed out. If there is no outage, the timeout only means that the pool
 * is busy.
 */
function isWaitForConnection(error: unknown): boolean {
  const { message = '', code } = error as Thrown;
  return message.includes('timeout exceeded when trying to connect') || code === 'P2028';
}
