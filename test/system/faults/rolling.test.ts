import { expect, it } from 'vitest';
import { hasHaproxy } from './haproxy.ts';
import { formatRolling, runRolling } from './rolling.ts';

/* Runs a short version of `pnpm faults rolling`. */
it.skipIf(!hasHaproxy('Rolling restarts'))(
  'loses no request during a rolling restart of two server processes behind HAProxy',
  {
    timeout: 300_000,
  },
  async () => {
    const { balancers, ...report } = await runRolling({ perSecond: 100, requests: 2000, drainSeconds: 5 });
    console.log(formatRolling({ balancers, ...report }));
    expect(report.crashes).toEqual([]);
    const { deployed, plain } = balancers;
    expect({ deployed: deployed.failed, plain: plain.failed }).toEqual({ deployed: [], plain: [] });
    expect(deployed.requests + plain.requests).toBeGreaterThanOrEqual(2000);
  },
);
