import { defineConfig } from 'vitest/config';
import config from '../vitest.config.ts';

export default defineConfig({
  test: {
    ...config.test,
    root: import.meta.dirname,
    exclude: ['**/node_modules/**'],
    globalSetup: ['../support/global-setup.ts'],
    reporters: ['default', ['../support/plain-summary.ts', { budgetSeconds: 480 }]],
  },
});
