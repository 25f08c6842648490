import pg from 'pg';
import { errorCode } from '../../shared/pg-errors.ts';
import { isConnectionError } from '../outage-tracker.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { QueryPipeline } from './query-pipeline.ts';
import { currentScope } from './tenant-context.ts';

export interface PoolOptions extends ConnectionOptions {
  /** Connections at most. */
  max: number;
  /** Told when an idle connection breaks; the pool makes another when one is needed. */
  onConnectionError: (error: Error) => void;
}

/** What pg calls back with a connection, or with why there is none. */
type OnConnected = Parameters<pg.Pool['connect']>[0];

/**
 * Connections of one purpose; each is lent to one statement or transaction at a time. What is asked for within a
 * transaction (`inTransaction`) goes to that one's connection, so that Prisma, who knows of pools alone, takes part in it.
 */
export class Pool extends pg.Pool {
  /** Told, where somebody measures, how long a connection was waited for, in vain too. Milliseconds. */
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

  /** How many statements PostgreSQL keeps prepared, on all connections together. */
  get preparedStatements(): number {
    return [...this.#open].reduce((sum, connection) => sum + connection.preparedStatements, 0);
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares it eight times over
  override query(config: any, values?: any): any {
    const transaction = this.#transaction();
    if (transaction === undefined) return this.ask(config, values);
    return transaction.run([typeof config === 'string' ? { text: config, values } : config]).then(([result]) => result);
  }

  /**
   * Runs statements of a tenant in one round trip; each sees what was committed before it began. The tenant goes before
   * them, unless the first sets it.
   */
  together(configs: pg.QueryConfig[], { setsTenant = false } = {}): Promise<pg.QueryResult[]> {
    // Read now: whoever gives a connection back hands it on in a scope of their own.
    const { tenantId, transaction } = currentScope() ?? {};
    if (tenantId === undefined) throw new Error('A statement of a request was asked for outside of its tenant.');
    if (transaction?.pool === this) return transaction.run(configs);
    return this.#askOne(new QueryPipeline(configs, setsTenant ? {} : { tenantId })) as Promise<never>;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: OnConnected): void;
  override connect(callback?: OnConnected): Promise<pg.PoolClient> | undefined {
    const transaction = this.#transaction();
    // The pool itself asks with a callback, for single statements.
    if (transaction === undefined || callback !== undefined) return this.#lend(callback);
    return Promise.resolve(new NestedTransaction(transaction) as unknown as pg.PoolClient);
  }

  #lend(given: OnConnected | undefined): Promise<pg.PoolClient> | undefined {
    const { onLent } = this;
    // Whoever gives a connection back hands it on.
    const callback = given && this.#tracer ? this.#tracer.keep(given) : given;
    const asked = performance.now();
    if (callback === undefined) {
      const lent = super.connect();
      return onLent === undefined ? lent : lent.finally(() => onLent(performance.now() - asked));
    }
    super.connect((...lent) => {
      onLent?.(performance.now() - asked);
      callback(...lent);
    });
    return undefined;
  }

  /** Lends a connection for as long as `work` takes. */
  async lend<Result>(work: (connection: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const connection = await this.connect();
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  /** Runs a statement on a connection to itself. */
  protected ask(config: unknown, values?: unknown): unknown {
    return this.#askOne(config, values);
  }

  /** Keeps the connection where the statement fails, unless that is broken: pg's own pools close it. */
  #askOne(config: unknown, values?: unknown): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      this.connect((error, connection, release) => {
        if (error !== undefined || connection === undefined) return reject(error);
        let isDone = false;
        const done = (failure: Error | null, result: pg.QueryResult) => {
          // Of a statement that can't be sent pg tells twice.
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

/** What a session says that is in no state for another statement, or whose plans are of tables as they were. */
const spoilt = /^(25P02|0A000|26000)$/;

/**
 * Whether another statement may follow one that failed. PostgreSQL says that it ends a session before the connection is gone;
 * and pg-boss sends transactions as one text, which are left open where one of their statements fails.
 */
function isUsable(failure: Error | null, config: unknown): boolean {
  if (failure === null) return true;
  const text = typeof config === 'string' ? config : ((config as Partial<pg.QueryConfig>).text ?? '');
  return !(isConnectionError(failure) || spoilt.test(errorCode(failure) ?? '') || /^\s*BEGIN\b/i.test(text));
}

/** Connections for requests: every statement carries the tenant of the scope in which it was asked for. */
export class TenantPool extends Pool {
  protected override ask(config: pg.QueryConfig): unknown {
    return this.together([config]).then(([result]) => result);
  }
}

/** What Prisma is given that begins a transaction, for an operation of several statements, within one that is under way. */
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

  // The connection belongs to the transaction around it.
  release(): void {}

  on(): this {
    return this;
  }

  removeListener(): this {
    return this;
  }
}
