/** How the commands are called in examples that can be pasted. */
export const programName = 'pnpm -s itsm';

/** The end of a command's help. */
export function examples(...calls: string[]): string {
  return ['', 'Examples:', ...calls.map((call) => `  $ ${programName} ${call}`)].join('\n');
}
