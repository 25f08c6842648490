import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { selectTests } from './test-selection.ts';

const root = dirname(import.meta.dirname);

it.each([
  ['api', /^api\//],
  ['api/', /^api\//],
  ['api/tasks', /^api\/tasks\.test\.ts$/],
  ['api/tickets', /^api\/tickets[\w-]*\.test\.ts$/],
  ['api/tasks.test.ts', /^api\/tasks\.test\.ts$/],
  ['test/api/tasks.test.ts', /^api\/tasks\.test\.ts$/],
  ['test/mcp', /^mcp\//],
  ['catalog', /\/catalog\.test\.ts$/],
  ['refused', /\/refused-connections\.test\.ts$/],
])('selects the tests of the filter %s', (filter, expected) => {
  const files = globSync(selectTests(root, filter, dirname(root)), { cwd: root });
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(file).toMatch(expected);
  expect(files).toHaveLength(globSync('**/*.test.ts', { cwd: root }).filter((file) => expected.test(file)).length);
});

it('selects a path relative to the tests before a path relative to the folder of the command', () => {
  expect(selectTests(root, 'client', dirname(root))).toBe(join('client', '**/*.test.ts'));
});
