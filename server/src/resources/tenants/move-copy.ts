import pg from 'pg';
import type { TenantTable } from './move-tables.ts';

/**
 * What rows as text hang on beside themselves and the zone, which is UTC on every connection, so that two servers write them
 * alike; and reads of all rows are planned.
 */
export const textSettings = [
  "SET DateStyle = 'ISO, YMD'",
  "SET IntervalStyle = 'postgres'",
  "SET bytea_output = 'hex'",
  'SET extra_float_digits = 1',
  'SET cursor_tuple_fraction = 1',
].join('; ');

/** About how much is in this process at once, of each batch. Bytes. */
const batchBytes = 4 * 2 ** 20;
const mostRows = 5000;
const rowsAtFirst = 16;
const deletedAtOnce = 2000;

/** Copying reads with one connection and writes with the other. */
export interface Sides {
  source: pg.ClientBase;
  target: pg.ClientBase;
  tenantId: bigint;
}

/** Two sides are not the same. */
export class DifferenceError extends Error {
  override name = 'DifferenceError';
}

/** How many rows the tenant has in each of these tables. */
export async function countRows(client: pg.ClientBase, tables: TenantTable[], tenantId: bigint): Promise<number[]> {
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM ${pg.escapeIdentifier(name)} WHERE tenant_id = $1)`);
  const { rows } = await client.query(`SELECT ARRAY[${counts.join(', ')}] AS counts`, [tenantId]);
  return rows[0].counts.map(Number);
}

/**
 * Copies a table's rows of the tenant, while the next ones are read. Rows go as text, in which PostgreSQL loses nothing.
 * @param source in a transaction, whose snapshot is copied
 * @param count how many rows that has
 * @param onRows told of each batch how many rows it had
 * @throws DifferenceError where not all of them can be put in order
 */
export async function copyTable(
  { source, target, tenantId }: Sides,
  { table, count }: { table: TenantTable; count: number },
  onRows: (rows: number) => void,
): Promise<void> {
  const name = pg.escapeIdentifier(table.name);
  const insert = `INSERT INTO ${name} SELECT * FROM unnest($1::${name}[])`;
  const batches = openCursor(source, 'moved::text', table, tenantId);
  let copied = 0;
  for (let batch = await batches.next(); batch.length > 0; ) {
    const [next] = await Promise.all([batches.next(), target.query(insert, [batch])]);
    copied += batch.length;
    onRows(batch.length);
    batch = next;
  }
  await batches.close();
  if (copied === count) return;
  const order = table.parent === null ? '' : `: the others stand above themselves by ${table.parent}`;
  throw new DifferenceError(`${copied} of ${count} rows of ${table.name} could be copied${order}.`);
}

/** Compares a table's rows of the tenant, each by its hash. @throws DifferenceError */
export async function compareTable(
  { source, target, tenantId }: Sides,
  table: TenantTable,
  onRows: (rows: number) => void,
): Promise<void> {
  const hash = "encode(sha256(convert_to(moved::text, 'UTF8')), 'base64')";
  const [here, there] = [source, target].map((client) => openCursor(client, hash, table, tenantId)) as [Cursor, Cursor];
  for (let compared = 0; ; ) {
    const [ours, theirs] = await Promise.all([here.next(mostRows), there.next(mostRows)]);
    const differing = ours.findIndex((each, index) => each !== theirs[index]);
    if (differing >= 0 || theirs.length > ours.length) {
      const place = compared + (differing >= 0 ? differing : ours.length) + 1;
      throw new DifferenceError(`Row ${place} of ${table.name} is not the same on both sides.`);
    }
    if (ours.length === 0) break;
    compared += ours.length;
    onRows(ours.length);
  }
  await Promise.all([here.close(), there.close()]);
}

/** Deletes the tenant's rows of these tables, what others refer to after them. Each batch is a transaction. */
export async function deleteRows(client: pg.ClientBase, tables: TenantTable[], tenantId: bigint): Promise<void> {
  for (const { name, parent } of tables.toReversed()) {
    const table = pg.escapeIdentifier(name);
    // Who stands below goes first.
    const isLowest =
      parent === null
        ? ''
        : `AND NOT EXISTS (SELECT FROM ${table} below
            WHERE below.tenant_id = $1 AND below.${pg.escapeIdentifier(parent)} = moved.id)`;
    const text = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} AS moved WHERE tenant_id = $1 ${isLowest} LIMIT ${deletedAtOnce}))`;
    while (((await client.query(text, [tenantId])).rowCount ?? 0) > 0);
  }
}

interface Cursor {
  /** Some more; none at the end. Without a count as many as make a batch. */
  next(count?: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Reads a table's rows of the tenant, those that others of it refer to before these. */
function openCursor(client: pg.ClientBase, column: string, table: TenantTable, tenantId: bigint): Cursor {
  const opened = client.query(`DECLARE moved_rows NO SCROLL CURSOR FOR ${selectOf(column, table, tenantId)}`);
  opened.catch(() => undefined);
  let size = rowsAtFirst;
  return {
    async next(count = size) {
      await opened;
      const { rows } = await client.query<[string]>({ text: `FETCH ${count} FROM moved_rows`, rowMode: 'array' });
      const found = rows.map(([text]) => text);
      size = nextSize(size, found);
      return found;
    },
    close: async () => void (await client.query('CLOSE moved_rows')),
  };
}

function nextSize(size: number, found: string[]): number {
  const bytes = found.reduce((sum, { length }) => sum + length, 0) + 1;
  return Math.max(1, Math.min(size * 4, mostRows, Math.floor((batchBytes * found.length) / bytes)));
}

function selectOf(column: string, { name, order, parent }: TenantTable, tenantId: bigint): string {
  const table = pg.escapeIdentifier(name);
  // A count of nothing is left where there was something, and isn't made anew.
  const where = `moved.tenant_id = ${tenantId}${name === 'ticket_counts' ? ' AND count <> 0' : ''}`;
  if (parent === null) return `SELECT ${column} FROM ${table} AS moved WHERE ${where} ORDER BY ${order}`;
  const above = pg.escapeIdentifier(parent);
  return `WITH RECURSIVE placed (id, level) AS (
      SELECT id, 0 FROM ${table} WHERE tenant_id = ${tenantId} AND ${above} IS NULL
      UNION ALL
      SELECT below.id, level + 1 FROM placed
      JOIN ${table} below ON below.tenant_id = ${tenantId} AND below.${above} = placed.id
    )
    SELECT ${column} FROM placed JOIN ${table} AS moved ON moved.id = placed.id AND ${where} ORDER BY level, moved.id`;
}
