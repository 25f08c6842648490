import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['system/**', 'release/**', '**/node_modules/**'],
    environment: 'node',
    globalSetup: ['./support/global-setup.ts'],
    reporters: ['default', ['./support/plain-summary.ts', { budgetSeconds: 300 }]],
    pool: 'forks',
    // Each worker runs all its test files in one process, and loads the server only once. Therefore, test files must
    // not keep state in modules.
    isolate: false,
    // Starts one more worker than the machine has cores, because many tests wait for timers and other processes. With
    // two workers on two cores, the tests took 20% longer.
    maxWorkers: Math.min(availableParallelism() + 1, 6),
    // Only ends tests that hang. A busy machine can stall for several seconds.
    testTimeout: 300_000,
    // The default of one second is too short for a busy machine.
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 300_000,
    // Vitest reports a test as slow if it takes longer than 10 seconds. The threshold is high, because most tests query
    // a database or start a server.
    slowTestThreshold: 10_000,
  },
});
