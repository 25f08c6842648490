import { createHash } from 'node:crypto';
import type { Connection } from '../../database/client/connection.ts';
import { errorCode } from '../../shared/error-codes.ts';
import { fault, type Manifest, readLines } from './tenant-folder.ts';
import { lineOf, type TenantTable } from './tenant-rows.ts';
import { columnOf, type Relation, rulesOf, schemaOf } from './tenant-values.ts';

/*
 * Loads the rows of an export into temporary tables, which only this connection sees, and checks them there
 * (docs/decisions/tenant-transfer.md).
 */

/** Returns the name of the temporary table with the rows of a table, in quotation marks. */
export function stagedOf(table: string): string {
  return `"staged_${table}"`;
}

/**
 * Loads the rows of a table, and checks each value.
 * @throws Error for the first invalid row, or if the rows differ from the manifest
 */
export async function stageTable(
  connection: Connection,
  table: TenantTable,
  { folder, manifest }: { folder: string; manifest: Manifest },
): Promise<void> {
  const { name, columns } = table;
  const names = columns.map((column) => `"${column.name}"`);
  await connection.query(
    `CREATE TEMP TABLE ${stagedOf(name)} AS SELECT NULL::bigint AS line, ${names} FROM "${name}" WITH NO DATA`,
  );
  const stage = createStager(connection, table, manifest);
  const digest = createHash('sha256');
  let rows = 0;
  for await (const lines of readLines(folder, name)) {
    await stage(lines, rows);
    for (const line of lines) digest.update(`${line}\n`);
    rows += lines.length;
  }
  const expected = manifest.tables[name];
  if (expected?.rows !== rows || expected.sha256 !== digest.digest('hex')) {
    throw new Error(`${name}.jsonl differs from manifest.json.`);
  }
  // Small tables need neither an index nor statistics.
  if (rows <= batchSize) return;
  await connection.query(`CREATE INDEX ON ${stagedOf(name)} (line); ANALYZE ${stagedOf(name)}`);
}

/** The classes of errors that PostgreSQL reports for a value: invalid values, violated limits, and too deep JSON. */
const valueErrors = /^(22|23|54)/;

/** The result of the checks of a row. */
interface StagedRow {
  line: number;
  /** The line as an export would contain it, if it differs. */
  written: string | null;
  /** The index of the first violated rule, or null. */
  violated: number | null;
  /** The values for the schema. */
  row: unknown;
}

/** Returns a function that loads lines. `before` is the number of earlier lines. */
function createStager(connection: Connection, table: TenantTable, manifest: Manifest) {
  const { name, columns } = table;
  const rules = rulesOf(table, manifest);
  const checked = schemaOf(table);
  const violated = rules.map(({ condition }, index) => `WHEN (${condition}) IS FALSE THEN ${index}`);
  const text = `
    WITH given AS MATERIALIZED (
      SELECT $2 + place AS line, given_line FROM string_to_table($1, chr(10)) WITH ORDINALITY AS g (given_line, place)
    ), staged AS (
      INSERT INTO ${stagedOf(name)} (line, ${columns.map((column) => `"${column.name}"`)})
      SELECT line, ${columns.map((column) => `r."${column.name}"::${column.type}`)}
      FROM given, json_to_record(given_line::json) AS r (${columns.map((column) => `"${column.name}" text`)})
      RETURNING *
    )
    SELECT * FROM (
      SELECT line::float8, nullif(${lineOf(columns)}, given_line) AS written, CASE ${violated.join(' ')} END AS violated,
        ${checked?.row ?? 'NULL'} AS row
      FROM staged JOIN given USING (line)
    ) AS checked ${checked === undefined ? 'WHERE written IS NOT NULL OR violated IS NOT NULL' : ''}`;

  return async function stage(lines: string[], before: number): Promise<void> {
    if (lines.length === 0) return;
    const found = await connection.query(text, [lines.join('\n'), before]).catch((error: unknown) => {
      if (!valueErrors.test(errorCode(error) ?? '')) throw error;
    });
    if (found === undefined) {
      // A value that isn't of its type. PostgreSQL doesn't name the line.
      if (lines.length === 1) throw await findWrongType(connection, table, { text: lines.join(), line: before + 1 });
      const half = Math.ceil(lines.length / 2);
      await stage(lines.slice(0, half), before);
      return stage(lines.slice(half), before + half);
    }
    const rows: StagedRow[] = found.rows;
    for (const { line, written, violated, row } of rows.sort((one, other) => one.line - other.line)) {
      if (written !== null) {
        const [given, exported] = [lines[line - before - 1] ?? '', written].map((each) => JSON.parse(each));
        const column = columns.find((each) => given[each.name] !== exported[each.name])?.name;
        throw fault({ table: name, line, column }, "isn't written as `tenants export` writes it");
      }
      const [issue] = checked?.schema.safeParse(row).error?.issues ?? [];
      if (issue !== undefined) {
        throw fault({ table: name, line, column: columnOf(String(issue.path[0])) }, issue.message);
      }
      const rule = violated === null ? undefined : rules[violated];
      if (rule !== undefined) throw fault({ table: name, line, column: rule.columns.join(', ') }, rule.problem);
    }
  };
}

/** Returns the error for a line that PostgreSQL rejects. */
async function findWrongType(
  connection: Connection,
  { name, columns }: TenantTable,
  { text, line }: { text: string; line: number },
): Promise<Error> {
  let values: Record<string, unknown> | null;
  try {
    values = JSON.parse(text);
  } catch {
    return fault({ table: name, line }, "isn't JSON");
  }
  for (const column of columns) {
    const value = values?.[column.name];
    if (typeof value !== 'string') continue;
    const isStorable = value.isWellFormed() && !value.includes('\0');
    const cast = () => connection.query(`SELECT $1::text::${column.type}`, [value]);
    if (isStorable && (await cast().catch(() => undefined)) !== undefined) continue;
    return fault({ table: name, line, column: column.name }, `isn't a value of the type ${column.type}`);
  }
  return fault({ table: name, line }, "isn't a row of the table");
}

/** Checks rows against each other. @throws Error that names the first invalid row */
export async function checkRelation(connection: Connection, relation: Relation): Promise<void> {
  const { table, columns, lines, problem } = relation;
  const { rows } = await connection.query(`SELECT min(line)::float8 AS line FROM (${lines(stagedOf)}) AS invalid`);
  const [{ line }] = rows;
  if (line !== null) throw fault({ table, line, column: columns.join(', ') || undefined }, problem);
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
      if (chain.has(id))
        throw fault({ table: table.name, line, column }, 'refers to the row itself through other rows');
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
