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

/** For how long the database counts as out of resources after it has said so last. Milliseconds. */
const shortageMs = 30_000;

/**
 * Whether the database can be reached, as opening connections shows, and what fails for lack of it or of its disk space,
 * memory or connections. The log gets a line when it goes, one when it is back, and between them one with counts every
 * few seconds, however much there is to do.
 */
export class OutageTracker {
  readonly #log: Log | undefined;
  #away: { since: number; reason: string } | undefined;
  #shortage: { at: number; reason: string } | undefined;
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
    if (this.#away === undefined || this.#opening !== undefined) return;
    this.#opening = setTimeout(() => this.#back(), steadyMs).unref();
  }

  /** A connection could not be opened. */
  refused(error: unknown): void {
    if (!isConnectionError(error) && !this.#isWaitInVain(error)) return;
    clearTimeout(this.#opening);
    this.#opening = undefined;
    const { since } = this.#away ?? {};
    this.#away = { since: since ?? performance.now(), reason: messageOf(error) };
    if (since !== undefined) return;
    this.#log?.error({ err: error }, "the database can't be reached");
  }

  /**
   * Whether something failed since the database can't be reached or is out of resources. Then it is counted here, and is
   * not to be logged.
   */
  explains(error: unknown, failing: Failing): boolean {
    if (!isConnectionError(error) && !this.#isWaitInVain(error)) {
      const reason = shortageIn(error);
      if (reason === undefined) return false;
      this.#shortage = { at: performance.now(), reason };
    }
    this.#failed.set(failing, (this.#failed.get(failing) ?? 0) + 1);
    this.#lastError = error;
    this.#telling ??= setTimeout(() => this.#tell(), tellEveryMs).unref();
    return true;
  }

  /** Why the database is unavailable; undefined while it isn't. */
  get problem(): string | undefined {
    if (this.#shortage !== undefined && performance.now() - this.#shortage.at > shortageMs) this.#shortage = undefined;
    return this.#away?.reason ?? this.#shortage?.reason;
  }

  /** Says what has not been said. */
  close(): void {
    clearTimeout(this.#opening);
    if (this.#telling !== undefined) this.#tell();
  }

  #isWaitInVain(error: unknown): boolean {
    return this.#away !== undefined && isWaitForConnection(error);
  }

  #back(): void {
    const seconds = Math.round((performance.now() - (this.#away?.since ?? 0)) / 100) / 10;
    this.#away = undefined;
    this.#opening = undefined;
    this.#log?.warn({ seconds }, 'the database can be reached again');
  }

  #tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    this.#log?.error(
      { failed: Object.fromEntries(this.#failed), err: this.#lastError },
      'failed because the database is unavailable',
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

/** What pg and `ConnectionWatchdog` say where there is no code. */
const messages =
  /(^|\n)(Connection terminated|timeout expired|Client (has encountered a connection error|was closed)|PostgreSQL did not answer in time|The connection to PostgreSQL may be lost)/;

/** An error as pg or Prisma throws it; Prisma carries that of its adapter along, and that one the database's code. */
interface Thrown {
  message?: string;
  code?: string;
  kind?: string;
  originalCode?: string;
  originalMessage?: string;
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

/** PostgreSQL's class for a lack of disk space, memory or connections. */
const shortageCodes = /^53\w{3}$/;

/** What PostgreSQL says it lacks; undefined when the error is another one. */
function shortageIn(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { message, code, originalCode, originalMessage, cause, meta } = error as Thrown;
  if (shortageCodes.test(originalCode ?? code ?? '')) return originalMessage ?? message;
  return shortageIn(cause) ?? shortageIn(meta?.driverAdapterError);
}

/** The message of an error; the first one where several addresses were tried. */
function messageOf(error: unknown): string {
  const { message, errors: [first] = [] } = error as Thrown;
  return message || (first === undefined ? String(error) : messageOf(first));
}

/** Whether it waited for a connection in vain. While they can be opened it is too busy, which is something else. */
function isWaitForConnection(error: unknown): boolean {
  const { message = '', code } = error as Thrown;
  return message.includes('timeout exceeded when trying to connect') || code === 'P2028';
}
