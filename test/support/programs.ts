import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Whether one of the programs is installed that some tests need; says so where none is.
 * @param subject what is tested with it, in the plural
 * @throws in CI, where nothing is skipped
 */
export function canTest(subject: string, programs: string[]): boolean {
  if (find(programs) !== undefined) return true;
  if (process.env.CI) throw new Error(`${subject} can't be tested: ${missing(programs)}.`);
  console.log(`${subject} are not tested: ${missing(programs)}.`);
  return false;
}

/** Where the first of these programs is. @throws where none is installed */
export function pathOf(programs: string[]): string {
  const path = find(programs);
  if (path === undefined) throw new Error(`There is ${missing(programs)}.`);
  return path;
}

function find(programs: string[]): string | undefined {
  // Debian keeps servers where only root looks for programs.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return programs.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

function missing(programs: string[]): string {
  return `${programs.map((name) => `no ${name}`).join(' and ')} in PATH`;
}
