import { expect, it } from 'vitest';
import { formatChanges, runChanges } from './changes.ts';

/* Runs a short version of `pnpm faults changes`. */
it('returns every change in the change feed despite concurrent transactions and killed processes', {
  timeout: 300_000,
}, async () => {
  const report = await runChanges({ changes: 5000, betweenKills: 3000 });
  console.log(formatChanges(report));
  expect(report).toMatchObject({ missed: [], extra: [], crashes: [] });
  expect(report.kills).toBeGreaterThan(0);
});
