import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(new URL('../runtimes/package.json', import.meta.url));

/**
 * Returns the path of a program in a package of `test/runtimes`, or undefined if the package doesn't install on this
 * machine.
 */
export function runtimePath(name: string, program = 'bin/node'): string | undefined {
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), program);
  } catch {
    return undefined;
  }
}
