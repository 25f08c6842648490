/// <reference path="./pg-utils.d.ts" />
import pg from 'pg';

/*
 * Declares the undocumented members of pg that query-pipeline.ts uses. test/rules/pg-internals.test.ts fails if a
 * version of pg changes a member.
 *
 * pg's own pipeline mode would need none of these members, but it sends a Sync after each statement. A single statement
 * would then need `BEGIN` and `COMMIT` to set its tenant, and if `BEGIN` failed, the following statements would still
 * run. Compared with one Sync for all statements, pg's pipeline mode reaches 77 % of the throughput per CPU time for
 * one statement of Prisma, 90 % for a create, and 107 % for a patch (docs/decisions/tenant-isolation.md).
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

/** A query result that collects the protocol messages of a response. */
export interface Result extends pg.QueryResult {
  addFields(fields: pg.FieldDef[]): void;
  parseRow(values: unknown[]): object;
  addCommandComplete(message: unknown): void;
}
export const Result = pg.Result as unknown as new (rowMode: string | undefined, types: pg.CustomTypesConfig) => Result;

export { prepareValue } from 'pg/lib/utils.js';
