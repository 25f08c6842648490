import type { FastifyBaseLogger } from 'fastify';

type Log = Pick<FastifyBaseLogger, 'error' | 'warn'>;

/** What fails when the database can't be reached. */
type Failing =
  | 'requests'
  | 'loop steps'
  | 'jobs'
  | 'idle connections'
  | 'uses of keys'
  | 'counts of usage'
  | 'notifications';

/** How often it is told what has failed, and for how long opening must have gone well to count as back. Milliseconds. */
const tellEveryMs = 5000;
const steadyMs = 1000;

/**
 * Whether the database can be reached, as opening connections shows, and what fails for lack of it. The log gets a line
 * when it goes, one when it is back, and between them one with counts every few seconds, however much there is to do.
 */
export class Reachability {
  readonly #log: Log | undefined;
  #awaySince: number | undefined;
  #opening: NodeJS.Timeout | undefined;
  readonly #failed = new Map<Failing, number>();
  #telling: NodeJS.Timeout | undefined;
  #lastError: unknown;

  /** @param log told of nothing without it */
  constructor(log?: Log) {
    this.#log = log;
  }

  /** A connection was opened. One that still works is no proof: where there are too many, only some are refused. */
  opened(): void {
    if (this.#awaySince === undefined || this.#opening !== undefined) return;
    this.#opening = setTimeout(() => this.#back(), steadyMs).unref();
  }

  /** A connection could not be opened. */
  refused(error: unknown): void {
    if (!this.#isOutage(error)) return;
    clearTimeout(this.#opening);
    this.#opening = undefined;
    if (this.#awaySince !== undefined) return;
    this.#awaySince = performance.now();
    this.#log?.error({ err: error }, "the database can't be reached");
  }

  /** Whether something failed since the database can't be reached. Then it is counted here, and is not to be logged. */
  explains(error: unknown, failing: Failing): boolean {
    if (!this.#isOutage(error)) return false;
    this.#failed.set(failing, (this.#failed.get(failing) ?? 0) + 1);
    this.#lastError = error;
    this.#telling ??= setTimeout(() => this.#tell(), tellEveryMs).unref();
    return true;
  }

  /** Says what has not been said. */
  close(): void {
    clearTimeout(this.#opening);
    if (this.#telling !== undefined) this.#tell();
  }

  #isOutage(error: unknown): boolean {
    return isConnectionError(error) || (this.#awaySince !== undefined && isWaitForConnection(error));
  }

  #back(): void {
    const seconds = Math.round((performance.now() - (this.#awaySince ?? 0)) / 100) / 10;
    this.#awaySince = undefined;
    this.#opening = undefined;
    this.#log?.warn({ seconds }, 'the database can be reached again');
  }

  #tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    this.#log?.error(
      { failed: Object.fromEntries(this.#failed), err: this.#lastError },
      'failed for lack of a connection to the database',
    );
    this.#failed.clear();
  }
}

/**
 * Codes of Node.js and of PostgreSQL: there is no way to it, the connection is gone, it is shutting down or starting up,
 * it has no place for one more, or it is a standby.
 */
const codes = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOST\w+|ENET\w+|ENOTFOUND|EAI_AGAIN|08\w{3}|57P\d\d|53300|25006)$/;

/** What Prisma's adapter makes of some of them. */
const kinds = ['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'];

/** What pg and `SilenceWatch` say where there is no code. */
const messages =
  /(^|\n)(Connection terminated|timeout expired|Client (has encountered a connection error|was closed)|PostgreSQL did not answer in time|The connection to PostgreSQL may be lost)/;

/** An error as pg or Prisma throws it; Prisma carries that of its adapter along, and that one the database's code. */
interface Thrown {
  message?: string;
  code?: string;
  kind?: string;
  originalCode?: string;
  cause?: unknown;
  meta?: { driverAdapterError?: unknown };
  /** Of a connection that was tried at several addresses. */
  errors?: unknown[];
}

/** Whether an error says that no connection could be made, or that one was lost. */
export function isConnectionError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { message = '', code, kind = '', originalCode, cause, meta, errors = [] } = error as Thrown;
  return (
    codes.test(originalCode ?? code ?? '') ||
    kinds.includes(kind) ||
    // What has a code is PostgreSQL's or Prisma's, and may quote what was sent.
    (code === undefined && messages.test(message)) ||
    [cause, meta?.driverAdapterError, ...errors].some(isConnectionError)
  );
}

/** Whether it waited for a connection in vain. While they can be opened it is too busy, which is something else. */
function isWaitForConnection(error: unknown): boolean {
  const { message = '', code } = error as Thrown;
  return message.includes('timeout exceeded when trying to connect') || code === 'P2028';
}
