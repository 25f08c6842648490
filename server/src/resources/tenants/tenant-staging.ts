import type { Connection } from '../../database/client/connection.ts';
import { fault, readLines } from './tenant-folder.ts';
import type { TenantTable } from './tenant-rows.ts';

/*
 * Loads the rows of an export into temporary tables, which only this connection sees, and checks them there
 * (docs/decisions/tenant-transfer.md).
 */

/** Returns the name of the temporary table with the rows of a table, in quotation marks. */
export function stagedOf(table: string): string {
  return `"staged_${table}"`;
}

/**
 * The highest id that an import accepts. The sequences of the installation rise to imported ids, and keep at least half
 * of their range for new rows.
 */
const maxId = 2 ** 52;

/** The class of the SQLSTATEs of invalid values. */
const dataException = '22';

/**
 * Loads the rows of a table, and checks their ids and their order.
 * @param tenantId the id of the tenant in the manifest
 * @throws Error for the first invalid row
 */
export async function stageTable(
  connection: Connection,
  { name, owner, columns, order, sequence }: TenantTable,
  { folder, tenantId }: { folder: string; tenantId: number },
): Promise<void> {
  const names = columns.map((column) => `"${column.name}"`);
  const staged = stagedOf(name);
  await connection.query(
    `CREATE TEMP TABLE ${staged} AS SELECT NULL::bigint AS line, ${names} FROM "${name}" WITH NO DATA`,
  );
  const insert = `
    INSERT INTO ${staged} (line, ${names})
    SELECT $2 + place, ${columns.map((column) => `r."${column.name}"::${column.type}`)}
    FROM string_to_table($1, chr(10)) WITH ORDINALITY AS g (given_line, place),
      json_to_record(given_line::json) AS r (${columns.map((column) => `"${column.name}" text`)})`;
  let rows = 0;
  for await (const lines of readLines(folder, name)) {
    await connection.query(insert, [lines.join('\n'), rows]).catch(async (error: { code?: string }) => {
      if (!error.code?.startsWith(dataException)) throw error;
      // The message of PostgreSQL contains the value, and not the line. Therefore, each line is loaded alone.
      for (const [index, line] of lines.entries()) {
        await connection.query(insert, [line, rows + index]).catch(() => {
          throw fault(name, rows + index + 1, { problem: 'has a value of another type' });
        });
      }
    });
    rows += lines.length;
  }
  const rules = [
    { column: owner, invalid: `"${owner}" IS DISTINCT FROM ${tenantId}`, problem: "isn't the id of the tenant" },
    ...(sequence === null
      ? []
      : [{ column: 'id', invalid: `id NOT BETWEEN 1 AND ${maxId}`, problem: `must be from 1 to ${maxId}` }]),
    { invalid: 'previous > line', problem: "isn't in the order of the primary key" },
  ];
  const { rows: found } = await connection.query(
    `SELECT ${rules.map(({ invalid }, index) => `(min(line) FILTER (WHERE ${invalid}))::float8 AS "${index}"`)}
     FROM (SELECT *, lag(line) OVER (ORDER BY ${order}) AS previous FROM ${staged}) AS rows`,
  );
  for (const [index, rule] of rules.entries()) {
    const line = found[0][index];
    if (line !== null) throw fault(name, line, rule);
  }
  // Small tables need neither an index nor statistics.
  if (rows > batchSize) await connection.query(`CREATE INDEX ON ${staged} (line); ANALYZE ${staged}`);
}

/** The number of rows that one statement reads or writes. */
const batchSize = 2000;

/** Reads columns of the loaded rows, in the order of the lines. */
export async function* readStaged<Row extends object>(
  connection: Connection,
  table: string,
  columns: string,
): AsyncGenerator<Row & { line: number }> {
  for (let last = 0; ; ) {
    const text = `SELECT line::float8, ${columns} FROM ${stagedOf(table)} WHERE line > $1 ORDER BY line LIMIT ${batchSize}`;
    const { rows } = await connection.query(text, [last]);
    yield* rows;
    if (rows.length < batchSize) return;
    last = rows.at(-1).line;
  }
}

/**
 * Moves rows that refer to a later row of the same table behind this row, and also the rows that refer to moved rows.
 * PostgreSQL checks foreign keys after each statement, and an import needs several statements.
 * @throws Error if rows refer to each other
 */
export async function orderRows(connection: Connection, table: TenantTable): Promise<void> {
  const [column] = table.selfReferences;
  if (column === undefined) return;
  const moved = new Map<string, { line: number; other: string }>();
  let last = 0;
  for await (const row of readStaged<{ id: string; other: string | null; isLater: boolean }>(
    connection,
    table.name,
    // Rows are in the order of their ids, which are numbers, or texts with the collation "C".
    `id::text, "${column}"::text AS other, "${column}" >= id AS "isLater"`,
  )) {
    last = row.line;
    if (row.other !== null && (row.isLater || moved.has(row.other))) {
      moved.set(row.id, { line: row.line, other: row.other });
    }
  }
  const ordered = new Set<string>();
  for (const start of moved.keys()) {
    // The row, the row that it refers to, and so on, up to a row that comes earlier.
    const chain = new Set<string>();
    for (let id = start; moved.has(id) && !ordered.has(id); ) {
      const { line, other } = moved.get(id) as { line: number; other: string };
      if (chain.has(id)) {
        throw fault(table.name, line, { column, problem: 'refers to the row itself through other rows' });
      }
      chain.add(id);
      id = other;
    }
    for (const id of [...chain].reverse()) ordered.add(id);
  }
  await connection.query(
    `UPDATE ${stagedOf(table.name)} s SET line = $1 + place FROM unnest($2::text[]) WITH ORDINALITY AS o (id, place)
     WHERE s.id::text = o.id`,
    [last, [...ordered]],
  );
}

/** Copies the loaded rows of a table into the table. */
export async function copyRows(
  connection: Connection,
  { name, columns }: TenantTable,
  onRows: (count: number) => void,
): Promise<void> {
  const names = columns.map((column) => `"${column.name}"`);
  // A new tenant is incomplete and in maintenance from its first moment.
  const [more, moreValues] =
    name === 'tenants' ? [', maintenance_since, unavailable_since, incomplete', ', now(), now(), true'] : ['', ''];
  const { rows } = await connection.query(`SELECT coalesce(max(line), 0)::float8 AS last FROM ${stagedOf(name)}`);
  let copied = 0;
  for (let from = 0; from < rows[0].last; from += batchSize) {
    const inserted = await connection.query(
      `INSERT INTO "${name}" (${names}${more}) SELECT ${names}${moreValues} FROM ${stagedOf(name)}
       WHERE line > $1 AND line <= $2 ORDER BY line`,
      [from, from + batchSize],
    );
    copied += inserted.rowCount ?? 0;
    if (inserted.rowCount) onRows(copied);
  }
}
