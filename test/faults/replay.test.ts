import { expect, it } from 'vitest';
import { formatReplay, runReplay } from './replay.ts';

/*
 * The short form of `pnpm faults replay`.
 */
it('sends everything again that a replay asks for, whatever becomes of the workers', { timeout: 300_000 }, async () => {
  const report = await runReplay({ deliveries: 6000, kills: 4, betweenKills: 300 });
  console.log(formatReplay(report));
  const { lost, sentUnasked, unsettled, unexplained, crashes } = report;
  expect({ lost, sentUnasked, unsettled, unexplained, crashes }).toEqual({
    lost: [],
    sentUnasked: [],
    unsettled: {},
    unexplained: [],
    crashes: [],
  });
  expect(report.killsWhileReplaying).toBeGreaterThan(0);
});
