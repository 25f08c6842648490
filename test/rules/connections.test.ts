import { setTimeout as sleep } from 'node:timers/promises';
import type { Ticket } from '@itsm-api/contract';
import { SharedConnections } from '@itsm-api/server/database/shared-connections.ts';
import pg from 'pg';
import { expect, it } from 'vitest';
import { type Answer, type Api, startApi } from '../support/api.ts';
import { workerDatabaseUrl } from '../support/database.ts';
import { createWorkspace } from '../support/workspace.ts';

/*
 * Reads of all tenants share connections, where the answers come one after the other. Whatever happens to those
 * connections, nobody gets an answer that is another's.
 */
it('answers each read with what it asked for, or 500, while statements are ended and connections broken', async () => {
  const api = await startApi({ ownDatabase: true });
  const reads = [...(await readsOfNewTenant(api)), ...(await readsOfNewTenant(api))];

  const saboteur = new pg.Client({ connectionString: api.databaseUrl });
  await saboteur.connect();
  const failures: unknown[] = [];
  let answered = 0;
  const end = Date.now() + 2000;
  const reading = Array.from({ length: 32 }, async (_, reader) => {
    for (let i = reader; Date.now() < end; i++) {
      const { read, expected } = reads[i % reads.length] as Read;
      const { status, body } = await read();
      if (status === 500) failures.push(body);
      else expect(body).toEqual(expected);
      answered++;
    }
  });
  const breaking = (async () => {
    for (let i = 0; Date.now() < end; i++, await sleep(3)) {
      const by = i % 10 === 0 ? 'pg_terminate_backend' : 'pg_cancel_backend';
      await saboteur.query(`SELECT ${by}(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'itsm-api' ORDER BY random() LIMIT 1`);
    }
  })();
  await Promise.all([...reading, breaking]);
  await saboteur.end();

  expect(failures.length).toBeGreaterThan(0);
  expect(answered - failures.length).toBeGreaterThan(failures.length);
  for (const { read, expected } of reads) expect((await read()).body).toEqual(expected);
  await api.close();
});

interface Read {
  read(): Promise<Answer>;
  expected: unknown;
}

/** Reads of ten tickets of a new tenant, one by one and as lists. */
async function readsOfNewTenant(api: Api): Promise<Read[]> {
  const workspace = await createWorkspace(api);
  const tickets: Ticket[] = [];
  for (let i = 0; i < 10; i++) tickets.push(await workspace.createTicket());
  const list = { data: tickets.toReversed(), meta: { page: 1, perPage: 20, totalCount: 10 } };
  return [
    ...['/tickets', '/tickets?status=OPEN'].map((path) => ({ path, answer: list })),
    ...tickets.map((data) => ({ path: `/tickets/${data.id}`, answer: { data } })),
  ].map(({ path, answer }) => ({
    read: () => workspace.call('GET', path),
    expected: { success: true, ...answer },
  }));
}

it('gives nobody the answer to another question, and asks no more on that connection', async () => {
  const connectionString = await workerDatabaseUrl();
  const shared = new SharedConnections({ connectionString, max: 1 }, () => undefined);
  const pid = 'SELECT $1::int AS question, pg_backend_pid() AS pid';
  const backend = () => shared.ask<{ pid: number }>({ name: 'pid', text: pid, values: [] });
  const { pid: first } = await backend();
  expect((await backend()).pid).toBe(first);
  const wrong = shared.ask({ name: 'wrong', text: 'SELECT $1::int + 1 AS question', values: [] });
  await expect(wrong).rejects.toThrow('PostgreSQL was asked question 3 and answered 4.');
  expect((await backend()).pid).not.toBe(first);
  await shared.end();
});
