import { expect, it } from 'vitest';
import { formatFailovers, runFailovers } from './failover.ts';
import { hasHaproxy } from './haproxy.ts';

/*
 * The short form of `pnpm faults failover`.
 */
it.skipIf(!hasHaproxy('Failovers'))(
  'loses nothing and goes on when the primary is lost and its standby promoted',
  { timeout: 300_000 },
  async () => {
    const report = await runFailovers({
      losses: ['killed'],
      synchronous: true,
      perSecond: 25,
      calmMs: 1000,
      noticeMs: 200,
      readOnlyMs: 500,
    });
    console.log(formatFailovers(report));
    const { lost, madeTwice, sentForUndone, unsigned, missed, madeUp, crashes } = report;
    const wrong = { lost, madeTwice, sentForUndone, unsigned, missed, madeUp, crashes };
    expect(wrong).toEqual(Object.fromEntries(Object.keys(wrong).map((name) => [name, []])));
    expect(report.events).toBeGreaterThan(0);
    const [failover] = report.failovers;
    // Nobody is told of what the standby has before it is the primary, nor led to the one of before.
    expect(failover).toMatchObject({ early: 0, untold: 0, strayed: 0 });
    expect(failover?.failed['500']).toBeGreaterThan(0);
    // The machine may be busy: `pnpm faults failover` holds it to five seconds.
    expect(failover?.firstWrite).toBeLessThan(20_000);
  },
);
