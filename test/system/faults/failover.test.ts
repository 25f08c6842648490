import { readCellStatus } from '@itsm-api/server/resources/tenants/cell-status.ts';
import { expect, it } from 'vitest';
import { openDatabase } from '../../support/installation.ts';
import { eventually } from '../../support/sender.ts';
import { formatFailovers, runFailovers } from './failover.ts';
import { skipUnlessHaproxy } from './haproxy.ts';
import { openPair } from './pair.ts';

/* Runs a short version of `pnpm faults failover`. */
it('loses no acknowledged change when the PostgreSQL primary fails and its standby is promoted', {
  ...skipUnlessHaproxy(),
}, async () => {
  const report = await runFailovers({
    losses: ['killed'],
    synchronous: true,
    perSecond: 25,
    calmMs: 1000,
    noticeMs: 200,
    readOnlyMs: 500,
  });
  console.log(formatFailovers(report));
  const { lost, createdTwice, falseDeliveries, unsigned, missed, extra, crashes } = report;
  const wrong = { lost, createdTwice, falseDeliveries, unsigned, missed, extra, crashes };
  expect(wrong).toEqual(Object.fromEntries(Object.keys(wrong).map((name) => [name, []])));
  expect(report.events).toBeGreaterThan(0);
  const [failover] = report.failovers;
  // Clients get no data from the standby before its promotion, and no data from the old primary afterwards.
  expect(failover).toMatchObject({ early: 0, withoutRetryAfter: 0, strayed: 0 });
  expect(failover?.failed['500']).toBeGreaterThan(0);
  // The limit is high because the test machine can be busy. `pnpm faults failover` allows five seconds.
  expect(failover?.firstWrite).toBeLessThan(20_000);
});

it('reports the standby of a cell and its replication lag', skipUnlessHaproxy(), async () => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const pair = await openPair(stops, false);
    const { runtime } = await openDatabase(pair.url, stops);
    await eventually(async () =>
      expect(await readCellStatus(runtime.databases)).toMatchObject({ standbys: 1, replicationLagBytes: 0 }),
    );
    await pair.lose('standby');
    await eventually(async () =>
      expect(await readCellStatus(runtime.databases)).toMatchObject({ standbys: 0, replicationLagBytes: null }),
    );
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
