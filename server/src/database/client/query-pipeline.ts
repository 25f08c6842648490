import pg from 'pg';
import type { TenantId } from '../../shared/tenant-id.ts';
import { setTenantStatement } from './connection.ts';
import { prepareValue, Result, type Wire, wireOf } from './pg-internals.ts';

/**
 * The columns of each connection's prepared statements, by statement name. The columns of a prepared statement never
 * change, so the pipeline requests them only once.
 */
const columnsOn = new WeakMap<pg.Connection, Map<string, pg.FieldDef[]>>();

/** A statement in a pipeline, and its result. */
interface PipelinedStatement {
  name: string | undefined;
  text: string;
  /** The parameters in the format that PostgreSQL expects. */
  values: unknown[];
  result: Result;
}

interface PipelineOptions {
  /**
   * The tenant to set. Undefined if the current transaction has already set the tenant, or if the first statement sets
   * it.
   */
  tenantId?: TenantId | undefined;
  /** Whether to begin a transaction. */
  begins?: boolean;
  /** Whether to commit the transaction if all statements succeed. */
  commits?: boolean;
}

/**
 * Sends statements in one round trip with a single Sync. The same round trip can also include `BEGIN`, the command that
 * sets the tenant for row-level security, and `COMMIT`. If a statement fails, PostgreSQL skips the remaining
 * statements.
 *
 * Outside a transaction, all statements form one implicit transaction. When the implicit transaction ends, PostgreSQL
 * resets the tenant. See "Pipelining" in PostgreSQL's documentation of the extended query protocol.
 */
export class QueryPipeline implements pg.Submittable {
  readonly #statements: PipelinedStatement[];
  readonly #options: PipelineOptions;
  #failure: Error | undefined;
  /** The number of commands before the statements. These commands are `BEGIN` and the command that sets the tenant. */
  readonly #before: number;
  #completed = 0;
  /** Receives the results or the error. The caller or pg sets this callback. */
  callback: ((error: Error | null, results?: pg.QueryResult[]) => void) | undefined;

  constructor(configs: pg.QueryConfig[], options: PipelineOptions) {
    this.#options = options;
    this.#before = Number(options.begins === true) + Number(options.tenantId !== undefined);
    this.#statements = configs.map((config: pg.QueryConfig & { rowMode?: string }) => ({
      name: config.name,
      text: config.text,
      // Converts the values in the constructor, so the conversion of an invalid value fails before the pipeline sends
      // any message.
      values: config.values?.map(prepareValue) ?? [],
      result: new Result(config.rowMode, config.types ?? pg.types),
    }));
  }

  /** The SQL text of all statements, for tracing. */
  get texts(): string[] {
    const texts = this.#statements.map(({ text }) => text);
    return [...(this.#options.begins ? ['BEGIN'] : []), ...texts, ...(this.#options.commits ? ['COMMIT'] : [])];
  }

  submit(connection: pg.Connection): void {
    const wire = wireOf(connection);
    const { begins, commits, tenantId } = this.#options;
    wire.stream.cork();
    if (begins) sendBare('BEGIN', wire);
    if (tenantId !== undefined) {
      wire.bind({ statement: setTenantStatement, values: [String(tenantId)] });
      wire.execute({});
    }
    for (const statement of this.#statements) send(statement, wire, columnsOn.get(connection));
    if (commits) sendBare('COMMIT', wire);
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#current?.result.addFields(fields);
  }

  handleDataRow({ fields }: { fields: unknown[] }): void {
    const { result } = this.#current ?? {};
    // Ignores the row that the command for the tenant returns, because the row isn't part of a result.
    if (result === undefined || this.#failure !== undefined) return;
    try {
      result.rows.push(result.parseRow(fields));
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  handleCommandComplete(message: unknown): void {
    this.#current?.result.addCommandComplete(message);
    this.#completed++;
  }

  handleReadyForQuery(connection: pg.Connection): void {
    if (this.#failure !== undefined) {
      this.callback?.(this.#failure);
      return;
    }
    // Caches the prepared statements only after success. After a failure, the client doesn't know which statements
    // PostgreSQL has prepared.
    cachePrepared(this.#statements, connection);
    const results = this.#statements.map(({ result }) => result);
    this.callback?.(null, results);
  }

  handleError(error: Error, connection: pg.Connection): void {
    this.#failure = error;
    this.handleReadyForQuery(connection);
  }

  /**
   * The statement to which the next response belongs. Undefined if the response belongs to `BEGIN`, `COMMIT`, or the
   * command that sets the tenant.
   */
  get #current(): PipelinedStatement | undefined {
    return this.#statements[this.#completed - this.#before];
  }
}

function sendBare(text: string, wire: Wire): void {
  wire.parse({ text });
  wire.bind({});
  wire.execute({});
}

function send(
  { name, text, values, result }: PipelinedStatement,
  wire: Wire,
  columns?: Map<string, pg.FieldDef[]>,
): void {
  if (name === undefined || wire.parsedStatements[name] === undefined) {
    // Closes the statement that an earlier, failed pipeline may have prepared under this name. If there is no such
    // statement, `close` has no effect.
    if (name !== undefined) wire.close({ type: 'S', name });
    wire.parse({ text, name });
  }
  wire.bind({ statement: name, values });
  const known = name === undefined ? undefined : columns?.get(name);
  if (known === undefined) wire.describe({ type: 'P' });
  else result.addFields(known);
  wire.execute({});
}

function cachePrepared(statements: PipelinedStatement[], connection: pg.Connection): void {
  const { parsedStatements } = wireOf(connection);
  const columns = columnsOn.get(connection) ?? new Map<string, pg.FieldDef[]>();
  columnsOn.set(connection, columns);
  for (const { name, text, result } of statements) {
    if (name === undefined) continue;
    parsedStatements[name] = text;
    columns.set(name, result.fields);
  }
}
