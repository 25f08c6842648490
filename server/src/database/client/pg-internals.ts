/// <reference path="./pg-utils.d.ts" />
import pg from 'pg';

/*
 * Declares the undocumented members of pg that query-pipeline.ts uses. If a new version of pg changes a member,
 * test/rules/pg-internals.test.ts fails.
 *
 * pg's own pipeline mode needs no undocumented members, but it sends a Sync after each statement. With that mode, even
 * a single statement would need `BEGIN` and `COMMIT` to set its tenant. If `BEGIN` failed, the following statements
 * would still run. Compared with one Sync for all statements, pg's pipeline mode reaches the following throughput per
 * CPU time: 77 % for one Prisma statement, 90 % for a create, and 107 % for a patch
 * (docs/decisions/tenant-isolation.md).
 */

/** The methods that send the messages of the extended query protocol. */
export interface Wire {
  stream: { cork(): void; uncork(): void };
  /** The prepared statements of the connection: the SQL text by statement name. */
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

/** A query result that collects the protocol messages of a response. */
export interface Result extends pg.QueryResult {
  addFields(fields: pg.FieldDef[]): void;
  parseRow(values: unknown[]): object;
  addCommandComplete(message: unknown): void;
}
export const Result = pg.Result as unknown as new (rowMode: string | undefined, types: pg.CustomTypesConfig) => Result;

export { prepareValue } from 'pg/lib/utils.js';
