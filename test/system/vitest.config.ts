import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from '../vitest.config.ts';

/** The files that take longest, in order. If they started last, one of them would run alone at the end. */
const longest = ['model/model', 'process/stop', 'process/start', 'faults/moves', 'faults/rolling', 'faults/silence'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((name) => moduleId.includes(`/system/${name}`));
      return index < 0 ? longest.length : index;
    };
    return files.sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    ...config.test,
    root: import.meta.dirname,
    testTimeout: 900_000,
    exclude: ['**/node_modules/**'],
    globalSetup: ['../support/global-setup.ts'],
    reporters: ['default', ['../support/plain-summary.ts', { budgetSeconds: 120 }]],
    // These tests wait for other processes most of the time.
    maxWorkers: Math.min(2 * availableParallelism(), 8),
    sequence: { sequencer: LongestFirst },
  },
});
