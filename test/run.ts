import { join } from 'node:path';
import { parseCLI, startVitest } from 'vitest/node';
import { compiled } from './support/compiled.ts';
import { selectTests } from './support/test-selection.ts';

/*
 * Runs tests: `node run.ts [--watch] [folder | file | part of a path …] [options of Vitest]`. A folder name selects
 * only the tests in this folder. For example, `api` doesn't select `openapi/`.
 */
Object.assign(process.env, compiled);
const { filter, options } = parseCLI(['vitest', ...process.argv.slice(2)]);
const root = process.cwd();
const include = filter.map((name) => selectTests(root, name, process.env.INIT_CWD ?? root));
// Vitest's own filters would also select all paths that contain a filter.
const selected = include.length > 0 ? { include } : {};
const vitest = await startVitest('test', [], { ...options, ...selected, watch: options.watch ?? false });
// Vitest watches only the folder of the tests.
const sources = ['server/src', 'contract/src', 'client/src'].map((folder) => join(import.meta.dirname, '..', folder));
if (options.watch) vitest.vite.watcher.add(sources);
if (!vitest.shouldKeepServer()) await vitest.exit();
