import type { Databases } from './client/databases.ts';
import { withDedicatedConnection } from './client/dedicated-connection.ts';
import type { Pool } from './client/pool.ts';

export interface ServerInfo {
  /** The version, such as `18.4`. */
  version: string;
  /** The version as a number, such as 180004. */
  versionNumber: number;
  /** Whether search ignores the case of non-ASCII letters. False if the database has the LC_CTYPE C. */
  ignoresCase: boolean;
  /** The size of the database in bytes. */
  databaseBytes: number;
  /**
   * How many milliseconds the clock of this process is ahead of the PostgreSQL server's clock. The measurement error is
   * at most half of the round-trip time.
   */
  clockAheadMs: number;
}

/** The advice to the administrator if `ignoresCase` is false. */
export const caseAdvice =
  'The database has the LC_CTYPE C. Create another database with a UTF-8 locale, such as C.UTF-8, and restore a dump there.';

/**
 * Describes the damaged pages that PostgreSQL has found in the database files since the last reset of its statistics.
 * Returns undefined if PostgreSQL has found no damaged pages, or if checksums are off.
 */
export async function findDamage(connection: Pick<Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await connection.query(
    `SELECT checksum_failures AS failures, checksum_last_failure AS "lastAt" FROM pg_stat_database
     WHERE datname = current_database() AND checksum_failures > 0`,
  );
  const [damage] = rows;
  if (damage === undefined) return undefined;
  return `Data files are damaged: ${damage.failures} page reads failed, the last at ${damage.lastAt.toISOString()}.`;
}

/**
 * Reads information about the PostgreSQL server and the database. Uses the role of `DATABASE_URL`, because the other
 * roles may not exist yet.
 */
export function readServerInfo(options: Databases['options']): Promise<ServerInfo> {
  const purpose = { name: 'doctor', statementMs: options.timeouts.statementMs, asRoleOfUrl: true };
  return withDedicatedConnection(options, purpose, async (connection) => {
    const sentAt = Date.now();
    const { rows } = await connection.query(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
         to_tsvector('pg_catalog.simple', 'É') = to_tsvector('pg_catalog.simple', 'é') AS "ignoresCase",
         pg_database_size(current_database())::float8 AS "databaseBytes",
         extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`,
    );
    const [{ version, number, now, ...info }] = rows;
    return { ...info, version, versionNumber: number, clockAheadMs: (sentAt + Date.now()) / 2 - now };
  });
}
