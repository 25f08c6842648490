/// <reference path="./pg-utils.d.ts" />
import pg from 'pg';

/*
 * Declares the undocumented members of pg that query-pipeline.ts uses. If a new version of pg changes a member,
 * test/rules/pg-internals.test.ts fails.
 *
 * pg also has a pipeline mode without undocumented members, but that mode sends a Sync after each statement. Therefore,
 * even a single statement would need `BEGIN` and `COMMIT` to set its tenant, and the statement would still run if
 * `BEGIN` failed.
 *
 * query-pipeline.ts sends one Sync for all statements. For the same CPU time, pg's pipeline mode reaches 77% of this
 * throughput for single Prisma statements, 90% for creates, and 107% for patches
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
