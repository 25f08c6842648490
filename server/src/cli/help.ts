/** How the commands are called in examples that can be pasted. */
export const programName = 'npx -y pnpm@12 --silent itsm';

/** The end of a command's help. */
export function examples(...calls: string[]): string {
  return ['', 'Examples:', ...calls.map((call) => `  $ ${programName} ${call}`)].join('\n');
}
