import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestOptions } from 'vitest';
import { skipUnless } from './skip-unless.ts';

/**
 * Returns options of `it` and `describe` that skip tests unless one of the programs is installed.
 * @throws in CI if no program is installed
 */
export function skipUnlessInstalled(programs: string[]): TestOptions {
  const isInstalled = find(programs) !== undefined;
  if (!isInstalled && process.env.CI) throw new Error(missing(programs));
  return skipUnless(isInstalled, missing(programs));
}

/**
 * Returns the path of the first installed program.
 * @throws if no program is installed
 */
export function pathOf(programs: string[]): string {
  const path = find(programs);
  if (path === undefined) throw new Error(missing(programs));
  return path;
}

function find(programs: string[]): string | undefined {
  // Debian installs servers in `/usr/sbin`, which only root has in its PATH, and programs of PostgreSQL in a folder of
  // each version.
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin',
    ...globSync('/usr/lib/postgresql/*/bin').sort().reverse(),
  ];
  return programs.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

function missing(programs: string[]): string {
  return `${programs.join(' or ')} is not installed. To install it, run \`.ci/install-programs\`.`;
}
