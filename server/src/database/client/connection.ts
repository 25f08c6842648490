import pg from 'pg';
import type { OutageTracker } from '../outage-tracker.ts';
import { requestRole, type systemRole } from '../roles.ts';
import type { ConnectionWatchdog, WatchedConnection } from './connection-watchdog.ts';
import { wireOf } from './pg-internals.ts';
import { type Timeouts, timeoutStatements } from './statement-timeout.ts';
import { type StatementTracer, traceStatement } from './statement-tracer.ts';
import { currentScope } from './tenant-context.ts';

export interface ConnectionOptions {
  connectionString: string;
  /** The name in `pg_stat_activity`, which shows administrators the purpose of the connection. */
  application_name: string;
  /** The role of the session. Default: the role of `DATABASE_URL`, which runs migrations. */
  role?: typeof requestRole | typeof systemRole | undefined;
  timeouts: Timeouts;
  watchdog: ConnectionWatchdog;
  /** Records opened and failed connections, to detect outages. */
  outages?: OutageTracker | undefined;
  /** Traces every statement. */
  tracer?: StatementTracer | undefined;
}

/** Milliseconds after the end of `statement_timeout` until the watchdog treats a response as overdue. */
const responseGraceMs = 1000;

/**
 * The name of the prepared statement that sets the tenant until the end of the transaction. Every connection prepares
 * this statement when it opens.
 */
export const setTenantStatement = 'itsm_set_tenant';

/**
 * The SQL that sets the time zone and date format that Prisma and pg assume. A server's own defaults depend on its
 * machine and its configuration.
 */
export const utc = "SET timezone = 'UTC'; SET datestyle = 'ISO, MDY'";

/**
 * A connection with a role and timeouts. The connection sends SET statements, because older poolers reject startup
 * parameters. `ConnectionWatchdog` also limits the wait for each response, because a network failure may not cause an
 * error.
 */
export class Connection extends pg.Client implements WatchedConnection {
  readonly #options: ConnectionOptions;
  #statementMs: number;
  #sentAt: number | undefined;
  #idleSince = performance.now();

  constructor(options: ConnectionOptions) {
    // With keep-alive, an idle connection detects within about 30 seconds that the server is unreachable.
    super({ connectionTimeoutMillis: 5000, keepAlive: true, keepAliveInitialDelayMillis: 15_000, ...options });
    this.#options = options;
    this.#statementMs = options.timeouts.statementMs;
    // Without a listener, the error of a lost connection would end the process. Pools add their listener only after the
    // connection is open.
    this.on('error', () => undefined);
    // Each queued statement has its own timeout, which starts when the previous statement finishes. pg emits `drain`
    // when the queue is empty.
    this.connection.on('readyForQuery', () => {
      if (this.#sentAt !== undefined) this.#sentAt = performance.now();
    });
    this.on('drain', () => {
      this.#sentAt = undefined;
      this.#idleSince = performance.now();
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares it for callbacks and for promises
  override connect(callback?: (error: any, client?: any) => void): any {
    const { watchdog, outages, tracer } = this.#options;
    watchdog.add(this);
    const open = () => super.connect().then(() => this.#open());
    // The connection outlives the request that opens it, so it must not belong to that request's trace.
    const opened = tracer === undefined ? open() : tracer.outside(open);
    opened.then(
      () => outages?.recordSuccess(),
      (error: unknown) => outages?.recordFailure(error),
    );
    if (callback === undefined) return opened;
    opened.then(() => callback(null, this), callback);
  }

  async #open(): Promise<this> {
    const { role, timeouts } = this.#options;
    const opened: Promise<pg.QueryResult[]> = this.query(
      [
        ...timeoutStatements(timeouts),
        utc,
        ...(role === undefined ? [] : [`SET ROLE ${role}`]),
        // Makes PostgreSQL reuse query plans, because planning the query for a page of tickets takes longer than
        // executing it (docs/decisions/pagination.md).
        ...(role === requestRole ? ['SET plan_cache_mode = force_generic_plan'] : []),
        // Limits a request to one core of the database server (docs/decisions/rate-and-concurrency-limits.md).
        ...(role === requestRole ? ['SET max_parallel_workers_per_gather = 0'] : []),
        `PREPARE ${setTenantStatement} (text) AS SELECT set_config('itsm.tenant_id', $1, true)`,
        'SELECT pg_is_in_recovery() AS standby',
      ].join('; '),
    );
    await opened.then(rejectStandby).catch(async (error: unknown) => {
      await this.end();
      throw error;
    });
    return this;
  }

  /**
   * Runs a query with the arguments of pg's `query`. `BEGIN` also sets the tenant of the current scope, in the same
   * round trip.
   */
  // biome-ignore lint/suspicious/noExplicitAny: pg declares it eight times over
  override query(...args: any[]): any {
    this.#sentAt ??= performance.now();
    const [config] = args;
    const scope = config?.text === 'BEGIN' ? currentScope() : undefined;
    if (scope !== undefined) args[0] = `BEGIN; SELECT set_config('itsm.tenant_id', '${scope.tenantId}', true)`;
    const { tracer } = this.#options;
    const send = () => Reflect.apply(super.query, this, args);
    return tracer === undefined ? send() : traceStatement(tracer, args, send);
  }

  /** Changes the statement timeout of the session, and the watchdog's limit for its responses. */
  async limitStatements(milliseconds: number): Promise<void> {
    this.#statementMs = milliseconds;
    await this.query(`SET statement_timeout = ${milliseconds}`);
  }

  /** The number of prepared statements on this connection. */
  get preparedStatements(): number {
    return Object.keys(wireOf(this.connection).parsedStatements).length;
  }

  overdueSince(now: number): number | undefined {
    const limit = this.#statementMs + responseGraceMs;
    return this.#sentAt !== undefined && now - this.#sentAt > limit ? this.#sentAt : undefined;
  }

  isIdleSince(moment: number): boolean {
    return this.#sentAt === undefined && this.#idleSince < moment;
  }

  sever(reason: string): void {
    // pg adds its error listener when it connects. Before that, the error would end the process.
    this.connection.stream.on('error', () => undefined).destroy(new Error(reason));
  }
}

/** PostgreSQL's error code for a write on a standby. */
const READ_ONLY = '25006';

/**
 * Rejects a standby. Its data may be stale, and the pool would still use its connections after PostgreSQL promotes
 * another server.
 */
function rejectStandby(opening: pg.QueryResult[]): void {
  if (!opening.at(-1)?.rows[0].standby) return;
  throw Object.assign(new Error('The server is a read-only standby. Set DATABASE_URL to the primary.'), {
    code: READ_ONLY,
  });
}
