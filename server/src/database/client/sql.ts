import pg from 'pg';
import { Prisma } from '../../../generated/prisma/client.ts';

/*
 * Builds SQL. `sql` is a template tag: a value in the template becomes a parameter, and SQL in the template becomes part
 * of the text. `join` combines several pieces of SQL, and `empty` is SQL without text.
 */

export const { empty, join, sql } = Prisma;
export type Sql = Prisma.Sql;

/** The place of a value that a statement gets by name each time it runs. */
export class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The tenant of the client that runs the statement. */
export const tenant = new Parameter('tenant');

/** Returns SQL for the name of a table, column or alias, such as `t.created_at` or `"createdAt"`. */
export function identifier(name: string): Sql {
  if (!/^("?)[a-z_][a-zA-Z0-9_]*\1(\.[a-z_][a-z0-9_]*)?$/.test(name))
    throw new Error(`${name} isn't an SQL identifier.`);
  return Prisma.raw(name);
}

/** SQL text with the parameters `$1`, `$2`, … */
interface Text {
  text: string;
  /** The values of the parameters, in order. */
  values: unknown[];
}

/** Writes SQL as text. Equal parameters have one number, so that PostgreSQL infers their type from all of their places. */
function write({ strings, values }: Sql, isConstant: (value: unknown) => boolean): Text {
  const numbered: unknown[] = [];
  const place = (value: unknown) => {
    if (isConstant(value)) return typeof value === 'string' ? pg.escapeLiteral(value) : String(value);
    const known = value instanceof Parameter ? numbered.findIndex((each) => isSame(each, value)) : -1;
    return `$${known === -1 ? numbered.push(value) : known + 1}`;
  };
  const text = strings.map((part, index) => (index === 0 ? part : `${place(values[index - 1])}${part}`)).join('');
  return { text, values: numbered };
}

function isSame(value: unknown, { name }: Parameter): boolean {
  return value instanceof Parameter && value.name === name;
}

/** The text of a statement that is written once, and the names of its parameters in order. */
export interface FixedText {
  text: string;
  names: readonly string[];
}

/** Writes SQL that never changes. Texts and numbers in the template are constants of the program, not parameters. */
export function writeFixed(statement: Sql): FixedText {
  const { text, values } = write(statement, (value) => typeof value === 'string' || typeof value === 'number');
  const names = values.map((value) => {
    if (value instanceof Parameter) return value.name;
    throw new TypeError(`A fixed statement contains a value that isn't a parameter, a text or a number: ${text}`);
  });
  return { text, names };
}

/** Writes SQL that depends on the request. Each value in the template is a parameter. */
export function writeDynamic(statement: Sql): Text {
  return write(statement, () => false);
}

/**
 * Serializes rows as one parameter for `json_to_recordset`. With one parameter, the SQL text doesn't depend on the
 * number of rows. Converts bigints to text, because `JSON.stringify` can't serialize them.
 */
export function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
