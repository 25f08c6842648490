import pg from 'pg';
import { SharedConnections } from './shared-connections.ts';

/** One process can't keep more than two of them busy, and each one more is woken more often. */
const sharedCount = 2;

/** The connections to the database: each for one query or transaction at a time, and beside them those that are shared. */
export class DatabasePool extends pg.Pool {
  readonly shared: SharedConnections;

  /** @param config its `max` counts the shared connections too: it is 3 or more */
  constructor(config: pg.PoolConfig & { max: number }) {
    super({ ...config, max: config.max - sharedCount });
    this.shared = new SharedConnections({ ...config, max: sharedCount }, (error) => this.emit('error', error));
  }

  override async end(): Promise<void> {
    await Promise.all([super.end(), this.shared.end()]);
  }
}
