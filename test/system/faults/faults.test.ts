import { expect, it } from 'vitest';
import { runFaults } from './faults.ts';
import { formatFigures } from './figures.ts';

/* Runs a short version of `pnpm faults`. */
it('loses no change and sends no wrong event while processes are killed', async () => {
  const report = await runFaults({ kills: 3, events: 100, betweenKills: 2000 });
  console.log(formatFigures(report));
  const { lost, createdTwice, falseDeliveries, unsigned, unexplained, unexpected, crashes } = report;
  const wrong = { lost, createdTwice, falseDeliveries, unsigned, unexplained, unexpected, crashes };
  expect(wrong).toEqual(Object.fromEntries(Object.keys(wrong).map((name) => [name, []])));
  expect(report.managed.secrets).toBeGreaterThan(0);
  expect(report.drainSeconds).toBeLessThan(90);
});
