import { setTimeout as sleep } from 'node:timers/promises';
import type { Ticket } from '@itsm-api/contract';
import pg from 'pg';
import { expect, it } from 'vitest';
import { type Answer, type Api, startApi } from '../../support/api.ts';
import { createWorkspace } from '../../support/workspace.ts';

/**
 * All tenants share a few database connections. The server assigns each connection to one tenant at a time. Even after
 * a connection failure, a request must return only rows of its own tenant.
 */
it('returns the requested rows or 500 while PostgreSQL cancels statements and ends connections', async () => {
  const api = await startApi({ ownDatabase: true });
  const reads = [...(await createReads(api)), ...(await createReads(api))];

  const disruptor = new pg.Client({ connectionString: api.databaseUrl });
  await disruptor.connect();
  const failures: unknown[] = [];
  let answered = 0;
  const begun = Date.now();
  // On a busy machine, PostgreSQL can take several seconds to cancel the first statement.
  const shouldContinue = () => Date.now() < begun + (failures.length === 0 ? 15_000 : 2000);
  const reading = Array.from({ length: 32 }, async (_, reader) => {
    for (let i = reader; shouldContinue(); i++) {
      const { read, expected } = reads[i % reads.length] as Read;
      const { status, body } = await read();
      if (status === 500) failures.push(body);
      else expect(body).toEqual(expected);
      answered++;
    }
  });
  const breaking = (async () => {
    for (let i = 0; shouldContinue(); i++, await sleep(3)) {
      const by = i % 10 === 0 ? 'pg_terminate_backend' : 'pg_cancel_backend';
      await disruptor.query(`SELECT ${by}(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'itsm-api requests' ORDER BY random() LIMIT 1`);
    }
  })();
  await Promise.all([...reading, breaking]);
  await disruptor.end();

  expect(failures.length).toBeGreaterThan(0);
  expect(answered - failures.length).toBeGreaterThan(failures.length);
  for (const { read, expected } of reads) expect((await read()).body).toEqual(expected);
  await api.close();
});

interface Read {
  read(): Promise<Answer>;
  expected: unknown;
}

/** Creates a tenant with ten tickets. Returns functions that read each ticket and two lists. */
async function createReads(api: Api): Promise<Read[]> {
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
