import { expect, it } from 'vitest';
import { formatChanges, runChanges } from './changes.ts';

/* Runs `pnpm faults changes` with small numbers. */
it('delivers all changes to the change feed during concurrent transactions and process kills', {
  timeout: 300_000,
}, async () => {
  const report = await runChanges({ changes: 5000, betweenKills: 3000 });
  console.log(formatChanges(report));
  expect(report).toMatchObject({ missed: [], extra: [], crashes: [] });
  expect(report.kills).toBeGreaterThan(0);
});
