import { Gauge, Histogram } from 'prom-client';
import type { Databases } from '../../database/client/databases.ts';
import type { Pool } from '../../database/client/pool.ts';
import type { Metrics } from './metrics.ts';

/**
 * Measures the database connections in each pool of a process. Records every wait for a connection. Reads all other
 * values only when a client requests the metrics.
 */
export function measureDatabases({ registry }: Metrics, { requests, keyLookups, accounts, system }: Databases): void {
  const pools = {
    requests: requests.pool,
    keys: keyLookups.pool,
    accounts: accounts.pool,
    system: system.pool,
  };

  function gauge(name: string, help: string, read: (pool: Pool) => number): void {
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const [name, pool] of Object.entries(pools)) this.set({ pool: name }, read(pool));
      },
    });
  }

  gauge(
    'itsm_database_connections_in_use',
    'Connections to PostgreSQL that are in use or being opened.',
    (pool) => pool.totalCount - pool.idleCount,
  );
  gauge('itsm_database_connections_idle', 'Idle connections to PostgreSQL.', (pool) => pool.idleCount);
  gauge('itsm_database_connections_max', 'Maximum connections to PostgreSQL.', (pool) => pool.options.max);
  gauge(
    'itsm_database_connections_waiting',
    'Queries and transactions that wait for a connection.',
    // While a connection is idle, the pool gives it to a waiting query at once. The scrape itself sends such queries.
    (pool) => (pool.idleCount > 0 ? 0 : pool.waitingCount),
  );
  gauge(
    'itsm_database_prepared_statements',
    'Prepared statements in PostgreSQL, summed over all open connections.',
    (pool) => pool.preparedStatements,
  );

  const waits = new Histogram({
    name: 'itsm_database_connection_wait_seconds',
    help: 'Wait time for a connection, including connections that were available immediately.',
    labelNames: ['pool'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  for (const [name, pool] of Object.entries(pools)) {
    const { observe } = waits.labels({ pool: name });
    pool.onLent = (waitedMs) => observe(waitedMs / 1000);
  }
}
