import { expect, it } from 'vitest';
import { formatReplay, runReplay } from './replay.ts';

/* Runs a short version of `pnpm faults replay`. */
it('replays all requested deliveries while workers are killed', async () => {
  const report = await runReplay({ deliveries: 2000, kills: 2, betweenKills: 100 });
  console.log(formatReplay(report));
  const { lost, notRequested, unsettled, crashes } = report;
  expect({ lost, notRequested, unsettled, crashes }).toEqual({
    lost: [],
    notRequested: [],
    unsettled: {},
    crashes: [],
  });
  expect(report.killsWhileReplaying).toBeGreaterThan(0);
});
