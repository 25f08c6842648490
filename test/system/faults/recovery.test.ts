import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix, type Ticket } from '@itsm-api/contract';
import { expect, it } from 'vitest';
import { openArchivedPostgres, skipUnlessPostgres } from '../../support/archived-postgres.ts';
import { query } from '../../support/database.ts';
import { openDatabase } from '../../support/installation.ts';
import { eventually } from '../../support/sender.ts';
import { spawnServer } from '../../support/server-process.ts';
import { addWorkspace } from '../../support/subscribed-workspaces.ts';

it('returns all rows for a cursor that the server issued after the time of a recovery', {
  ...skipUnlessPostgres(),
}, async () => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await openArchivedPostgres(stops);
    const { runtime, apiUrl, env } = await openDatabase(postgres.url, stops);
    const { key } = await addWorkspace(runtime, 'Followed');
    const startApi = async () => {
      const { child, ready, exited } = spawnServer({ ...env, ROLES: 'api' });
      const stop = async () => {
        child.kill('SIGTERM');
        await exited;
      };
      stops.push(stop);
      await ready;
      return stop;
    };
    const call = async <Data>(method: string, path: string, body?: object, ifMatch?: string) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(`${apiUrl}${pathPrefix}${path}`, {
        method,
        headers: { ...headers, ...(ifMatch && { 'if-match': ifMatch }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const { data, meta } = (await response.json()) as { data: Data; meta: { nextCursor: string } };
      return { status: response.status, data, meta };
    };
    const create = async (title: string, count: number): Promise<Ticket[]> => {
      const ticket = { title, description: 'x', type: 'INCIDENT', category: 'NETWORK' };
      const tickets = Array(count).fill(ticket);
      const { data } = await call<{ data: Ticket }[]>('POST', '/tickets/bulk', { tickets });
      return data.map(({ data }) => data);
    };
    const rename = (id: number, title: string, ifMatch?: string) =>
      call<Ticket>('PATCH', `/tickets/${id}`, { title }, ifMatch);

    /** The copy of a client that follows the changes, and its cursor. */
    const copy = new Map<number, Ticket>();
    let cursor: string | undefined;
    const follow = async () => {
      const given = cursor === undefined ? '' : `&cursor=${cursor}`;
      const { data, meta } = await call<Ticket[]>('GET', `/tickets/changes?perPage=100${given}`);
      for (const ticket of data) copy.set(ticket.id, ticket);
      cursor = meta.nextCursor;
    };
    /** Follows the changes until the copy contains the current version of each ticket. */
    const expectComplete = () =>
      eventually(async () => {
        await follow();
        const { data } = await call<Ticket[]>('GET', '/tickets?perPage=100');
        expect(data.map(({ id }) => copy.get(id))).toEqual(data);
      });

    const stopApi = await startApi();
    const [changed] = (await create('in the backup', 1)) as [Ticket];
    await postgres.backUp();
    await postgres.verify();
    const [kept] = (await create('in the archived WAL', 1)) as [Ticket];
    const [{ time }] = (await query(postgres.url, 'SELECT clock_timestamp()::text AS time')) as [{ time: string }];
    await sleep(50);
    // The recovery skips the ids of the first lost transaction and 32 more ids, because PostgreSQL logs the ids of a
    // sequence in advance.
    const lost = [...(await create('lost', 1)), ...(await create('also lost', 60))].map(({ id }) => id);
    const { etag } = (await rename(changed.id, 'lost change')).data;
    await expectComplete();

    await postgres.archive();
    await stopApi();
    await postgres.lose();
    await postgres.restore();
    await postgres.recover(time);
    await startApi();

    await follow();
    expect(copy.get(changed.id)).toEqual(changed);
    expect(copy.get(kept.id)).toEqual(kept);
    const created = (await create('new', 40)).map(({ id }) => id);
    expect(lost.some((id) => created.includes(id))).toBe(true);
    // The new change gets the version of the lost change.
    expect((await rename(changed.id, 'new change')).status).toBe(200);
    expect((await rename(changed.id, 'overwritten', etag)).status).toBe(412);
    await expectComplete();
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
