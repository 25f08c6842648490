import pg from 'pg';
import { Connection, type ConnectionOptions } from './connection.ts';
import { currentScope } from './scope.ts';
import { TenantQuery } from './tenant-query.ts';

export interface PoolOptions extends ConnectionOptions {
  /** Connections at most. */
  max: number;
  /** Told when an idle connection breaks; the pool makes another when one is needed. */
  onConnectionError: (error: Error) => void;
}

/**
 * Connections of one purpose; each is lent to one statement or transaction at a time. What is asked for within a
 * transaction (`inTransaction`) goes to that one's connection, so that Prisma, who knows of pools alone, takes part in it.
 */
export class Pool extends pg.Pool {
  constructor({ onConnectionError, ...options }: PoolOptions) {
    super({ ...options, connectionTimeoutMillis: 5000, Client: Connection as never });
    this.on('error', onConnectionError);
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares it eight times over
  override query(config: any, values?: any): any {
    const transaction = this.#transaction();
    return transaction === undefined ? this.ask(config, values) : transaction.query(config, values);
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares it for callbacks and for promises
  override connect(callback?: any): any {
    const transaction = this.#transaction();
    // The pool itself asks with a callback, for single statements.
    if (transaction === undefined || callback !== undefined) return super.connect(callback);
    return Promise.resolve(new NestedTransaction(transaction));
  }

  /** Lends a connection for as long as `work` takes. */
  async lend<Result>(work: (connection: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const connection: pg.PoolClient = await this.connect();
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  /** Runs a statement on a connection to itself. */
  protected ask(config: unknown, values?: unknown): unknown {
    return super.query(config as string, values as unknown[]);
  }

  #transaction(): pg.ClientBase | undefined {
    const { transaction } = currentScope() ?? {};
    return transaction?.pool === this ? transaction.connection : undefined;
  }
}

/** Connections for requests: every statement carries the tenant of the scope in which it was asked for. */
export class TenantPool extends Pool {
  protected override ask(config: pg.QueryConfig): unknown {
    // Read now: whoever gives a connection back hands it on in a scope of their own.
    const tenantId = currentScope()?.tenantId;
    if (tenantId === undefined) throw new Error('A statement of a request was asked for outside of its tenant.');
    return super.ask(new TenantQuery(config, tenantId));
  }
}

/** What Prisma is given that begins a transaction, for an operation of several statements, within one that is under way. */
class NestedTransaction {
  readonly #connection: pg.ClientBase;

  constructor(connection: pg.ClientBase) {
    this.#connection = connection;
  }

  query(config: pg.QueryConfig): Promise<pg.QueryResult> {
    const savepoint = {
      BEGIN: 'SAVEPOINT nested',
      COMMIT: 'RELEASE SAVEPOINT nested',
      ROLLBACK: 'ROLLBACK TO SAVEPOINT nested',
    }[config.text];
    return this.#connection.query(savepoint === undefined ? config : { text: savepoint });
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
