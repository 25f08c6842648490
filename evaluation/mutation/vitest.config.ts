import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import config from '../../test/vitest.config.ts';

/*
 * Runs the tests of one subject on a copy of the repository that contains the mutants. The aliases resolve packages to
 * the copy, because `node_modules` links to the packages of the original repository.
 */
const root = join(import.meta.dirname, '../..');

export default defineConfig({
  root: join(root, 'test'),
  resolve: {
    alias: [
      { find: /^@itsm-api\/contract$/, replacement: join(root, 'contract/src/index.ts') },
      { find: /^@itsm-api\/(contract|client)\/([\w-]+)$/, replacement: join(root, '$1/src/$2.ts') },
      { find: /^@itsm-api\/server\//, replacement: join(root, 'server/src/') },
    ],
  },
  test: { ...config.test, include: process.env.MUTATION_TESTS?.split(',') ?? [] },
});
