/** How the program was called: `itsm` from a folder of PATH, else by its place. */
export const programName = process.env.ITSM_NAME ?? './itsm';

/** The end of a command's help. */
export function examples(calls: readonly string[]): string {
  return ['', 'Examples:', ...calls.map((call) => `  $ ${programName} ${call}`)].join('\n');
}

/** Words as a shell takes them, in a call that can be pasted. */
export function shell(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: strings }, ...values.map((value) => quoted(String(value))));
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
