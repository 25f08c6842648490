import { expect, it } from 'vitest';
import { formatIdempotency, runIdempotency } from './idempotency.ts';

/* Runs a short version of `pnpm faults idempotency`. */
it.each([
  { creates: 120, kills: 2, perRequest: 1 },
  { creates: 1000, kills: 1, perRequest: 20 },
])(
  'creates $creates tickets exactly once despite dropped responses and killed processes ($perRequest per request)',
  async (options) => {
    const report = await runIdempotency(options);
    console.log(formatIdempotency(report));
    expect(report).toMatchObject({ missing: [], repeated: [], miscounted: [], unexpected: [], crashes: [] });
    expect(report.cut).toBeGreaterThan(0);
    expect(report.replayed).toBeGreaterThan(0);
  },
);
