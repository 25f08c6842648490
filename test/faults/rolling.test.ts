import { expect, it } from 'vitest';
import { hasHaproxy } from './haproxy.ts';
import { formatRolling, runRolling } from './rolling.ts';

/*
 * The short form of `pnpm faults rolling`.
 */
it.skipIf(!hasHaproxy())(
  'loses no request when both processes below HAProxy are restarted',
  {
    timeout: 180_000,
  },
  async () => {
    const report = await runRolling({ perSecond: 150, requests: 3000, drainSeconds: 3 });
    console.log(formatRolling(report));
    expect(report).toMatchObject({ failed: [], crashes: [] });
    expect(report.requests).toBeGreaterThanOrEqual(3000);
  },
);
