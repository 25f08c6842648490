import { expect, it } from 'vitest';
import { formatFailovers, runFailovers } from './failover.ts';
import { skipUnlessHaproxy } from './haproxy.ts';

/* Runs a short version of `pnpm faults failover`. */
it('loses no acknowledged change when the PostgreSQL primary fails and its standby is promoted', {
  timeout: 300_000,
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
