import { basename } from 'node:path';

/** The name that the user called the program by. The script `itsm` passes it in ITSM_NAME; images have `itsm` in PATH. */
export const programName = process.env.ITSM_NAME ?? (basename(process.argv[1] ?? '') === 'itsm' ? 'itsm' : './itsm');

/** Returns the examples at the end of a command's help. */
export function examples(calls: readonly string[]): string {
  return ['', 'Examples:', ...calls.map((call) => `  $ ${programName} ${call}`)].join('\n');
}

/** Quotes the values of a template, so that users can paste the call into a shell. */
export function shell(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: strings }, ...values.map((value) => quoteWord(String(value))));
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
