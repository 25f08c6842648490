import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseCLI, startVitest } from 'vitest/node';

/*
 * Runs tests: `node run.ts [--watch] [folder | file | part of a path …] [options of Vitest]`. A folder name selects
 * only the tests in this folder. For example, `api` doesn't select `openapi/`.
 */
const { filter, options } = parseCLI(['vitest', ...process.argv.slice(2)]);
const root = process.cwd();
const paths = filter.map((name) => {
  if (statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory()) return join(root, name, '/');
  return name.includes('/') ? join(root, name) : name;
});
const vitest = await startVitest('test', paths, { ...options, watch: options.watch ?? false });
if (!vitest.shouldKeepServer()) await vitest.exit();
