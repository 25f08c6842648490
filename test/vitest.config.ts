import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['system/**', '**/node_modules/**'],
    environment: 'node',
    globalSetup: ['./support/global-setup.ts'],
    reporters: ['default', ['./support/plain-summary.ts', { budgetSeconds: 300 }]],
    pool: 'forks',
    // Each worker runs its test files in one process, so that it loads the server only once. No test file may keep
    // state in a module.
    isolate: false,
    // Uses at least two workers, so that tests also run concurrently on a small machine. More workers than cores would
    // save no time, and tests that measure time would fail.
    maxWorkers: Math.min(Math.max(2, availableParallelism()), 6),
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // The output lists tests that take longer than this. Most tests query a database or start a server, so the
    // threshold is high.
    slowTestThreshold: 10_000,
  },
});
