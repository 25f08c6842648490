import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Returns true if one of the programs is installed. Otherwise, returns false and logs that the tests are skipped.
 * @param subject what the tests cover, in the plural
 * @throws in CI if no program is installed
 */
export function canTest(subject: string, programs: string[]): boolean {
  if (find(programs) !== undefined) return true;
  if (process.env.CI) throw new Error(`${subject} can't be tested: ${missing(programs)}.`);
  console.log(`${subject} are not tested: ${missing(programs)}.`);
  return false;
}

/**
 * Returns the path of the first installed program.
 * @throws if no program is installed
 */
export function pathOf(programs: string[]): string {
  const path = find(programs);
  if (path === undefined) throw new Error(`There is ${missing(programs)}.`);
  return path;
}

function find(programs: string[]): string | undefined {
  // Debian installs servers in `/usr/sbin`, which only root has in its PATH.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return programs.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

function missing(programs: string[]): string {
  return `${programs.map((name) => `no ${name}`).join(' and ')} in PATH`;
}
