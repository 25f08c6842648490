import { expect, it } from 'vitest';
import { formatSilence, runSilence } from './silence.ts';

/*
 * The short form of `pnpm faults silence`.
 */
it('answers, delivers and ends when all connections to PostgreSQL fall silent', { timeout: 240_000 }, async () => {
  const report = await runSilence({ statementTimeoutMs: 4000, perSecond: 20, silences: 1 });
  console.log(formatSilence(report));
  const { silences, longestAllowed, unanswered, endedAfter, crashes, lost, deliveries } = report;
  expect(deliveries).toBeGreaterThan(0);
  expect({ unanswered, crashes, lost }).toEqual({ unanswered: 0, crashes: [], lost: [] });
  for (const { connections, longestWait, answeredAgainAfter, longestWithoutDelivery } of silences) {
    expect(connections).toBeGreaterThan(0);
    // The machine may be busy; hanging would take minutes.
    expect(longestWait).toBeLessThanOrEqual(2 * longestAllowed);
    expect(answeredAgainAfter).toBeLessThanOrEqual(2 * longestAllowed);
    expect(longestWithoutDelivery).toBeLessThanOrEqual(2 * longestAllowed);
  }
  expect(endedAfter).toEqual({ api: expect.any(Number), worker: expect.any(Number) });
});
