import { contract } from '@itsm-api/contract/ts-rest';
import { expect, it } from 'vitest';
import { formatModel, runModel } from './run.ts';

/* Runs one episode of `pnpm model`. Each fault occurs once in the episode. */
it('responds as the model predicts during concurrent requests and process kills', { timeout: 600_000 }, async () => {
  const report = await runModel({ commands: 2000, seed: 0, shrinkFor: 60_000 });
  console.log(formatModel(report));
  expect(report).toMatchObject({ findings: [], crashes: [] });
  expect(Object.values(report.failures)).toEqual([1, 1, 1, 1, 1, 1]);

  const operations = Object.entries(contract).flatMap(([resource, routes]) =>
    Object.keys(routes).map((name) => `${resource}.${name}`),
  );
  expect(operations.filter((operation) => !(operation in report.succeeded))).toEqual([]);
});
