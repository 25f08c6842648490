import pg from 'pg';
import { setTenant } from './connection.ts';

/** What pg's queries do that its types leave out. */
interface WireQuery {
  queryMode: 'extended';
  name: string | undefined;
  text: string;
  callback(error: Error | null, result: pg.QueryResult): void;
  prepare(wire: Wire): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
}

/** What pg's connections do that its types leave out. */
interface Wire {
  stream: { cork(): void; uncork(): void };
  /** The names that PostgreSQL keeps on this connection, and those that it was sent and has not confirmed. */
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(message: { text: string; name?: string }): void;
  bind(message: { statement?: string; values?: unknown[] }): void;
  execute(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => WireQuery;

interface BatchOptions {
  /** Absent where a transaction that is under way has it already. */
  tenantId?: bigint | undefined;
  /** Whether it begins a transaction that goes on after it. */
  begins?: boolean;
}

/**
 * Statements in one round trip. They are sent at once and ended by one Sync, behind the tenant, which row-level security
 * asks for, and perhaps `BEGIN`. Where one fails, those behind it are not run. Outside of a transaction all are one, with
 * which the tenant is gone (PostgreSQL, "Extended Query Protocol", on pipelining).
 */
export class Batch implements pg.Submittable {
  readonly #queries: WireQuery[];
  readonly #options: BatchOptions;
  readonly #results: pg.QueryResult[] = [];
  #failure: Error | null = null;
  /** How many completions come before those of the statements. */
  #before: number;
  /** Set by pg, which is told by it what came of the statements. */
  callback: ((error: Error | null, results?: pg.QueryResult[]) => void) | undefined;

  constructor(configs: pg.QueryConfig[], options: BatchOptions) {
    this.#options = options;
    this.#before = Number(options.begins === true) + Number(options.tenantId !== undefined);
    this.#queries = configs.map((config) => {
      const query = new Query({ ...config, types: config.types ?? pg.types });
      query.queryMode = 'extended';
      query.callback = (error, result) => {
        this.#failure ??= error;
        this.#results.push(result);
      };
      return query;
    });
  }

  /** The SQL of its statements. */
  get texts(): string[] {
    const texts = this.#queries.map(({ text }) => text);
    return this.#options.begins ? ['BEGIN', ...texts] : texts;
  }

  submit(connection: pg.Connection): void {
    const wire = connection as unknown as Wire;
    const { begins, tenantId } = this.#options;
    wire.stream.cork();
    if (begins) {
      wire.parse({ text: 'BEGIN' });
      wire.bind({});
      wire.execute({});
    }
    if (tenantId !== undefined) {
      wire.bind({ statement: setTenant, values: [String(tenantId)] });
      wire.execute({});
    }
    const withoutSync = partOfBatch(wire);
    for (const query of this.#queries) query.prepare(withoutSync);
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription(message: unknown): void {
    this.#current?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#current?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: pg.Connection): void {
    const query = this.#current;
    if (query === undefined) this.#before--;
    query?.handleCommandComplete(message, connection);
    query?.handleReadyForQuery(connection);
  }

  handleReadyForQuery(connection: pg.Connection): void {
    const { parsedStatements, submittedNamedStatements } = connection as unknown as Wire;
    for (const { name, text } of this.#queries) {
      if (name === undefined) continue;
      if (this.#failure === null) parsedStatements[name] = text;
      delete submittedNamedStatements[name];
    }
    if (this.#failure === null) this.callback?.(null, this.#results);
    else this.callback?.(this.#failure);
  }

  handleError(error: Error, connection: pg.Connection): void {
    this.#failure = error;
    this.handleReadyForQuery(connection);
  }

  /** The statement whose answer comes next; none while it is that of what goes before them. */
  get #current(): WireQuery | undefined {
    return this.#before > 0 ? undefined : this.#queries[this.#results.length];
  }
}

/** The connection for a statement that others follow. */
function partOfBatch(wire: Wire): Wire {
  const parse: Wire['parse'] = (message) => {
    // After a batch that failed nobody knows which of its names are there. To close one that isn't does nothing.
    if (message.name) wire.close({ type: 'S', name: message.name });
    wire.parse(message);
  };
  return Object.assign(Object.create(wire), { parse, sync: () => undefined });
}
