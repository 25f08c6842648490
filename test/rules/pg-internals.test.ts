import { prepareValue, Result, wireOf } from '@itsm-api/server/database/client/pg-internals.ts';
import pg from 'pg';
import { afterAll, expect, vi } from 'vitest';
import { api, itWithApi as it } from '../support/fixture.ts';

/**
 * Tests the internals of the pg package that database/pg-internals.ts lists. If a test fails after a pg update, compare
 * query.js in pg with database/batch.ts.
 */
let client: pg.Client;

it.beforeAll(async () => {
  client = new pg.Client({ connectionString: api.databases.options.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
});

const messages = ['parse', 'bind', 'describe', 'execute', 'close', 'sync'] as const;

/** Returns the protocol messages that pg sends for a query, in order. */
async function recordMessages(query: pg.QueryConfig) {
  const sent: [name: string, message: Record<string, unknown>][] = [];
  const wire = wireOf(client.connection);
  const spies = messages.map((name) =>
    vi.spyOn(wire, name).mockImplementation(function (this: unknown, ...args: unknown[]) {
      sent.push([name, { ...(args[0] as object) }]);
      return Reflect.apply(originals[name], wire, args);
    }),
  );
  await client.query(query);
  for (const spy of spies) spy.mockRestore();
  return sent;
}
const originals = Object.fromEntries(
  messages.map((name) => [name, pg.Connection.prototype[name] as (...args: unknown[]) => void]),
) as Record<(typeof messages)[number], (...args: unknown[]) => void>;

it('parses a named statement only once in pg and sends one Sync per execution', async () => {
  const query = { name: 'of_this_test', text: 'SELECT $1::int AS one', values: [1] };
  const [parse, bind, ...others] = await recordMessages(query);
  expect(parse).toMatchObject(['parse', { name: query.name, text: query.text }]);
  expect(bind).toMatchObject(['bind', { statement: query.name, values: [1] }]);
  expect(others.map(([name]) => name)).toEqual(['describe', 'execute', 'sync']);
  expect(others[0]?.[1]).toMatchObject({ type: 'P' });
  expect((await recordMessages(query)).map(([name]) => name)).toEqual(['bind', 'describe', 'execute', 'sync']);
});

it('prepares a statement again after it is removed from the prepared statements of a pg connection', async () => {
  const { parsedStatements } = wireOf(client.connection);
  expect(parsedStatements).toEqual({ of_this_test: 'SELECT $1::int AS one' });
  delete parsedStatements.of_this_test;
  await client.query('DEALLOCATE of_this_test');
  const sent = await recordMessages({ name: 'of_this_test', text: 'SELECT 2 AS two' });
  expect(sent[0]?.[0]).toBe('parse');
});

it('lets pg close an unknown prepared statement without an error', async () => {
  const wire = wireOf(client.connection);
  wire.stream.cork();
  wire.close({ type: 'S', name: 'never_prepared' });
  wire.stream.uncork();
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

it('returns pg rows as objects or as arrays', async () => {
  const { fields } = await client.query('SELECT 1 AS one, true AS two');
  for (const [rowMode, row] of [
    [undefined, { one: 1, two: true }],
    ['array', [1, true]],
  ] as const) {
    const result = new Result(rowMode, pg.types);
    result.addFields(fields);
    result.rows.push(result.parseRow(['1', 't']));
    result.addCommandComplete({ text: 'SELECT 1' });
    expect(result).toMatchObject({ command: 'SELECT', rowCount: 1, rows: [row] });
  }
});

it('serializes pg query parameters as text or bytes', () => {
  const values = [null, 1, 2n, true, 'text', [1, 'a"b'], { a: 1 }, Buffer.from('x')];
  expect(values.map(prepareValue)).toEqual([
    ...[null, '1', '2', 'true', 'text', '{"1","a\\"b"}', '{"a":1}', Buffer.from('x')],
  ]);
});
