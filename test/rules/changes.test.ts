import { pathPrefix } from '@itsm-api/contract';
import { openTemporary } from '@itsm-api/server/embedded-postgres/temporary.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { readCursor, writeCursor } from '@itsm-api/server/resources/sync/change-cursor.ts';
import { teams } from '@itsm-api/server/resources/teams/queries.ts';
import pg from 'pg';
import { afterAll, describe, expect, vi } from 'vitest';
import type { ZodObject } from 'zod';
import { type Answer, errorOf } from '../support/api.ts';
import { api, itInNewWorkspace, workspace } from '../support/fixture.ts';
import { endpoints } from '../support/samples.ts';
import { createWorkspace, ticket } from '../support/workspace.ts';

/**
 * Tests that a client with a cursor misses no committed change, even after a server failure. Uses a separate PostgreSQL
 * server, because an open transaction in any database of a PostgreSQL server delays the change feed.
 */
vi.setConfig({ testTimeout: 60_000 });

/** A database connection for writes that bypass the API. */
let sql: pg.Client;

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of the fixtures from the pattern
const it = itInNewWorkspace.extend('options', { scope: 'file' }, async ({}, { onCleanup }) => {
  const { url, stop } = await openTemporary();
  onCleanup(stop);
  await migrateDatabase(url);
  return { databaseUrl: url };
});
it.beforeAll(async () => {
  sql = new pg.Client({ connectionString: api.databaseUrl });
  await sql.connect();
});
afterAll(() => sql.end());

const feeds = endpoints.filter(({ route }) => 'cursor' in ((route.query as Partial<ZodObject>).shape ?? {}));

interface Changes {
  ids: number[];
  data: Record<string, unknown>[];
  cursor: string;
  hasMore: boolean;
}

/** Returns one page of a change feed. */
async function changes(path: string, query: Record<string, string> = {}): Promise<Changes> {
  const answer = await workspace.call('GET', `${path}?${new URLSearchParams(query)}`);
  expect(answer.status, answer.text).toBe(200);
  const { data, meta } = answer.body;
  return { ids: data.map(({ id }: { id: number }) => id), data, cursor: meta.nextCursor, hasMore: meta.hasMore };
}

/** Returns all changes after a cursor, and the cursor of the last page. */
async function walk(path: string, cursor?: string): Promise<Pick<Changes, 'ids' | 'data' | 'cursor'>> {
  const data: Changes['data'] = [];
  for (let query: Record<string, string> = cursor === undefined ? {} : { cursor }; ; ) {
    const page = await changes(path, query);
    data.push(...page.data);
    if (!page.hasMore) return { data, ids: data.map(({ id }) => Number(id)), cursor: page.cursor };
    query = { cursor: page.cursor };
  }
}

/** Waits until the change feed contains exactly the expected changes. Open transactions delay changes. */
const expectChanges = (path: string, cursor: string | undefined, ids: number[]) =>
  expect.poll(async () => (await walk(path, cursor)).ids).toEqual(ids);

/** Waits until the change feed contains the expected changes. */
const expectContained = (path: string, ids: number[]) =>
  expect.poll(async () => (await walk(path)).ids).toEqual(expect.arrayContaining(ids));

/** Ends all database sessions, as a restart of PostgreSQL does. */
const endSessions = () =>
  sql.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );

interface Writer {
  /** The name of the feed in its cursors. */
  resource: string;
  make(): Promise<{ id: number }>;
  /** Changes a row. Undefined if rows never change. */
  change?(id: number): Promise<unknown>;
  /** The path of a list that also contains the row, if there is one. */
  listOf?(row: Record<string, unknown>): string;
}

/** Returns the newest activity entry of a ticket or an asset. */
async function newestActivity(path: string): Promise<{ id: number }> {
  return (await workspace.call('GET', `${path}/activity`)).body.data[0];
}

/** For each change feed, functions that create and change rows. */
const writers: Record<string, Writer> = {
  '/tickets/changes': {
    resource: 'tickets',
    listOf: () => '/tickets',
    make: () => workspace.createTicket(),
    change: (id) => workspace.call('PATCH', `/tickets/${id}`, { priority: 'CRITICAL' }),
  },
  '/comments/changes': {
    resource: 'comments',
    listOf: ({ ticketId }) => `/tickets/${ticketId}/comments`,
    make: async () => workspace.createComment((await workspace.createTicket()).id),
  },
  '/assets/changes': {
    resource: 'assets',
    listOf: () => '/assets',
    make: () => workspace.createAsset(),
    change: (id) => workspace.call('PATCH', `/assets/${id}`, { name: 'Changed' }),
  },
  '/articles/changes': {
    resource: 'articles',
    make: () => workspace.createArticle(),
    change: (id) =>
      sql.query("UPDATE articles SET title = 'Changed' WHERE tenant_id = $1 AND id = $2", idParameters(id)),
  },
  '/tickets/activity': {
    resource: 'TICKET',
    listOf: ({ ticketId }) => `/tickets/${ticketId}/activity`,
    make: async () => newestActivity(`/tickets/${(await workspace.createTicket()).id}`),
  },
  '/assets/activity': {
    resource: 'ASSET',
    listOf: ({ assetId }) => `/assets/${assetId}/activity`,
    make: async () => newestActivity(`/assets/${(await workspace.createAsset()).id}`),
  },
  '/projects/changes': {
    resource: 'projects',
    listOf: () => '/projects',
    make: () => workspace.createProject(),
    change: (id) =>
      sql.query("UPDATE projects SET name = 'Changed' WHERE tenant_id = $1 AND id = $2", idParameters(id)),
  },
  '/tasks/changes': {
    resource: 'tasks',
    make: () => workspace.createTask(),
    change: (id) => workspace.call('PATCH', `/tasks/${id}`, { title: 'Changed' }),
  },
  '/users/changes': {
    resource: 'users',
    listOf: () => '/users',
    make: () => workspace.createUser(),
    change: (id) => sql.query("UPDATE users SET name = 'Changed' WHERE tenant_id = $1 AND id = $2", idParameters(id)),
  },
  '/teams/changes': {
    resource: 'teams',
    listOf: () => '/teams',
    make: () => workspace.createTeam(),
    change: (id) => teams.update(workspace.context, id, { memberIds: [workspace.userId] }),
  },
  '/request-forms/changes': {
    resource: 'request_forms',
    listOf: () => '/request-forms',
    make: () => workspace.createForm(),
    change: (id) =>
      sql.query("UPDATE request_forms SET name = 'Changed' WHERE tenant_id = $1 AND id = $2", idParameters(id)),
  },
};
const idParameters = (id: number) => [workspace.tenantId, id];

it('has a change feed for every resource that records changes', () => {
  expect(feeds.map(({ title }) => title)).toEqual(Object.keys(writers).map((path) => `GET ${path}`));
});

it('considers every change feed when it begins a new epoch', async () => {
  const { rows } = await sql.query('SELECT resource FROM change_feeds');
  const others = ['comments', 'TICKET', 'ASSET'];
  const resources = Object.values(writers).map(({ resource }) => resource);
  expect(rows.map(({ resource }) => resource).sort()).toEqual(
    resources.filter((each) => !others.includes(each)).sort(),
  );
});

describe.each(feeds)('$title', ({ route }) => {
  const path = route.path.slice(pathPrefix.length);
  const { resource, make, change, listOf } = writers[path] as Writer;

  it('lists each new row in the change feed with the fields that the list has', async () => {
    const begin = (await walk(path)).cursor;
    const rows = [await make(), await make(), await make()].map(({ id }) => id);
    await expectChanges(path, begin, rows);
    const all = await walk(path);
    expect((await walk(path, all.cursor)).ids).toEqual([]);
    for (const row of all.data) {
      const list = listOf && (await workspace.call('GET', `${listOf(row)}?perPage=100`)).body.data;
      expect(list ?? [row]).toContainEqual(row);
    }
  });

  it.each(change === undefined ? [] : [change])(
    `lists each row of ${path} that changed once, sorted by time of last change`,
    async (change) => {
      const begin = (await walk(path)).cursor;
      const rows = [await make(), await make(), await make()].map(({ id }) => id) as [number, number, number];
      await expectChanges(path, begin, rows);
      await change(rows[0]);
      await expectChanges(path, begin, [rows[1], rows[2], rows[0]]);

      const all = await walk(path);
      expect(all.ids.slice(-3)).toEqual([rows[1], rows[2], rows[0]]);
      await change(rows[1]);
      await expectChanges(path, all.cursor, [rows[1]]);
    },
  );

  it('returns consecutive pages of the change feed for any page size', async () => {
    const begin = (await walk(path)).cursor;
    const rows = [await make(), await make(), await make()].map(({ id }) => id);
    await expectChanges(path, begin, rows);
    const first = await changes(path, { cursor: begin, perPage: '2' });
    expect(first).toMatchObject({ ids: rows.slice(0, 2), hasMore: true });
    const second = await changes(path, { cursor: first.cursor, perPage: '2' });
    expect(second).toMatchObject({ ids: rows.slice(2), hasMore: false });
    const none = await changes(path, { cursor: second.cursor });
    expect(none).toMatchObject({ ids: [], hasMore: false, cursor: second.cursor });
    expect(await changes(path, { cursor: begin, perPage: '3' })).toMatchObject({ ids: rows, hasMore: false });
  });

  it('rejects the cursor of another change feed or workspace, and suggests `since`', async () => {
    const { cursor } = await walk(path);
    const other = feeds.find((feed) => feed.route !== route)?.route.path.slice(pathPrefix.length) ?? '';
    const theirs = await createWorkspace(api);
    const foreign = (await theirs.call('GET', path)).body.meta.nextCursor;
    const middle = Math.floor(cursor.length / 2);
    const swapped = cursor[middle] === 'A' ? 'B' : 'A';
    const followed = { tenantId: workspace.tenantId, resource };
    const wrong = {
      cut: cursor.slice(0, -1),
      changed: cursor.slice(0, middle) + swapped + cursor.slice(middle + 1),
      longer: `${cursor}A`,
      'of another list': (await walk(other)).cursor,
      'of another workspace': foreign,
      'made up': 'nonsense',
      'made up with care': writeCursor(followed, { startedAt: '9'.repeat(30), position: 1, id: 1 }),
      'out of every range': writeCursor(followed, { startedAt: '1', position: 10 ** 18, id: 10 ** 19 }),
      'very long': 'A'.repeat(10_000),
      NUL: '\0',
      none: '',
    };
    for (const [how, given] of Object.entries(wrong)) {
      const answer = await workspace.call('GET', `${path}?${new URLSearchParams({ cursor: given })}`);
      expect(answer.status, `${how}: ${answer.text}`).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'cursor' }] });
      expect(errorOf(answer).message, how).toContain('since');
    }
  });

  it('accepts since=0001-01-01T00:00:00Z in a change feed', async () => {
    const { status, text } = await workspace.call('GET', `${path}?since=0001-01-01T00:00:00Z`);
    expect(status, text).toBe(200);
  });

  it.each([
    ['since=tomorrow', 'since'],
    ['since=2026-02-30T00:00:00Z', 'since'],
    ['since=2999-01-01T00:00:00Z', 'since'],
    ['since=2020-01-01T00:00:00Z&since=2020-01-01T00:00:00Z', 'since'],
    ['since=2020-01-01T00:00:00Z&cursor=x', 'cursor'],
    ['cursor=x&cursor=x', 'cursor'],
    ['perPage=101', 'perPage'],
    ['page=1', 'page'],
  ])('rejects the change feed query %s', async (query, at) => {
    const answer: Answer = await workspace.call('GET', `${path}?${query}`);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer).details?.[0]?.path).toBe(at);
  });
});

describe('a change feed during an open transaction', () => {
  /** Opens a transaction that changes a ticket. Returns a function that commits or rolls back the transaction. */
  async function openTransaction(id: number): Promise<(how: 'COMMIT' | 'ROLLBACK') => Promise<void>> {
    const client = new pg.Client({ connectionString: api.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query("UPDATE tickets SET title = 'Changed late' WHERE tenant_id = $1 AND id = $2", idParameters(id));
    return async (how) => {
      await client.query(how);
      await client.end();
    };
  }

  it.each(['COMMIT', 'ROLLBACK'] as const)(
    'lists newer changes only after the %s of an open transaction',
    async (how) => {
      const [first, second] = [await workspace.createTicket(), await workspace.createTicket()];
      await expectChanges('/tickets/changes', undefined, [first.id, second.id]);
      const { cursor } = await walk('/tickets/changes');
      const end = await openTransaction(first.id);
      await workspace.call('PATCH', `/tickets/${second.id}`, { title: 'Changed early' });
      expect((await walk('/tickets/changes', cursor)).ids).toEqual([]);
      await end(how);
      await expectChanges('/tickets/changes', cursor, how === 'COMMIT' ? [first.id, second.id] : [second.id]);
    },
  );

  it('returns the changes of a transaction that was still open at the time of `since`', async () => {
    const late = await workspace.createTicket();
    const early = await workspace.createTicket();
    await expectChanges('/tickets/changes', undefined, [late.id, early.id]);
    const end = await openTransaction(late.id);
    await workspace.call('PATCH', `/tickets/${early.id}`, { title: 'Changed early' });
    await end('COMMIT');
    await sql.query("UPDATE changes SET changed_at = now() - interval '2 hours' WHERE tenant_id = $1", [
      workspace.tenantId,
    ]);
    // Both transactions wrote before `since`, but one transaction was still open at `since`.
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await expect.poll(async () => (await changes('/tickets/changes', { since })).ids).toEqual([late.id, early.id]);
  });
});

describe('since', () => {
  it('returns at most one change that is older than `since`', async () => {
    const ids: number[] = [];
    for (let i = 0; i < 20; i++) ids.push((await workspace.createTicket()).id);
    await expectChanges('/tickets/changes', undefined, ids);
    // Spreads the changes over 20 days, one change per day, as if no other transaction had been open during a change.
    await sql.query(
      `UPDATE changes SET changed_at = now() - (20 - array_position($2::bigint[], id)) * interval '1 day',
         horizon = position
       WHERE tenant_id = $1 AND resource = 'tickets'`,
      [workspace.tenantId, ids],
    );
    for (const days of [0, 1, 7, 19, 20, 1000]) {
      const since = new Date(Date.now() - days * 86_400_000 - 3_600_000).toISOString();
      const page = await changes('/tickets/changes', { since });
      const expected = ids.slice(-1 - days);
      expect(page.ids.slice(-expected.length), since).toEqual(expected);
      expect(page.ids.length - expected.length).toBeLessThanOrEqual(1);
    }
  });

  it('returns the changes of the minute before `since`, because the clocks of clients differ', async () => {
    const ids = [(await workspace.createTicket()).id, (await workspace.createTicket()).id];
    const since = new Date(Date.now() + 30_000).toISOString();
    await expect.poll(async () => (await changes('/tickets/changes', { since })).ids).toEqual(ids);
  });

  it('returns an empty change feed page for `since` if no row has ever changed', async () => {
    const since = new Date(Date.now() - 1000).toISOString();
    expect(await changes('/assets/changes', { since })).toMatchObject({ ids: [], hasMore: false });
  });
});

describe.each(['/comments/changes', '/tickets/activity'])('GET %s', (path) => {
  const { make } = writers[path] as Writer;
  const table = path === '/comments/changes' ? 'comments' : 'activities';

  it('returns the rows of a transaction that was still open at the time of `since`', async () => {
    const { id: ticketId } = await workspace.createTicket();
    const begin = (await walk(path)).cursor;
    const late = new pg.Client({ connectionString: api.databaseUrl });
    await late.connect();
    await late.query('BEGIN');
    const insert =
      table === 'comments'
        ? `INSERT INTO comments (tenant_id, ticket_id, author_id, body, visibility)
           VALUES ($1, $2, ${workspace.userId}, 'Late', 'PUBLIC') RETURNING id::int`
        : `INSERT INTO activities (tenant_id, resource, resource_id, action, at)
           VALUES ($1, 'TICKET', $2, 'UPDATED', now()) RETURNING id::int`;
    const { rows } = await late.query(insert, idParameters(ticketId));
    const early = await make();
    expect((await walk(path, begin)).ids).not.toContain(early.id);
    await late.query('COMMIT');
    await late.end();
    await sql.query(`UPDATE ${table} SET recorded_at = now() - interval '2 hours' WHERE tenant_id = $1`, [
      workspace.tenantId,
    ]);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await expect
      .poll(async () => (await changes(path, { since })).ids)
      .toEqual(expect.arrayContaining([rows[0].id, early.id]));
  });

  it('finds a new row by `since`, even if the row has an earlier time', async () => {
    const since = new Date(Date.now() - 60_000).toISOString();
    const [old, { id }] = [await make(), await make()];
    const time = table === 'comments' ? 'created_at' : 'at';
    await sql.query(`UPDATE ${table} SET ${time} = '2020-01-01' WHERE tenant_id = $1 AND id = $2`, idParameters(id));
    await expect.poll(async () => (await changes(path, { since })).ids).toEqual(expect.arrayContaining([old.id, id]));
  });

  it('lists rows that are older than the change feed first, and omits them after a later `since`', async () => {
    const [newer, ...older] = [await make(), await make(), await make()].map(({ id }) => id);
    await expectContained(path, [newer as number]);
    // The values of rows that existed before the migration.
    await sql.query(
      `UPDATE ${table} SET position = DEFAULT, horizon = DEFAULT, recorded_at = now() - interval '1 day'
       WHERE tenant_id = $1 AND id <> $2`,
      idParameters(newer as number),
    );
    const { ids } = await walk(path);
    expect(ids).toEqual([...ids.slice(0, -1)].sort((a, b) => a - b).concat(newer as number));
    expect(ids).toEqual(expect.arrayContaining(older));
    const first = await changes(path, { perPage: '1' });
    expect((await walk(path, first.cursor)).ids).toEqual(ids.slice(1));
    const sinceHours = async (hours: number) =>
      (await changes(path, { since: new Date(Date.now() - hours * 3_600_000).toISOString() })).ids;
    expect([await sinceHours(12), await sinceHours(36)]).toEqual([[newer], ids]);
    await sql.query(
      `UPDATE ${table} SET position = DEFAULT, horizon = DEFAULT, recorded_at = now() - interval '1 day'
      WHERE tenant_id = $1`,
      [workspace.tenantId],
    );
    expect([await sinceHours(12), (await sinceHours(36)).length]).toEqual([[], ids.length]);
  });
});

it('prevents a client from choosing the position of a comment', async () => {
  const { id } = await workspace.createTicket();
  const { rows } = await sql.query(
    `INSERT INTO comments (tenant_id, ticket_id, author_id, body, visibility, position, horizon, recorded_at)
     VALUES ($1, $2, ${workspace.userId}, 'Given', 'PUBLIC', 5, 5, '2020-01-01')
     RETURNING position > 5 AND horizon > 5 AND recorded_at > '2021-01-01' AS "isReplaced"`,
    idParameters(id),
  );
  expect(rows).toEqual([{ isReplaced: true }]);
});

describe('changes from different writers', () => {
  it.each<[string, (id: number) => Promise<unknown>]>([
    [
      'SQL',
      (id) => sql.query("UPDATE tickets SET title = 'By SQL' WHERE tenant_id = $1 AND id = $2", idParameters(id)),
    ],
    ['a PATCH of watchers', (id) => workspace.call('PATCH', `/tickets/${id}`, { watcherUserIds: [] })],
  ])('lists a ticket in the change feed after a change by %s', async (_, write) => {
    const { id } = await workspace.createTicket({ watcherUserIds: [(await workspace.createUser()).id] });
    await expectChanges('/tickets/changes', undefined, [id]);
    const { cursor } = await walk('/tickets/changes');
    await write(id);
    await expectChanges('/tickets/changes', cursor, [id]);
  });

  it('does not list a ticket in the change feed after a PATCH that changes nothing', async () => {
    const { id } = await workspace.createTicket(ticket);
    await expectChanges('/tickets/changes', undefined, [id]);
    const { cursor } = await walk('/tickets/changes');
    await workspace.call('PATCH', `/tickets/${id}`, { title: ticket.title });
    const other = await workspace.createTicket();
    await expectChanges('/tickets/changes', cursor, [other.id]);
  });

  it('omits deleted rows from the change feed', async () => {
    const begin = (await walk('/assets/changes')).cursor;
    const [gone, kept] = [await workspace.createAsset(), await workspace.createAsset()];
    await sql.query('DELETE FROM assets WHERE tenant_id = $1 AND id = $2', idParameters(gone.id));
    await expectChanges('/assets/changes', begin, [kept.id]);
  });

  it('prevents the request role from writing to the change tables', async () => {
    const { pool } = api.databases.requests;
    for (const statement of [
      'DELETE FROM changes',
      'UPDATE changes SET position = 0',
      "SELECT note_change(1, 'x', 1, false)",
      `CREATE TEMP TABLE own (tenant_id bigint, id bigint);
        CREATE TRIGGER own AFTER INSERT ON own FOR EACH ROW EXECUTE FUNCTION public.note_changed_row()`,
    ]) {
      const connection = await pool.connect();
      await expect(connection.query(statement)).rejects.toThrow('permission denied');
      connection.release();
    }
  });
});

it('accepts a `since` of up to a minute in the future in a change feed', async () => {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  expect((await workspace.call('GET', `/tickets/changes?since=${at(20_000)}`)).status).toBe(200);
  expect((await workspace.call('GET', `/tickets/changes?since=${at(120_000)}`)).status).toBe(400);
});

describe('a change feed when PostgreSQL', () => {
  const path = '/tickets/changes';
  const followed = () => ({ tenantId: workspace.tenantId, resource: 'tickets' });
  const dayMicroseconds = 86_400_000_000n;

  /**
   * Simulates a restart of PostgreSQL after all previous writes. Converts the cursor into a cursor that the server
   * could have issued before the restart.
   */
  async function startAgain(cursor: string): Promise<string> {
    await sql.query("UPDATE change_epochs SET started_at = started_at - interval '1 day'");
    await endSessions();
    const given = readCursor(followed(), cursor);
    return writeCursor(followed(), { ...given, startedAt: String(BigInt(given.startedAt) - dayMicroseconds) });
  }

  it('continues the change feed from a cursor after PostgreSQL restarts', async () => {
    const before = await workspace.createTicket();
    await expectChanges(path, undefined, [before.id]);
    const cursor = await startAgain((await walk(path)).cursor);
    expect((await walk(path, cursor)).ids).toEqual([]);
    const after = await workspace.createTicket();
    await expectChanges(path, cursor, [after.id]);
    const { rows } = await sql.query('SELECT DISTINCT position_offset::int AS given FROM change_epochs');
    expect(rows).toEqual([{ given: 0 }]);
  });

  it('lists every change in the change feed after PostgreSQL recovers from a crash', async () => {
    const before = await workspace.createTicket();
    await expectChanges(path, undefined, [before.id]);
    const { cursor } = await walk(path);
    // After a crash, PostgreSQL reuses transaction ids that it didn't write to disk. A cursor can then be ahead of new
    // changes.
    const lost = readCursor(followed(), cursor);
    const ahead = writeCursor(followed(), { ...lost, position: lost.position + 1_000_000 });
    // A crash empties unlogged tables and ends all database sessions.
    const { rows } = await sql.query("SELECT relpersistence FROM pg_class WHERE relname = 'server_runs'");
    expect(rows).toEqual([{ relpersistence: 'u' }]);
    await sql.query('DELETE FROM server_runs');
    await endSessions();
    expect((await walk(path, ahead)).ids).toEqual([before.id]);
    const after = await workspace.createTicket();
    await expectChanges(path, ahead, [before.id, after.id]);
    const next = (await walk(path, ahead)).cursor;
    expect((await walk(path, next)).ids).toEqual([]);
  });

  it('returns all changes if two transactions concurrently record a PostgreSQL recovery', async () => {
    const tickets = [await workspace.createTicket(), await workspace.createTicket()];
    await sql.query('DELETE FROM server_runs');
    await endSessions();
    const [early, late] = await Promise.all(
      tickets.map(async () => {
        const client = new pg.Client({ connectionString: api.databaseUrl });
        await client.connect();
        return client;
      }),
    );
    // The transaction with the lower transaction id writes last.
    await early?.query('BEGIN; SELECT pg_current_xact_id()');
    await late?.query('BEGIN; SELECT pg_current_xact_id()');
    const write = "UPDATE tickets SET title = 'After' WHERE tenant_id = $1 AND id = $2";
    await late?.query(write, idParameters(tickets[1]?.id as number));
    await early?.query(write, idParameters(tickets[0]?.id as number));
    await early?.query('COMMIT');
    await late?.query('COMMIT');
    await Promise.all([early?.end(), late?.end()]);

    const { rows } = await sql.query('SELECT FROM server_runs');
    expect(rows).toHaveLength(2);
    const ids = tickets.map(({ id }) => id);
    await expectChanges(path, undefined, ids);
    const first = await changes(path, { perPage: '1' });
    const second = await changes(path, { perPage: '1', cursor: first.cursor });
    expect([...first.ids, ...second.ids]).toEqual(ids);
    expect((await walk(path, second.cursor)).ids).toEqual([]);
  });

  it('does not block a write during another write if the clock is behind the last recorded server start', async () => {
    const tickets = [await workspace.createTicket(), await workspace.createTicket()];
    await sql.query("UPDATE change_epochs SET started_at = started_at + interval '1 hour'");
    await sql.query('DELETE FROM server_runs');
    await endSessions();
    const first = new pg.Client({ connectionString: api.databaseUrl });
    await first.connect();
    const write = "UPDATE tickets SET title = 'After' WHERE tenant_id = $1 AND id = $2";
    await first.query('BEGIN');
    await first.query(write, idParameters(tickets[0]?.id as number));
    await sql.query("SET statement_timeout = '5s'");
    await sql.query(write, idParameters(tickets[1]?.id as number));
    await sql.query('RESET statement_timeout');
    await first.query('COMMIT');
    await first.end();
    const ids = tickets.map(({ id }) => id);
    await expectChanges(path, undefined, ids);
  });

  it('lists every change even if the database was temporarily on another server', async () => {
    const before = await workspace.createTicket();
    await expectChanges(path, undefined, [before.id]);
    const given = readCursor(followed(), (await walk(path)).cursor);
    // Simulates that the database ran on another server for some time. The other server started later than the current
    // one.
    await sql.query(
      `INSERT INTO change_epochs
       SELECT max(begins_at) + 1, max(started_at) + interval '1 hour', 1, max(position_offset) FROM change_epochs`,
    );
    const { rows } = await sql.query('SELECT extract(epoch FROM max(started_at)) * 1000000 AS run FROM change_epochs');
    await endSessions();
    const there = { ...given, startedAt: String(Math.round(Number(rows[0].run))), position: given.position + 1000 };
    const after = await workspace.createTicket();
    await expectChanges(path, writeCursor(followed(), there), [before.id, after.id]);
  });

  it('lists every change after a database restore to a time before the server issued the cursor', async () => {
    const before = await workspace.createTicket();
    await expectChanges(path, undefined, [before.id]);
    const { cursor } = await walk(path);
    const lost = readCursor(followed(), cursor);
    const ahead = writeCursor(followed(), { ...lost, position: lost.position + 1_000_000 });
    const given = await startAgain(ahead);
    const after = await workspace.createTicket();
    await expectChanges(path, given, [before.id, after.id]);
  });

  it('lists every change after a database restore, even if a client reads before the first write', async () => {
    const before = await workspace.createTicket();
    await expectChanges(path, undefined, [before.id]);
    const lost = readCursor(followed(), (await walk(path)).cursor);
    const given = await startAgain(writeCursor(followed(), { ...lost, position: lost.position + 1_000_000 }));
    const { ids, cursor } = await walk(path, given);
    expect(ids).toEqual([before.id]);
    const after = await workspace.createTicket();
    await expectChanges(path, cursor, [after.id]);
  });

  it('lists all changes again after a database restore to a time before the last restart', async () => {
    const ids = [(await workspace.createTicket()).id, (await workspace.createTicket()).id];
    await expectChanges(path, undefined, ids);
    const given = readCursor(followed(), (await walk(path)).cursor);
    const unknown = writeCursor(followed(), { ...given, startedAt: String(BigInt(given.startedAt) + 1n) });
    await expectChanges(path, unknown, ids);
  });

  it.each([
    ['lower', 'was started since', 1_000_000_000],
    ['higher', 'was started since', -1_000_000_000],
    ['lower', 'has run for longer', 1_000_000_000],
    ['higher', 'has run for longer', -1_000_000_000],
  ])('continues the change feed if transaction numbers are %s on a new server that %s', async (_, since, by) => {
    const [first, second] = [await workspace.createTicket(), await workspace.createTicket()];
    await expectChanges(path, undefined, [first.id, second.id]);
    const { cursor } = await walk(path);
    // Shifts the transaction numbers of all changes, as if another server had recorded the changes.
    await sql.query('UPDATE changes SET position = position + $1, horizon = horizon + $1', [by]);
    await sql.query(
      `WITH gone AS (DELETE FROM change_epochs)
       INSERT INTO change_epochs SELECT min(position), server_ran_since(), 1, $1 FROM changes`,
      [by],
    );
    const place = readCursor(followed(), cursor);
    let moved = writeCursor(followed(), { ...place, position: place.position + by });
    if (since === 'was started since') moved = await startAgain(moved);
    else {
      // A database dump contains the change feed records of the server that wrote the dump.
      await sql.query('UPDATE server_runs SET system_identifier = 1');
      await endSessions();
    }

    // The next request makes the database record the new server, so the test opens a transaction before that request.
    const early = new pg.Client({ connectionString: api.databaseUrl });
    await early.connect();
    await early.query('BEGIN; SELECT pg_current_xact_id()');
    const third = await workspace.createTicket();
    expect((await walk(path, moved)).ids).toEqual([]);
    await early.query("UPDATE tickets SET title = 'Early' WHERE tenant_id = $1 AND id = $2", idParameters(first.id));
    await early.query('COMMIT');
    await early.end();
    await expectChanges(path, moved, [first.id, third.id]);
    await expectChanges(path, undefined, [second.id, first.id, third.id]);
    const { cursor: there } = await walk(path, moved);
    await workspace.call('PATCH', `/tickets/${second.id}`, { title: 'Later' });
    await expectChanges(path, there, [second.id]);
  });

  it.each([
    ['/comments/changes', 'comments'],
    ['/tickets/activity', 'activities'],
  ])('continues GET %s after a restore on a server with lower transaction numbers', async (path, table) => {
    const { resource, make } = writers[path] as Writer;
    const { id } = await make();
    await expectContained(path, [id]);
    const { cursor } = await walk(path);
    // Simulates that another server wrote the rows. No other table has such high positions.
    const by = 3_000_000_000;
    await sql.query(`UPDATE ${table} SET position = position + $1, horizon = horizon + $1 WHERE position > 0`, [by]);
    await sql.query('UPDATE change_epochs SET system_identifier = 1');
    await sql.query('UPDATE server_runs SET system_identifier = 1');
    await endSessions();
    const place = readCursor({ tenantId: workspace.tenantId, resource }, cursor);
    const moved = writeCursor({ tenantId: workspace.tenantId, resource }, { ...place, position: place.position + by });
    const next = await make();
    await expect.poll(async () => (await walk(path, moved)).ids).toContain(next.id);
    const { ids, cursor: there } = await walk(path, moved);
    expect(ids).not.toContain(id);
    const all = (await walk(path)).ids;
    expect(all).toContain(id);
    expect(all.at(-1)).toBe(next.id);
    expect((await walk(path, there)).ids).toEqual([]);
  });
});
