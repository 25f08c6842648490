import pg from 'pg';
import type { OutageTracker } from '../outage-tracker.ts';
import { requestRole, type systemRole } from '../roles.ts';
import type { ConnectionWatchdog, WatchedConnection } from './connection-watchdog.ts';
import { wireOf } from './pg-internals.ts';
import { type StatementTracer, traceStatement } from './statement-tracer.ts';
import { currentScope } from './tenant-context.ts';

/** How long PostgreSQL may take, in milliseconds. */
export interface Timeouts {
  /** For one statement; PostgreSQL ends one that takes longer. */
  statementMs: number;
  /** For one lock that a statement waits for. */
  lockMs: number;
}

export interface ConnectionOptions {
  connectionString: string;
  /** What `pg_stat_activity` shows, so that an administrator knows the purpose. */
  application_name: string;
  /** What it may see; as the role of the URL where it is left out, which migrates. */
  role?: typeof requestRole | typeof systemRole | undefined;
  timeouts: Timeouts;
  watch: ConnectionWatchdog;
  /** Told how opening went. */
  reachability?: OutageTracker | undefined;
  /** Told of every statement. */
  tracer?: StatementTracer | undefined;
}

/** How much longer than a statement may take its answer is waited for. Milliseconds. */
const answerGraceMs = 1000;

/** The statement, prepared on every connection, that sets the tenant until its transaction ends. */
export const setTenant = 'itsm_set_tenant';

/**
 * Prisma reads and writes moments as if every session were in UTC, and pg reads them as ISO 8601 has them; those of a server
 * are whatever its machine or an administrator has set.
 */
export const utc = "SET timezone = 'UTC'; SET datestyle = 'ISO, MDY'";

/**
 * A connection with its role and its time-outs. Both are SET when it is open: older poolers refuse them as start-up
 * parameters. What it waits for is bounded here too, since a connection can be lost without a word (`ConnectionWatchdog`).
 */
export class Connection extends pg.Client implements WatchedConnection {
  readonly #options: ConnectionOptions;
  #statementMs: number;
  #askedAt: number | undefined;
  #heardAt = performance.now();

  constructor(options: ConnectionOptions) {
    // Who waits for a machine that is gone is told within half a minute.
    super({ connectionTimeoutMillis: 5000, keepAlive: true, keepAliveInitialDelayMillis: 15_000, ...options });
    this.#options = options;
    this.#statementMs = options.timeouts.statementMs;
    // Without a listener the error of a lost connection would end the process: there is none while it is opened.
    this.on('error', () => undefined);
    // Each statement has its time. pg tells by `drain` alone that nobody asks at once, as who waits in a pool does.
    this.connection.on('readyForQuery', () => {
      if (this.#askedAt !== undefined) this.#askedAt = performance.now();
    });
    this.on('drain', () => {
      this.#askedAt = undefined;
      this.#heardAt = performance.now();
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares it for callbacks and for promises
  override connect(callback?: (error: any, client?: any) => void): any {
    const { watch, reachability, tracer } = this.#options;
    watch.add(this);
    const open = () => super.connect().then(() => this.#open());
    // It outlives who asked for it first, and what breaks it is none of theirs.
    const opened = tracer === undefined ? open() : tracer.outside(open);
    opened.then(
      () => reachability?.opened(),
      (error: unknown) => reachability?.refused(error),
    );
    if (callback === undefined) return opened;
    opened.then(() => callback(null, this), callback);
  }

  async #open(): Promise<this> {
    const { role, timeouts } = this.#options;
    const opened: Promise<pg.QueryResult[]> = this.query(
      [
        `SET statement_timeout = ${timeouts.statementMs}`,
        `SET lock_timeout = ${timeouts.lockMs}`,
        `SET idle_in_transaction_session_timeout = ${timeouts.statementMs + 5000}`,
        utc,
        ...(role === undefined ? [] : [`SET ROLE ${role}`]),
        // To plan a page of tickets takes longer than to answer it (docs/decisions/pagination.md).
        ...(role === requestRole ? ['SET plan_cache_mode = force_generic_plan'] : []),
        // One request takes one core of PostgreSQL's (docs/decisions/rate-and-concurrency-limits.md).
        ...(role === requestRole ? ['SET max_parallel_workers_per_gather = 0'] : []),
        `PREPARE ${setTenant} (text) AS SELECT set_config('itsm.tenant_id', $1, true)`,
        'SELECT pg_is_in_recovery() AS standby',
      ].join('; '),
    );
    await opened.then(refuseStandby).catch(async (error: unknown) => {
      await this.end();
      throw error;
    });
    return this;
  }

  /** As pg has it, but that `BEGIN` sets the tenant of the scope in the same round trip. */
  // biome-ignore lint/suspicious/noExplicitAny: pg declares it eight times over
  override query(...args: any[]): any {
    this.#askedAt ??= performance.now();
    const [config] = args;
    const scope = config?.text === 'BEGIN' ? currentScope() : undefined;
    if (scope !== undefined) args[0] = `BEGIN; SELECT set_config('itsm.tenant_id', '${scope.tenantId}', true)`;
    const { tracer } = this.#options;
    const ask = () => Reflect.apply(super.query, this, args);
    return tracer === undefined ? ask() : traceStatement(tracer, args, ask);
  }

  /** Has each statement from now on take no longer than so many milliseconds, and waits no longer for its answer. */
  async limitStatements(milliseconds: number): Promise<void> {
    this.#statementMs = milliseconds;
    await this.query(`SET statement_timeout = ${milliseconds}`);
  }

  /** How many statements PostgreSQL keeps prepared on it. */
  get preparedStatements(): number {
    return Object.keys(wireOf(this.connection).parsedStatements).length;
  }

  overdueSince(now: number): number | undefined {
    const limit = this.#statementMs + answerGraceMs;
    return this.#askedAt !== undefined && now - this.#askedAt > limit ? this.#askedAt : undefined;
  }

  isIdleSince(moment: number): boolean {
    return this.#askedAt === undefined && this.#heardAt < moment;
  }

  sever(reason: string): void {
    // pg listens from the moment it connects: the error of one that never did would end the process.
    this.connection.stream.on('error', () => undefined).destroy(new Error(reason));
  }
}

/** What PostgreSQL answers to a write on a standby. */
const READ_ONLY = '25006';

/** A standby tells what may be old, and who stayed would still ask it when another one is promoted. */
function refuseStandby(opening: pg.QueryResult[]): void {
  if (!opening.at(-1)?.rows[0].standby) return;
  throw Object.assign(new Error('The server is a standby, which can only be read.'), { code: READ_ONLY });
}
