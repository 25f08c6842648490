import { statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';

/**
 * Returns the glob pattern of the test files that a filter of a test command selects. A filter is a folder, a file, the
 * beginning of a path such as `api/tasks`, or a part of a file name.
 * @param root the folder with the tests
 * @param startedIn the folder in which the user started the command; the filter can be a path relative to it
 */
export function selectTests(root: string, filter: string, startedIn: string): string {
  for (const folder of [root, startedIn]) {
    const path = relative(root, join(folder, filter));
    if (path.startsWith('..') || isAbsolute(path)) continue;
    const found = statSync(join(root, path), { throwIfNoEntry: false });
    if (found?.isDirectory()) return join(path, '**/*.test.ts');
    if (found?.isFile()) return path;
  }
  return filter.includes('/') ? `${filter}*.test.ts` : `**/*${filter}*.test.ts`;
}
