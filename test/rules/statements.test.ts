import { definedStatements } from '@itsm-api/server/database/client/statements.ts';
import { systemRole } from '@itsm-api/server/database/roles.ts';
import { scheduleJobs } from '@itsm-api/server/process/scheduled-jobs.ts';
// Defines the statements of the server for tests.
import '@itsm-api/server/testing/aging.ts';
import pg from 'pg';
import type { PgBoss } from 'pg-boss';
import { afterAll, expect, type Mock, vi } from 'vitest';
import { fillWorkspace } from '../support/filled-workspace.ts';
import { api, it as itBase, workspace as mine } from '../support/fixture.ts';
import { callOf, keyedEndpoints, type Sample, type SampledEndpoint } from '../support/samples.ts';
import { comment } from '../support/workspace.ts';

/*
 * A statement can name its tenant and still reach the rows of others, for example if a join forgets it. Row-level
 * security hides such a mistake. This test runs the statements with the rights of `itsm_system`, for which row-level
 * security has no effect, while another tenant has rows with the same ids.
 */
let client: pg.Client;

/** The values with which the server ran each statement, by the name of the statement. */
const runs = new Map<string, unknown[][]>();

const it = itBase.extend('options', { scope: 'file' }, { ownDatabase: true });
it.beforeAll(async () => {
  const bind = vi.spyOn(pg.Connection.prototype as never, 'bind') as Mock<(message: Bind) => void>;
  await useEverything();
  for (const [{ statement = '', values }] of bind.mock.calls) {
    runs.set(statement, [...(runs.get(statement) ?? []), values]);
  }
  bind.mockRestore();
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
});

interface Bind {
  statement?: string;
  values: unknown[];
}

/** A statement, or several statements that share a round trip. */
type Sent = { text?: string; texts?: (string | undefined)[] };

/** The endpoints that called no model of Prisma. */
const withoutModel: string[] = [];

/** Returns a valid request. A comment has an attachment, because the server looks up only given attachments. */
async function sampleOf({ title, sample }: SampledEndpoint): Promise<Sample> {
  const found = await sample(mine);
  if (!/^POST .*comments/.test(title)) return found;
  const { id } = await mine.createAttachment(Number(found.params?.id));
  const body = { ...comment, attachmentIds: [id] };
  return { ...found, body: title.endsWith('/bulk') ? { comments: [body] } : body };
}

async function useEverything(): Promise<void> {
  await fillWorkspace(api, mine);
  // An open transaction of another test file on this PostgreSQL server can hold back the newest changes, and an empty
  // feed needs no model.
  const { totalCount } = (await mine.call('GET', '/tickets')).body.meta;
  const countChanges = async () => (await mine.call('GET', '/tickets/changes?perPage=100')).body.data.length;
  await vi.waitUntil(async () => (await countChanges()) === totalCount, { timeout: 60_000, interval: 100 });
  const query = vi.spyOn(pg.Client.prototype, 'query') as unknown as Mock<(query: Sent) => unknown>;
  for (const endpoint of keyedEndpoints) {
    const call = callOf(endpoint, await sampleOf(endpoint));
    query.mockClear();
    await api.call({ ...call, key: mine.key });
    // The names of tables have a schema only in the statements of Prisma's models.
    const usesModel = query.mock.calls.some(([{ text, texts = [text] }]) =>
      texts.some((each) => each?.includes('"public".')),
    );
    if (!usesModel) withoutModel.push(endpoint.title);
  }
  query.mockRestore();
  const boss = { work: async (_: string, run: () => Promise<unknown>) => run(), schedule: async () => undefined };
  await scheduleJobs(boss as unknown as PgBoss, {
    runtime: { ...api, prisma: api.databases.system.prisma },
    settings: { REQUEST_LOG_DAYS: 7, AUDIT_RETENTION_DAYS: 400 },
    onWrongTotals: () => undefined,
  });
}

/** The id of a tenant that gets a copy of all rows of `mine`, with the same ids. */
const otherId = 1_000_000_001n;

/** Values for the parameters of statements that the server didn't run, by type. All rows of `mine` have low ids. */
function exampleOf(type: string, id: number): unknown {
  if (type === 'boolean') return true;
  if (type.startsWith('json')) return type === 'jsonb' ? '{}' : '[]';
  if (type === 'timestamp with time zone') return '2020-01-01';
  if (type === 'timestamp with time zone[]') return ['2020-01-01'];
  if (type === 'text[]') return ['PENDING', 'DELIVERED', 'EXHAUSTED', 'INCIDENT'];
  if (type === 'text') return 'INCIDENT';
  if (type === 'bytea') return Buffer.from('key');
  return type.endsWith('[]') ? Array.from({ length: 100 }, (_, index) => index + 1) : id;
}

/** Returns the values with which the test runs a statement. */
async function valuesFor({ name = '', text, names }: (typeof definedStatements)[number]): Promise<unknown[][]> {
  await client.query(`PREPARE checked AS ${text}`);
  const { rows } = await client.query(
    "SELECT unnest(parameter_types)::regtype::text AS type FROM pg_prepared_statements WHERE name = 'checked'",
  );
  await client.query('DEALLOCATE checked');
  const generated = [1, 2, 3, 4, 5].map((id) => rows.map(({ type }) => exampleOf(type, id)));
  return (runs.get(name)?.slice(-2) ?? generated).map((values) =>
    values.map((value, index) => (names[index] === 'tenant' ? mine.tenantId : value)),
  );
}

/** Runs a statement in a transaction that is rolled back. Returns what the statement found or wrote. */
async function resultOf(text: string, values: unknown[]): Promise<unknown> {
  await client.query(`BEGIN; SET LOCAL ROLE ${systemRole}; SET LOCAL itsm.tenant_id = '${mine.tenantId}'`);
  try {
    const { rows, rowCount } = await client.query(text, values);
    // Other statements return new ids, times or transaction ids.
    if (/\bFROM\b/.test(text) && !/\b(INSERT|UPDATE|DELETE|pg_current_snapshot)\b/.test(text)) {
      return { rows: /\bORDER BY\b/.test(text) ? rows : inOneOrder(rows) };
    }
    await client.query('RESET ROLE');
    return { rowCount, fingerprint: await fingerprintOf(otherId) };
  } catch (error) {
    return { error: (error as pg.DatabaseError).code };
  } finally {
    await client.query('ROLLBACK');
  }
}

/**
 * Sorts a list and the lists in it. Without ORDER BY, PostgreSQL returns rows in the order of the plan, which depends
 * on the number of rows.
 */
function inOneOrder(value: unknown): unknown {
  if (!Array.isArray(value)) {
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inOneOrder(each)]));
  }
  const texts = value.map(inOneOrder).map((each) => ({ each, text: String(JSON.stringify(each)) }));
  return texts.sort((a, b) => a.text.localeCompare(b.text)).map(({ each }) => each);
}

const keyOf = (text: string, values: unknown[]) => JSON.stringify([text, ...values.map(String)]);

let tables: { name: string; columns: string }[] = [];

/** Returns a hash of all rows of a tenant. */
async function fingerprintOf(tenantId: bigint): Promise<string> {
  const hashes = tables.map(
    ({ name }) => `SELECT md5(string_agg(r::text, ',' ORDER BY r::text)) AS hash FROM "${name}" r
    WHERE tenant_id = ${tenantId}`,
  );
  const { rows } = await client.query(
    `SELECT string_agg(hash, ',') AS hashes FROM (${hashes.join(' UNION ALL ')}) AS h`,
  );
  return rows[0].hashes;
}

/** Copies all rows of `mine` to another tenant. */
async function copyToOther(): Promise<void> {
  await client.query("SET session_replication_role = 'replica'");
  await client.query(
    `INSERT INTO tenants (id, name, name_key, updated_at) VALUES (${otherId}, 'Other', 'other', now())`,
  );
  for (const { name, columns } of tables) {
    // The key of a file begins with the id of the tenant.
    const values = columns.replace('storage_key', `regexp_replace(storage_key, '^\\d+', '${otherId}')`);
    await client.query(
      `INSERT INTO "${name}" (tenant_id, ${columns}) SELECT ${otherId}, ${values} FROM "${name}" WHERE tenant_id = $1
       ON CONFLICT DO NOTHING`,
      [mine.tenantId],
    );
  }
  await client.query('RESET session_replication_role');
}

it('finds and changes no row of another tenant without row-level security', async () => {
  ({ rows: tables } = await client.query(`
    SELECT c.relname AS name, string_agg(quote_ident(attname), ', ') AS columns
    FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attname <> 'tenant_id'
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition
      AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id' AND NOT attisdropped)
    GROUP BY 1`));
  // The server writes the request log in the background, and locks none of its rows.
  const statements = definedStatements.filter(({ text }) => !/FROM request_log\s.*FOR NO KEY UPDATE/s.test(text));
  const alone = new Map<string, unknown>();
  for (const statement of statements) {
    for (const values of await valuesFor(statement)) {
      alone.set(keyOf(statement.text, values), await resultOf(statement.text, values));
    }
  }
  await copyToOther();
  const fingerprint = await fingerprintOf(otherId);
  for (const statement of statements) {
    for (const values of await valuesFor(statement)) {
      const expected = alone.get(keyOf(statement.text, values)) as object;
      const unchanged = 'fingerprint' in expected ? { fingerprint } : {};
      expect(await resultOf(statement.text, values), statement.text).toEqual({ ...expected, ...unchanged });
    }
  }
});

it('reads and writes with models of Prisma in all but 20 endpoints', () => {
  expect(withoutModel.length, withoutModel.join('\n')).toBeLessThanOrEqual(20);
});
