import { expect, it } from 'vitest';
import { isNightly } from '../../support/nightly.ts';
import { runProposals } from './proposals.ts';

it('writes each accepted proposal exactly once, and none whose target has changed, despite killed processes', async () => {
  const report = await runProposals(isNightly ? { proposals: 200, kills: 5 } : { proposals: 20, kills: 1 });
  console.log(report);
  expect(report).toMatchObject({ faults: [], crashes: [] });
  expect(report.statuses).toMatchObject({ ACCEPTED: expect.any(Number), STALE: expect.any(Number) });
});
