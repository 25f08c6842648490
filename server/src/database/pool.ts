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

/** Connections of one purpose; each is lent to one statement or transaction at a time. */
export class Pool extends pg.Pool {
  constructor({ onConnectionError, ...options }: PoolOptions) {
    super({ ...options, connectionTimeoutMillis: 5000, Client: Connection as never });
    this.on('error', onConnectionError);
  }
}

/** Connections for requests: every statement carries the tenant of the scope in which it was asked for. */
export class TenantPool extends Pool {
  // biome-ignore lint/suspicious/noExplicitAny: pg declares it eight times over
  override query(config: any): any {
    // Read now: whoever gives a connection back hands it on in a scope of their own.
    const tenantId = currentScope()?.tenantId;
    if (tenantId === undefined) throw new Error('A statement of a request was asked for outside of its tenant.');
    return super.query(new TenantQuery(config, tenantId) as never);
  }
}
