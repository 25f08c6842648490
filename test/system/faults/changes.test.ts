import { readCursor, writeCursor } from '@itsm-api/server/resources/sync/change-cursor.ts';
import { listChanges } from '@itsm-api/server/resources/sync/change-feed.ts';
import { ticketRows } from '@itsm-api/server/resources/tickets/queries.ts';
import { createTicket } from '@itsm-api/server/resources/tickets/ticket-creation.ts';
import pg from 'pg';
import { expect, it } from 'vitest';
import { query } from '../../support/database.ts';
import { openInstallation } from '../../support/installation.ts';
import { eventually } from '../../support/sender.ts';
import { addWorkspace } from '../../support/subscribed-workspaces.ts';
import { formatChanges, runChanges } from './changes.ts';

/* Runs a short version of `pnpm faults changes`. */
it('returns every change in the change feed despite concurrent transactions and killed processes', async () => {
  const report = await runChanges({ changes: 2500, betweenKills: 2000 });
  console.log(formatChanges(report));
  expect(report).toMatchObject({ missed: [], extra: [], crashes: [] });
  expect(report.kills).toBeGreaterThan(0);
});

it('returns every change after a recovery that keeps the table `server_runs`, as Amazon Aurora does', async () => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { postgres, runtime } = await openInstallation(stops);
    await query(postgres.url, 'ALTER TABLE server_runs SET LOGGED');
    const { context } = await addWorkspace(runtime, 'Followed');
    const create = (title: string) =>
      createTicket(context, { title, description: 'x', type: 'INCIDENT', category: 'NETWORK' });
    const read = (cursor?: string) => listChanges(context, ticketRows, { perPage: 100, cursor });
    const titlesAfter = async (cursor?: string) => (await read(cursor)).data.map(({ title }) => title);
    await create('before');
    await eventually(async () => expect(await titlesAfter()).toEqual(['before']));
    // After a recovery, PostgreSQL reuses transaction ids that it didn't write to disk. A cursor can then be ahead of
    // new changes.
    const feed = { tenantId: context.db.$tenantId, resource: ticketRows.resource };
    const lost = readCursor(feed, (await read()).meta.nextCursor);
    const ahead = writeCursor(feed, { ...lost, position: lost.position + 1_000_000 });

    const startedAt = () => query(postgres.url, 'SELECT pg_postmaster_start_time()::text');
    const before = await startedAt();
    const session = new pg.Client({ connectionString: postgres.url });
    await session.connect();
    // PostgreSQL ends all sessions before it recovers.
    const ended = new Promise((resolve) => session.once('error', resolve));
    expect(await postgres.killOne()).toBe(true);
    await ended;
    await eventually(async () => expect(await titlesAfter(ahead)).toEqual(['before']));
    expect(await startedAt()).toEqual(before);
    expect(await query(postgres.url, 'SELECT FROM server_runs')).not.toEqual([]);
    await create('after');
    await eventually(async () => expect(await titlesAfter(ahead)).toEqual(['before', 'after']));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
