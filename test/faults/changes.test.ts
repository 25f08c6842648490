import { expect, it } from 'vitest';
import { formatChanges, runChanges } from './changes.ts';

/*
 * The short form of `pnpm faults changes`.
 */
it('tells all changes to who follows them, whatever overlaps and whatever is killed', {
  timeout: 300_000,
}, async () => {
  const report = await runChanges({ changes: 5000, betweenKills: 3000 });
  console.log(formatChanges(report));
  expect(report).toMatchObject({ missed: [], madeUp: [], crashes: [] });
  expect(report.kills).toBeGreaterThan(0);
});
