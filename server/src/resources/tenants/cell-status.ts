import type { Databases } from '../../database/client/databases.ts';
import { withDedicatedConnection } from '../../database/client/dedicated-connection.ts';
import { sql } from '../../database/client/sql.ts';
import { allTenants, type None } from '../../database/client/statements.ts';
import { readBacklog } from '../../webhooks/maintenance/backlog.ts';
import { toNameKey } from '../shared/name-key.ts';
import { readSchemaVersion } from './tenant-rows.ts';

/** The state of a cell (docs/operations/cells.md). */
export interface CellStatus {
  /** The name of the last migration, which identifies the release. */
  schemaVersion: string;
  tenants: number;
  tickets: number;
  /** The size of the database. */
  diskBytes: number;
  /** The connections to the database, and the maximum number of connections to its server. */
  connections: number;
  maxConnections: number;
  /** How many seconds the oldest due delivery has been waiting, or 0 if no delivery is due. */
  oldestDueSeconds: number;
  standbys: number;
  /**
   * The bytes of WAL that the slowest standby has not yet replayed. Null if there is no standby, or if the role of the
   * database URL isn't allowed to read the positions of standbys.
   */
  replicationLagBytes: number | null;
}

type CellDatabases = Pick<Databases, 'system' | 'options'>;

const maxReadMs = 10_000;

const countRows = allTenants.rows<None, Pick<CellStatus, 'tenants' | 'tickets'>>(
  () => sql`SELECT (SELECT count(*)::int FROM tenants) AS tenants,
    (SELECT coalesce(sum(total), 0)::float8 FROM ticket_sequences) AS tickets`,
);

const selectServer = `
  SELECT pg_database_size(current_database())::float8 AS "diskBytes",
    (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
    current_setting('max_connections')::int AS "maxConnections",
    (SELECT count(*)::int FROM pg_stat_replication) AS standbys,
    (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::float8 FROM pg_stat_replication)
      AS "replicationLagBytes"`;

/** Reads the state of a cell. The migrations of the cell can be older or newer than this program. */
export async function readCellStatus({ system, options }: CellDatabases): Promise<CellStatus> {
  const { oldestDueSeconds } = await readBacklog(system.prisma);
  const [counts] = await system.prisma.$sql(countRows);
  // The role of the URL can be a member of `pg_monitor`, which the system role isn't.
  const purpose = { name: 'cell status', statementMs: maxReadMs, asRoleOfUrl: true };
  return withDedicatedConnection(options, purpose, async (connection) => ({
    schemaVersion: await readSchemaVersion(connection),
    ...{ tenants: 0, tickets: 0, ...counts },
    oldestDueSeconds,
    ...(await connection.query(selectServer)).rows[0],
  }));
}

/** A tenant in a cell. */
export interface FoundTenant {
  id: number;
  name: string;
  active: boolean;
  inMaintenance: boolean;
}

const selectTenant = allTenants.rows<{ nameKey: string; id: string }, FoundTenant>(
  ({ nameKey, id }) => sql`SELECT id::float8, name, active, maintenance_since IS NOT NULL AS "inMaintenance"
    FROM tenants WHERE name_key = ${nameKey} OR id::text = ${id}`,
);

/** Returns the tenant with this name or id in a cell, or undefined. */
export async function findTenantInCell({ system }: CellDatabases, nameOrId: string): Promise<FoundTenant | undefined> {
  const id = nameOrId.trim();
  const [found] = await system.prisma.$sql(selectTenant, { nameKey: toNameKey(id), id });
  return found;
}
