import { expect, it } from 'vitest';
import { skipUnlessHaproxy } from '../haproxy.ts';
import { runMoves } from './moves.ts';
import { formatMoves } from './report.ts';

/* Runs a short version of `pnpm faults moves`, with one move in which two commands are killed. */
it('loses no write, event or change if a tenant moves to another cell while clients use it', {
  ...skipUnlessHaproxy(),
}, async () => {
  const report = await runMoves({
    tenants: 3,
    largest: 300,
    moves: [['export', 'import']],
    perSecond: 5,
    isWaitShortened: true,
  });
  console.log(formatMoves(report));
  const { failed, lost, extra, missed, undelivered, wrong, crashes } = report;
  const faults = { failed, lost, extra, missed, undelivered, wrong, crashes };
  expect(faults).toEqual(Object.fromEntries(Object.keys(faults).map((name) => [name, []])));
  // Clients of the tenant wrote before and after the interruption.
  expect(report.acknowledged).toBeGreaterThan(50);
  expect(report.unavailable.writes).toBeGreaterThan(0);
});
