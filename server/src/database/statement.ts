import type pg from 'pg';
import { statementName } from './statement-name.ts';

/** SQL with `$1`, `$2`, … and their values. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** A statement as a connection takes it that keeps it prepared. */
export function prepared({ text, values }: Statement): pg.QueryConfig {
  const name = statementName(text);
  return name === undefined ? { text, values } : { name, text, values };
}
