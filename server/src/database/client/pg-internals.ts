/// <reference path="./pg-utils.d.ts" />
import pg from 'pg';

/*
 * Declares the undocumented members of pg that query-pipeline.ts uses. test/rules/pg-internals.test.ts fails if a version of
 * pg changes one.
 *
 * pg's pipeline mode would do without them. It ends each statement with a Sync of its own: a single statement needs `BEGIN`
 * and `COMMIT` around it, and if `BEGIN` fails, the statements after it still run. Throughput per CPU
 * time, relative to one Sync for all: one statement of Prisma's 0.77, a create 0.90, a patch 1.07 (docs/decisions/tenant-isolation.md).
 */

/** The methods that send the messages of the extended query protocol. */
export interface Wire {
  stream: { cork(): void; uncork(): void };
  /** The prepared statements of this connection: SQL by name. */
  parsedStatements: Record<string, string>;
  parse(message: { text: string; name?: string | undefined }): void;
  bind(message: { statement?: string | undefined; values?: unknown[] }): void;
  describe(message: { type: 'P' }): void;
  execute(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

export function wireOf(connection: pg.Connection): Wire {
  return connection as unknown as Wire;
}

/** A result that collects the messages of a response. */
export interface Result extends pg.QueryResult {
  addFields(fields: pg.FieldDef[]): void;
  parseRow(values: unknown[]): object;
  addCommandComplete(message: unknown): void;
}
export const Result = pg.Result as unknown as new (rowMode: string | undefined, types: pg.CustomTypesConfig) => Result;

export { prepareValue } from 'pg/lib/utils.js';
