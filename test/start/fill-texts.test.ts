import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const tickets = 8000;

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await cloneDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** How many entries of the key of texts have been read. */
async function entriesRead(): Promise<number> {
  await client.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await client.query(
    "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'texts_pkey'",
  );
  return Number(rows[0].idx_tup_read);
}

it('filling in the words of rows from before reads each text once, whatever PostgreSQL knows of them', async () => {
  await client.query(`
    INSERT INTO tenants (id, name, name_key, updated_at) VALUES (1, 'Large', 'large', now());
    INSERT INTO users (tenant_id, id, name, email, role, updated_at)
    SELECT 1, n, 'User ' || n, n || '@example.com', 'ADMIN', now() FROM generate_series(1, 4000) AS n;
    -- It knows of the texts of users, and of no others.
    ANALYZE texts;
    -- As if no trigger had been there yet.
    SET session_replication_role = replica;
    INSERT INTO tickets (tenant_id, id, ordinal, type, number, title, description, requester_id, updated_at)
    SELECT 1, n, n, 'INCIDENT', n, 'Ticket ' || n, 'Text', 1, now() FROM generate_series(1, ${tickets}) AS n;
    RESET session_replication_role;
    ANALYZE tickets`);
  const before = await entriesRead();
  await client.query('CALL fill_texts()');
  const { rows } = await client.query("SELECT count(*)::int AS count FROM texts WHERE resource = 'tickets'");
  expect(rows).toEqual([{ count: tickets }]);
  expect((await entriesRead()) - before).toBeLessThan(3 * tickets);
});
