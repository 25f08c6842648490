import { DatabasePool } from './pool.ts';

/** A text that is fixed: PostgreSQL keeps its plan. */
export interface Statement {
  /** `$1` is the tenant's, the values begin at `$2`. */
  text: string;
  values: unknown[];
}

interface RawClient {
  $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): Promise<Rows>;
}

/** The tenant client, as far as statements go. */
interface Client {
  $tenantId: bigint;
}

/** The pool below each client. The client of a transaction is not in here: it has one connection of its own. */
const pools = new WeakMap<object, DatabasePool>();

/** Notes the pool that a client's queries run on, or that of the client it was made from. */
export function setPool(client: object, from: object): void {
  const pool = from instanceof DatabasePool ? from : pools.get(from);
  if (pool !== undefined) pools.set(client, pool);
}

/**
 * The rows of one SELECT, whose text names the tenant as `tenant.id`. The statement sets the tenant for row-level
 * security itself, for as long as it runs (docs/decisions/tenancy.md): one round trip, and nothing is left behind.
 */
export function selectRows<Row extends object>(db: Client, { text, values }: Statement): Promise<Row[]> {
  return run(db, { text: withTenant(text), values });
}

/** The rows of one statement within a transaction, which has set its tenant. The text names the tenant as `$1`. */
export function changeRows<Row extends object>(db: Client, statement: Statement): Promise<Row[]> {
  return run(db, statement);
}

/**
 * Outside of transactions it goes straight to PostgreSQL, beside Prisma: `$queryRaw` takes three times the CPU time
 * (docs/decisions/totals.md). Prisma and pg read the types of columns differently; those of text, numbers of 32 bits
 * and JSON alike.
 */
async function run<Row extends object>(db: Client, { text, values }: Statement): Promise<Row[]> {
  const pool = pools.get(db);
  const all = [db.$tenantId, ...values];
  if (pool === undefined) return (db as Client & RawClient).$queryRawUnsafe<Row[]>(text, ...all);
  const { rows } = await pool.query<Row>({ name: statementName(text), text, values: all });
  return rows;
}

/**
 * MATERIALIZED sets the tenant before a row of `tenant` is there, and so before anything is read by it. OFFSET 0 keeps
 * PostgreSQL from joining the answer's tables before that: row-level security would show no row of them.
 */
function withTenant(text: string): string {
  return `WITH tenant AS MATERIALIZED (SELECT set_config('itsm.tenant_id', $1::text, true)::bigint AS id)
    SELECT answer.* FROM tenant CROSS JOIN LATERAL (${text} OFFSET 0) AS answer`;
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
