import { expect, it } from 'vitest';
import { formatSilence, runSilence } from './silence.ts';

/* Runs a short version of `pnpm faults silence`. */
it('keeps working and can shut down while all PostgreSQL connections hang', async () => {
  const report = await runSilence({ statementTimeoutMs: 2000, perSecond: 10, silences: 1 });
  console.log(formatSilence(report));
  const { silences, maxAllowedMs, withoutResponse, endedAfter, crashes, lost, deliveries } = report;
  expect(deliveries).toBeGreaterThan(0);
  expect({ withoutResponse, crashes, lost }).toEqual({ withoutResponse: 0, crashes: [], lost: [] });
  for (const { connections, maxWaitMs, recoveredAfter, maxMsWithoutDelivery } of silences) {
    expect(connections).toBeGreaterThan(0);
    // The test doubles the limits because the machine can be busy. A hang would take minutes.
    expect(maxWaitMs).toBeLessThanOrEqual(2 * maxAllowedMs);
    expect(recoveredAfter).toBeLessThanOrEqual(2 * maxAllowedMs);
    expect(maxMsWithoutDelivery).toBeLessThanOrEqual(2 * maxAllowedMs);
  }
  expect(endedAfter).toEqual({ api: expect.any(Number), worker: expect.any(Number) });
});
