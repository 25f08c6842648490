import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    environment: 'node',
    globalSetup: ['./support/global-setup.ts'],
    reporters: ['default', './support/plain-summary.ts'],
    pool: 'forks',
    // A worker loads the server once and runs one file after the other: no file keeps state in a module.
    isolate: false,
    // At least two, so that what only holds when nothing runs beside it does not pass on a small machine. Beyond that one
    // for each core: three on two cores take as long, and what measures time fails.
    maxWorkers: Math.min(Math.max(2, availableParallelism()), 6),
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // The output names tests that take longer. Most tests query a database or start a server, so the threshold is high.
    slowTestThreshold: 10_000,
  },
});
