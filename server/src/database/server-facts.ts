import type { Databases } from './databases.ts';
import { withOwnConnection } from './own-connection.ts';

export interface ServerFacts {
  /** Such as `18.4`. */
  version: string;
  /** Such as 180004. */
  versionNumber: number;
  /** By how much this process's clock is ahead of the server's; half of the time that asking takes is unknown. */
  clockAheadMs: number;
}

/** What is asked of the server itself, as the role of the URL: the others may not be there. */
export function readServerFacts(options: Databases['options']): Promise<ServerFacts> {
  const purpose = { name: 'doctor', statementMs: options.timeouts.statementMs, asRoleOfUrl: true };
  return withOwnConnection(options, purpose, async (connection) => {
    const askedAt = Date.now();
    const { rows } = await connection.query(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
         extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`,
    );
    const [{ version, number, now }] = rows;
    return { version, versionNumber: number, clockAheadMs: (askedAt + Date.now()) / 2 - now };
  });
}
