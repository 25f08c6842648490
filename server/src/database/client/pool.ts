import pg from 'pg';
import { errorCode } from '../../shared/error-codes.ts';
import { isConnectionError } from '../outage-tracker.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { QueryPipeline } from './query-pipeline.ts';
import { currentScope } from './tenant-context.ts';

export interface PoolOptions extends ConnectionOptions {
  /** Maximum number of connections. */
  max: number;
  /** Called when an idle connection is lost. The pool opens another connection on demand. */
  onConnectionError: (error: Error) => void;
}

/** The callback that pg calls with a connection or an error. */
type OnConnected = Parameters<pg.Pool['connect']>[0];

/**
 * A pool of connections for one purpose, such as requests. Within `inTransaction`, the pool sends all statements to the
 * transaction's connection. Prisma sends its statements through the pool, so they also run in the transaction.
 */
export class Pool extends pg.Pool {
  /**
   * Called after each wait for a connection, even if the wait fails. The metrics record `waitedMs`, the wait in
   * milliseconds.
   */
  onLent: ((waitedMs: number) => void) | undefined;
  readonly #open = new Set<Connection>();
  readonly #tracer: PoolOptions['tracer'];

  constructor({ onConnectionError, ...options }: PoolOptions) {
    super({ ...options, connectionTimeoutMillis: 5000, Client: Connection as never });
    this.#tracer = options.tracer;
    this.on('error', onConnectionError);
    this.on('connect', (connection: unknown) => this.#open.add(connection as Connection));
    this.on('remove', (connection: unknown) => this.#open.delete(connection as Connection));
  }

  /** The number of prepared statements on all connections of the pool. */
  get preparedStatements(): number {
    return [...this.#open].reduce((sum, connection) => sum + connection.preparedStatements, 0);
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares it eight times over
  override query(config: any, values?: any): any {
    const transaction = this.#transaction();
    if (transaction === undefined) return this.runQuery(config, values);
    return transaction.run([typeof config === 'string' ? { text: config, values } : config]).then(([result]) => result);
  }

  /**
   * Runs statements in one round trip. If the scope has a tenant, first sets the tenant for row-level security. Each
   * statement sees the changes that were committed before it started.
   * @param setsTenant whether the first statement sets the tenant itself
   */
  runPipeline(configs: pg.QueryConfig[], { setsTenant = false } = {}): Promise<pg.QueryResult[]> {
    // Reads the scope before it waits for a connection. After the wait, the code runs in the scope of the caller that
    // released the connection.
    const { tenantId, transaction } = currentScope() ?? {};
    if (transaction?.pool === this) return transaction.run(configs);
    return this.#queryOnce(new QueryPipeline(configs, setsTenant ? {} : { tenantId })) as Promise<never>;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: OnConnected): void;
  override connect(callback?: OnConnected): Promise<pg.PoolClient> | undefined {
    const transaction = this.#transaction();
    // Only the pool itself passes a callback, to run a single statement.
    if (transaction === undefined || callback !== undefined) return this.#lend(callback);
    return Promise.resolve(new NestedTransaction(transaction) as unknown as pg.PoolClient);
  }

  #lend(onConnected: OnConnected | undefined): Promise<pg.PoolClient> | undefined {
    const { onLent } = this;
    // pg runs the callback in the trace of the caller that released the connection, so the tracer restores the original
    // trace.
    const callback = onConnected && this.#tracer ? this.#tracer.keep(onConnected) : onConnected;
    const requestedAt = performance.now();
    if (callback === undefined) {
      const lent = super.connect();
      return onLent === undefined ? lent : lent.finally(() => onLent(performance.now() - requestedAt));
    }
    super.connect((...lent) => {
      onLent?.(performance.now() - requestedAt);
      callback(...lent);
    });
    return undefined;
  }

  /** Runs `work` with a connection of the pool, and releases the connection afterwards. */
  async lend<Result>(work: (connection: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const connection = await this.connect();
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  /** Runs a statement on a connection of the pool. */
  protected runQuery(config: unknown, values?: unknown): unknown {
    return this.#queryOnce(config, values);
  }

  /**
   * Runs a query. After a failed query, keeps the connection if it is still usable, although pg's own pool would close
   * it.
   */
  #queryOnce(config: unknown, values?: unknown): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      this.connect((error, connection, release) => {
        if (error !== undefined || connection === undefined) return reject(error);
        let isDone = false;
        const done = (failure: Error | null, result: pg.QueryResult) => {
          // pg calls the callback twice if it can't send the statement.
          if (isDone) return;
          isDone = true;
          release(isUsable(failure, config) ? undefined : (failure as Error));
          if (failure) reject(failure);
          else resolve(result);
        };
        try {
          connection.query(config as string, values as unknown[], done);
        } catch (failure) {
          release(failure as Error);
          reject(failure);
        }
      });
    });
  }

  #transaction() {
    const { transaction } = currentScope() ?? {};
    return transaction?.pool === this ? transaction : undefined;
  }
}

/**
 * The error codes after which a session is unusable: failed transaction, outdated plan, or missing prepared statement.
 */
const unusableCodes = /^(25P02|0A000|26000)$/;

/**
 * Returns true if the pool can keep the connection after a statement. Returns false if the error ends the session.
 * PostgreSQL reports such an error before it closes the connection, so the connection still looks open.
 *
 * Also returns false after a failed SQL text that starts with `BEGIN`. pg-boss sends a whole transaction as one text,
 * and the transaction stays open if one of its statements fails.
 */
function isUsable(failure: Error | null, config: unknown): boolean {
  if (failure === null) return true;
  const text = typeof config === 'string' ? config : ((config as Partial<pg.QueryConfig>).text ?? '');
  return !(isConnectionError(failure) || unusableCodes.test(errorCode(failure) ?? '') || /^\s*BEGIN\b/i.test(text));
}

/** A pool of connections for requests. Every statement runs for the tenant of the current scope. */
export class TenantPool extends Pool {
  override runPipeline(configs: pg.QueryConfig[], options?: { setsTenant: boolean }): Promise<pg.QueryResult[]> {
    if (currentScope()?.tenantId === undefined)
      throw new Error('A statement of a request ran without a tenant. Run the statement within `withinTenant`.');
    return super.runPipeline(configs, options);
  }

  protected override runQuery(config: pg.QueryConfig): unknown {
    return this.runPipeline([config]).then(([result]) => result);
  }
}

/**
 * A Prisma transaction inside another transaction, implemented as a savepoint. Prisma starts a transaction for each
 * operation that needs several statements.
 */
class NestedTransaction {
  readonly #transaction: { run(configs: pg.QueryConfig[]): Promise<pg.QueryResult[]> };

  constructor(transaction: { run(configs: pg.QueryConfig[]): Promise<pg.QueryResult[]> }) {
    this.#transaction = transaction;
  }

  async query(config: pg.QueryConfig): Promise<pg.QueryResult | undefined> {
    const savepoint = {
      BEGIN: 'SAVEPOINT nested',
      COMMIT: 'RELEASE SAVEPOINT nested',
      ROLLBACK: 'ROLLBACK TO SAVEPOINT nested',
    }[config.text];
    const [result] = await this.#transaction.run([savepoint === undefined ? config : { text: savepoint }]);
    return result;
  }

  // The outer transaction releases the connection.
  release(): void {}

  on(): this {
    return this;
  }

  removeListener(): this {
    return this;
  }
}
