import { basename } from 'node:path';

/** How the commands are called in examples that can be pasted: an image has them as `itsm`. */
export const programName = basename(process.argv[1] ?? '') === 'itsm' ? 'itsm' : 'npx -y pnpm@12 --silent itsm';

/** The end of a command's help. */
export function examples(...calls: string[]): string {
  return ['', 'Examples:', ...calls.map((call) => `  $ ${programName} ${call}`)].join('\n');
}
