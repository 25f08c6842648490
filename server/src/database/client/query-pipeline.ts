import pg from 'pg';
import type { TenantId } from '../../shared/tenant-id.ts';
import { setTenant } from './connection.ts';
import { prepareValue, Result, type Wire, wireOf } from './pg-internals.ts';

/** The columns of the statements that a connection has prepared, by name: they can't change, and are asked for once. */
const columnsOn = new WeakMap<pg.Connection, Map<string, pg.FieldDef[]>>();

/** A statement of a batch, and what comes of it. */
interface Member {
  name: string | undefined;
  text: string;
  /** As they are sent. */
  values: unknown[];
  result: Result;
}

interface BatchOptions {
  /** Absent where a transaction that is under way has it already, or the first statement sets it. */
  tenantId?: TenantId | undefined;
  /** Whether it begins a transaction. */
  begins?: boolean;
  /** Whether it commits the transaction when all has gone well. */
  commits?: boolean;
}

/**
 * Statements in one round trip. They are sent at once and ended by one Sync, behind the tenant, which row-level security
 * asks for, and perhaps between `BEGIN` and `COMMIT`. Where one fails, those behind it are not run. Outside of a transaction all are one, with
 * which the tenant is gone (PostgreSQL, "Extended Query Protocol", on pipelining).
 */
export class QueryPipeline implements pg.Submittable {
  readonly #members: Member[];
  readonly #options: BatchOptions;
  #failure: Error | undefined;
  /** How many completions come before those of the statements. */
  readonly #before: number;
  #completed = 0;
  /** Set by pg, which is told by it what came of the statements. */
  callback: ((error: Error | null, results?: pg.QueryResult[]) => void) | undefined;

  constructor(configs: pg.QueryConfig[], options: BatchOptions) {
    this.#options = options;
    this.#before = Number(options.begins === true) + Number(options.tenantId !== undefined);
    this.#members = configs.map((config: pg.QueryConfig & { rowMode?: string }) => ({
      name: config.name,
      text: config.text,
      // Whatever can't be sent throws here, before anything is.
      values: config.values?.map(prepareValue) ?? [],
      result: new Result(config.rowMode, config.types ?? pg.types),
    }));
  }

  /** The SQL of its statements. */
  get texts(): string[] {
    const texts = this.#members.map(({ text }) => text);
    return [...(this.#options.begins ? ['BEGIN'] : []), ...texts, ...(this.#options.commits ? ['COMMIT'] : [])];
  }

  submit(connection: pg.Connection): void {
    const wire = wireOf(connection);
    const { begins, commits, tenantId } = this.#options;
    wire.stream.cork();
    if (begins) sendBare('BEGIN', wire);
    if (tenantId !== undefined) {
      wire.bind({ statement: setTenant, values: [String(tenantId)] });
      wire.execute({});
    }
    for (const member of this.#members) send(member, wire, columnsOn.get(connection));
    if (commits) sendBare('COMMIT', wire);
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#current?.result.addFields(fields);
  }

  handleDataRow({ fields }: { fields: unknown[] }): void {
    const { result } = this.#current ?? {};
    // That of the tenant is nobody's.
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
    // Of one that failed nobody knows which of its names are there.
    remember(this.#members, connection);
    const results = this.#members.map(({ result }) => result);
    this.callback?.(null, results);
  }

  handleError(error: Error, connection: pg.Connection): void {
    this.#failure = error;
    this.handleReadyForQuery(connection);
  }

  /** The statement whose answer comes next; none while it is that of what goes before or after them. */
  get #current(): Member | undefined {
    return this.#members[this.#completed - this.#before];
  }
}

function sendBare(text: string, wire: Wire): void {
  wire.parse({ text });
  wire.bind({});
  wire.execute({});
}

function send({ name, text, values, result }: Member, wire: Wire, columns?: Map<string, pg.FieldDef[]>): void {
  if (name === undefined || wire.parsedStatements[name] === undefined) {
    // A batch that failed may have left it. To close one that isn't there does nothing.
    if (name !== undefined) wire.close({ type: 'S', name });
    wire.parse({ text, name });
  }
  wire.bind({ statement: name, values });
  const known = name === undefined ? undefined : columns?.get(name);
  if (known === undefined) wire.describe({ type: 'P' });
  else result.addFields(known);
  wire.execute({});
}

function remember(members: Member[], connection: pg.Connection): void {
  const { parsedStatements } = wireOf(connection);
  const columns = columnsOn.get(connection) ?? new Map<string, pg.FieldDef[]>();
  columnsOn.set(connection, columns);
  for (const { name, text, result } of members) {
    if (name === undefined) continue;
    parsedStatements[name] = text;
    columns.set(name, result.fields);
  }
}
