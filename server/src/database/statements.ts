import { DatabasePool } from './pool.ts';

/** SQL with `$1`, `$2`, … and their values. `Prisma.sql` makes one too. */
export interface Statement {
  text: string;
  values: unknown[];
  /**
   * - `quick`: answers one row within milliseconds, whatever the data, and waits for no lock. It shares a connection.
   * - `rare`: planned anew each time; one of so many that each connection's plans of all of them would be too large.
   */
  kind?: 'quick' | 'rare' | undefined;
}

/** A client that can be asked in SQL. */
interface RawClient {
  $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): PromiseLike<Rows>;
}

/** The pool below each client. The client of a transaction is not in here: it has one connection of its own. */
const pools = new WeakMap<object, DatabasePool>();

/** Notes the pool that a client's queries run on, or that of the client it was made from. */
export function setPool(client: object, from: object): void {
  const pool = from instanceof DatabasePool ? from : pools.get(from);
  if (pool !== undefined) pools.set(client, pool);
}

/**
 * The rows of one statement. Outside of transactions it goes straight to PostgreSQL, beside Prisma: `$queryRaw` takes
 * three times the CPU time (docs/decisions/totals.md). Prisma and pg read the types of columns differently; those of
 * text, numbers of 32 bits and JSON alike.
 */
export async function selectRows<Row extends object>(client: RawClient, statement: Statement): Promise<Row[]> {
  const { text, values, kind } = statement;
  const pool = pools.get(client);
  if (pool === undefined) return client.$queryRawUnsafe<Row[]>(text, ...values);
  if (kind === 'quick') return [await pool.shared.ask<Row>({ ...asQuestion(text, values.length), values })];
  const { rows } = await pool.query<Row>({ ...(kind !== 'rare' && { name: statementName(text) }), text, values });
  return rows;
}

const names = new Map<string, string>();

/** A name makes PostgreSQL keep the plan. The statements of this code are few, so the map stays small. */
export function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `s${names.size}`;
    names.set(text, name);
  }
  return name;
}

const questions = new Map<string, { name: string; text: string }>();

/** The statement with one parameter more, which it answers as `question`. */
function asQuestion(text: string, parameters: number): { name: string; text: string } {
  let question = questions.get(text);
  if (question === undefined) {
    const asking = `SELECT $${parameters + 1}::int AS question, answer.* FROM (${text}) AS answer`;
    question = { name: statementName(asking), text: asking };
    questions.set(text, question);
  }
  return question;
}
