import { identifier, join, type Sql, sql } from '../../database/client/sql.ts';
import { toColumn } from '../../database/column-name.ts';

/** The parts of a statement that writes rows from a JSON recordset. The recordset has the alias `given`. */
export interface WrittenColumns {
  /** The column definitions of the recordset. */
  definitions: Sql;
  /** The names of the columns in the table. */
  targets: Sql;
  /** The columns of the recordset, in the order of `targets`. */
  values: Sql;
  /** The assignments of an UPDATE. */
  assignments: Sql;
}

/**
 * Builds the parts of a statement that writes the given fields.
 * @param types the SQL type of each field
 * @param columnOf returns the name of a field's column
 */
export function writtenColumns(
  types: Readonly<Record<string, Sql>>,
  columnOf: (field: string) => string = toColumn,
): WrittenColumns {
  const list = (format: (field: string, type: Sql) => Sql) =>
    join(Object.entries(types).map(([field, type]) => format(field, type)));
  return {
    definitions: list((field, type) => sql`${identifier(`"${field}"`)} ${type}`),
    targets: list((field) => identifier(columnOf(field))),
    values: list((field) => sql`given.${identifier(`"${field}"`)}`),
    assignments: list((field) => sql`${identifier(columnOf(field))} = given.${identifier(`"${field}"`)}`),
  };
}
