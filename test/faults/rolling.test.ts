import { expect, it } from 'vitest';
import { hasHaproxy } from './haproxy.ts';
import { formatRolling, runRolling } from './rolling.ts';

/*
 * The short form of `pnpm faults rolling`.
 */
it('loses no request when both processes below HAProxy are restarted', { timeout: 180_000 }, async (context) => {
  if (!hasHaproxy) {
    // On a developer's machine it is let be; the checks before a change lands install it.
    if (process.env.CI) throw new Error('HAProxy is missing: apt-get install haproxy');
    context.skip('HAProxy is not installed: apt-get install haproxy');
  }
  const report = await runRolling({ perSecond: 150, requests: 3000, drainSeconds: 3 });
  console.log(formatRolling(report));
  expect(report).toMatchObject({ failed: [], crashes: [] });
  expect(report.requests).toBeGreaterThanOrEqual(3000);
});
