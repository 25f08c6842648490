import { defineConfig } from 'vitest/config';
import config from '../vitest.config.ts';

export default defineConfig({
  test: {
    ...config.test,
    root: import.meta.dirname,
    exclude: ['**/node_modules/**'],
    globalSetup: ['../support/global-setup.ts'],
    reporters: ['default', ['../support/plain-summary.ts', { budgetSeconds: 300 }]],
    hookTimeout: 240_000,
    testTimeout: 120_000,
  },
});
