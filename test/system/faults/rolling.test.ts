import { expect, it } from 'vitest';
import { skipUnlessHaproxy } from './haproxy.ts';
import { formatRolling, runRolling } from './rolling.ts';

/* Runs a short version of `pnpm faults rolling`, at a rate that a busy machine with two cores can serve. */
it('loses no request during a rolling restart of two server processes behind HAProxy', {
  ...skipUnlessHaproxy(),
}, async () => {
  const { balancers, ...report } = await runRolling({ perSecond: 40, requests: 500, drainSeconds: 5 });
  console.log(formatRolling({ balancers, ...report }));
  expect(report.crashes).toEqual([]);
  const { deployed, plain } = balancers;
  expect({ deployed: deployed.failed, plain: plain.failed }).toEqual({ deployed: [], plain: [] });
  expect(deployed.requests + plain.requests).toBeGreaterThanOrEqual(500);
});
