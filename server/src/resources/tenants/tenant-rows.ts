import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../database/client/connection.ts';
import type { Databases } from '../../database/client/databases.ts';
import { withDedicatedConnection } from '../../database/client/dedicated-connection.ts';
import type { Services } from '../shared/context.ts';

/* Reads the rows of a tenant for exports, imports and deletions (docs/decisions/tenant-transfer.md). */

/** The databases and services that an export, an import or a deletion needs. */
export interface TransferSources {
  databases: Pick<Databases, 'options'>;
  services: Pick<Services, 'storage' | 'secretCipher' | 'osUser'>;
}

/** Runs an export, an import or a deletion on its own connection, on which a statement may take an hour. */
export function withTransferConnection<Result>(
  { databases }: TransferSources,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  return withDedicatedConnection(databases.options, { name: 'tenant transfer', statementMs: 3_600_000 }, work);
}

/** Reports progress to the administrator. */
export type Report = (line: string) => void;

/** A table that contains rows of tenants. */
export interface TenantTable {
  name: string;
  /** The column that contains the id of the tenant. */
  owner: string;
  /** The exported columns, sorted by name. */
  columns: TenantColumn[];
  /** The primary key as SQL. Its order doesn't depend on the collation of the database. */
  order: string[];
  /** The tables that foreign keys refer to. */
  referenced: string[];
  /** The columns that refer to rows of the same table. */
  selfReferences: string[];
  /** The sequence that the ids of the rows come from, or null. */
  sequence: string | null;
  /** Whether only triggers write the table. */
  isDerived: boolean;
}

/** A column of a table that contains rows of tenants. */
export interface TenantColumn {
  name: string;
  /** The SQL type. */
  type: string;
}

/** The tables that triggers write, and `open_hours`, which an import derives from the calendar. `test/cli/tenant-transfer.test.ts` checks that the list is complete. */
const derivedTables = [
  'asset_field_values',
  'changes',
  'open_hours',
  'tagged_assets',
  'tagged_tickets',
  'texts',
  'ticket_assets',
  'ticket_counts',
  'ticket_field_values',
  'ticket_watchers',
];

/**
 * The columns that an export omits. Triggers set the positions in feeds, which are transaction ids of one server. A
 * job backfills filters again. The columns of `tenants` describe the tenant in one installation.
 */
const omittedColumns = [
  ...['activities.position', 'activities.horizon', 'activities.recorded_at'],
  ...['comments.position', 'comments.horizon', 'comments.recorded_at'],
  ...['custom_field_definitions.backfilled', 'custom_field_definitions.backfilled_to'],
  ...['tenants.maintenance_since', 'tenants.unavailable_since', 'tenants.incomplete'],
];

const catalog = `
  SELECT c.relname AS name, CASE c.relname WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END AS owner,
    (SELECT json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) ORDER BY attname)
      FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
        AND c.relname || '.' || attname <> ALL ($1)) AS columns,
    (SELECT json_agg(quote_ident(attname) || CASE attcollation WHEN 0 THEN '' ELSE ' COLLATE "C"' END ORDER BY number)
      FROM pg_index, unnest(indkey) WITH ORDINALITY AS k (key_attnum, number), pg_attribute
      WHERE indrelid = c.oid AND indisprimary AND attrelid = c.oid AND attnum = key_attnum) AS order,
    ARRAY(SELECT p.relname::text FROM pg_constraint JOIN pg_class p ON p.oid = confrelid
      WHERE conrelid = c.oid AND contype = 'f') AS referenced,
    ARRAY(SELECT attname::text FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
      WHERE conrelid = c.oid AND contype = 'f' AND confrelid = c.oid AND attname <> 'tenant_id') AS "selfReferences",
    sequence, c.relname = ANY ($2) AS "isDerived"
  FROM pg_class c LEFT JOIN LATERAL (
    SELECT pg_get_serial_sequence(CASE c.relname WHEN 'deleted_attachments' THEN 'attachments' ELSE c.relname END, attname)
      AS sequence FROM pg_attribute WHERE attrelid = c.oid AND attname = 'id') AS s ON true
  WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND (c.relname = 'tenants'
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id' AND NOT attisdropped))
  ORDER BY c.relname <> 'tenants', c.relname`;

/**
 * Returns `tenants`, then all tables with the column `tenant_id`. A table comes after the tables that it refers to. An
 * import must begin with the row in `tenants`, which marks the tenant as incomplete.
 */
export async function readTenantTables(connection: Connection): Promise<TenantTable[]> {
  let { rows: remaining }: { rows: TenantTable[] } = await connection.query(catalog, [omittedColumns, derivedTables]);
  const sorted: TenantTable[] = [];
  while (remaining.length > 0) {
    const names = remaining.map(({ name }) => name);
    const ready = remaining.filter(({ name, referenced }) =>
      referenced.every((table) => table === name || !names.includes(table)),
    );
    if (ready.length === 0) throw new Error(`The foreign keys between ${names.join(', ')} form a cycle.`);
    sorted.push(...ready);
    remaining = remaining.filter((table) => !ready.includes(table));
  }
  return sorted;
}

/** Builds SQL for the line of a row: a JSON object with each value as the text that PostgreSQL writes, or null. */
export function lineOf(columns: TenantColumn[]): string {
  const [keys, values] = [columns.map((each) => `'${each.name}'`), columns.map((each) => `"${each.name}"::text`)];
  return `json_object(ARRAY[${keys}], ARRAY[${values}])::text`;
}

/** Returns the version of the schema: the name of the last migration. */
export async function readSchemaVersion(connection: Connection): Promise<string> {
  const text = 'SELECT max(migration_name) AS version FROM _prisma_migrations WHERE rolled_back_at IS NULL';
  return (await connection.query(text)).rows[0].version;
}

/** The maintenance of a tenant. The times are text. */
interface MaintenanceRow {
  /** When the maintenance began, or null if the tenant isn't in maintenance. */
  since: string | null;
  /** When the maintenance began to stop reads, or null. */
  unavailableSince: string | null;
  incomplete: boolean;
}

/** Returns the maintenance of a tenant. */
export async function readMaintenance(connection: Connection, id: number): Promise<MaintenanceRow> {
  const text = `SELECT maintenance_since::text AS since, unavailable_since::text AS "unavailableSince", incomplete
    FROM tenants WHERE id = $1`;
  return (await connection.query(text, [id])).rows[0] ?? { since: null, unavailableSince: null, incomplete: false };
}

/** Runs `work` in a read-only transaction in which all statements see the same rows. */
export async function inSnapshot<Result>(connection: Connection, work: () => Promise<Result>): Promise<Result> {
  await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL bytea_output = 'hex'");
  try {
    return await work();
  } finally {
    await connection.query('ROLLBACK');
  }
}

/**
 * The number of rows that one statement reads. A row can have several MiB, for example a stored response to 100 new
 * comments, and a string can have at most 512 MiB.
 */
const batchSize = 100;

/** The number of rows, and the SHA-256 of their lines in hexadecimal. */
export interface Digest {
  rows: number;
  sha256: string;
}

/** Reads the rows of a tenant as lines, in the order of the primary key, in an open transaction. */
export async function readRows(
  connection: Connection,
  { name, owner, columns, order }: TenantTable,
  { id, onLines }: { id: number; onLines?: (lines: string, rows: number) => Promise<void> },
): Promise<Digest> {
  await connection.query(
    `DECLARE tenant_rows CURSOR FOR SELECT ${lineOf(columns)} FROM "${name}" WHERE "${owner}" = ${id} ORDER BY ${order}`,
  );
  const fetch = () => connection.query({ text: `FETCH ${batchSize} FROM tenant_rows`, rowMode: 'array' });
  const digest = createHash('sha256');
  let next = fetch();
  for (let rows = 0; ; ) {
    const found = await next;
    const isLast = found.rows.length < batchSize;
    // PostgreSQL reads the next rows while this process writes these. If a write fails, nothing awaits the next rows.
    if (!isLast) next = fetch();
    next.catch(() => undefined);
    const lines = found.rows.map(([line]: string[]) => `${line}\n`).join('');
    rows += found.rows.length;
    digest.update(lines);
    await onLines?.(lines, rows);
    if (!isLast) continue;
    await connection.query('CLOSE tenant_rows');
    return { rows, sha256: digest.digest('hex') };
  }
}

/** Compares the rows of a tenant with an export. @returns the names of the tables that differ */
export async function findDifferences(
  connection: Connection,
  id: number,
  exported: Record<string, Digest>,
): Promise<string[]> {
  return inSnapshot(connection, async () => {
    const different: string[] = [];
    for (const table of await readTenantTables(connection)) {
      if (table.isDerived) continue;
      const { rows, sha256 } = await readRows(connection, table, { id });
      const expected = exported[table.name];
      if (expected?.rows !== rows || expected.sha256 !== sha256) different.push(table.name);
    }
    return different;
  });
}

/**
 * Waits for the lock that an import or a deletion of the tenant holds until its connection ends. After a command was
 * killed, PostgreSQL may still execute its last statement.
 */
export async function lockTransfer(connection: Connection, id: number, report: Report): Promise<void> {
  const text = "SELECT pg_try_advisory_lock(hashtextextended('tenant transfer', $1)) AS acquired";
  for (let attempt = 0; !(await connection.query(text, [id])).rows[0].acquired; attempt++) {
    if (attempt === 0) report('Waiting for another import or deletion of the tenant …');
    await sleep(500);
  }
}
