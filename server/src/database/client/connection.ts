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
  /** The name in `pg_stat_activity`, which shows administrators what the connection is for. */
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

/** How many milliseconds after `statement_timeout` the watchdog treats a response as overdue. */
const responseGraceMs = 1000;

/**
 * The name of the prepared statement that sets the tenant for the current transaction. Every connection prepares this
 * statement when it opens.
 */
export const setTenantStatement = 'itsm_set_tenant';

/**
 * SQL that sets the time zone and the date format to the values that Prisma and pg assume. The defaults of a PostgreSQL
 * server depend on its machine and configuration.
 */
export const utc = "SET timezone = 'UTC'; SET datestyle = 'ISO, MDY'";

/**
 * A database connection with a role and timeouts. Older poolers reject startup parameters, so the connection sends SET
 * statements. Some network failures cause no error, so `ConnectionWatchdog` limits the wait for each response.
 */
export class Connection extends pg.Client implements WatchedConnection {
  readonly #options: ConnectionOptions;
  #statementMs: number;
  #sentAt: number | undefined;
  #idleSince = performance.now();

  constructor(options: ConnectionOptions) {
    // With keep-alive, an idle connection fails within about 30 seconds if the server becomes unreachable.
    super({ connectionTimeoutMillis: 5000, keepAlive: true, keepAliveInitialDelayMillis: 15_000, ...options });
    this.#options = options;
    this.#statementMs = options.timeouts.statementMs;
    // A pool adds its own error listener only after the connection is open. Before that, a connection error without a
    // listener would end the process.
    this.on('error', () => undefined);
    // Each queued statement has its own timeout, which starts when the previous statement finishes. When the last
    // statement finishes, pg emits `drain` and the connection is idle.
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
    // The connection stays open after the current request ends, so it must not be part of that request's trace.
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
        // executing it (docs/decisions/pagination-design.md).
        ...(role === requestRole ? ['SET plan_cache_mode = force_generic_plan'] : []),
        // Limits each query to one CPU core of the database server (docs/decisions/rate-and-concurrency-limits.md).
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
   * Runs a query. Accepts the same arguments as pg's `query`. For `BEGIN`, also sets the tenant of the current scope in
   * the same round trip.
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

  /** Changes the session's statement timeout and the maximum time that the watchdog waits for a response. */
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
    // pg adds its own error listener only when it connects. Before that, an error without a listener would end the
    // process.
    this.connection.stream.on('error', () => undefined).destroy(new Error(reason));
  }
}

/** PostgreSQL's error code for a write to a standby server. */
const READ_ONLY = '25006';

/**
 * Rejects a connection to a standby server. A standby's data may be stale. The pool would also keep using the
 * connection after PostgreSQL promotes another server.
 */
function rejectStandby(opening: pg.QueryResult[]): void {
  if (!opening.at(-1)?.rows[0].standby) return;
  throw Object.assign(new Error('The server is a read-only standby. Set DATABASE_URL to the primary.'), {
    code: READ_ONLY,
  });
}
