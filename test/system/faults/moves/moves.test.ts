import { expect, it } from 'vitest';
import { skipUnlessHaproxy } from '../haproxy.ts';
import { commands } from './commands.ts';
import { runMoves } from './moves.ts';
import { formatMoves } from './report.ts';

/* Runs a short version of `pnpm faults moves`, with one move in which each command is killed. */
it('loses no write, event or change if a tenant moves to another cell while clients use it', {
  timeout: 180_000,
  ...skipUnlessHaproxy(),
}, async () => {
  const report = await runMoves({
    tenants: 3,
    largest: 1000,
    moves: [[...commands]],
    perSecond: 5,
    isWaitShortened: true,
  });
  console.log(formatMoves(report));
  const { failed, lost, extra, missed, undelivered, wrong, crashes } = report;
  const faults = { failed, lost, extra, missed, undelivered, wrong, crashes };
  expect(faults).toEqual(Object.fromEntries(Object.keys(faults).map((name) => [name, []])));
  // Clients of the tenant wrote before and after the interruption.
  expect(report.acknowledged).toBeGreaterThan(100);
  expect(report.unavailable.writes).toBeGreaterThan(0);
});
