import { basename } from 'node:path';

/**
 * The program name for examples. The script `itsm` passes its name in ITSM_NAME. In container images, users call `itsm`
 * from PATH.
 */
export const programName = process.env.ITSM_NAME ?? (basename(process.argv[1] ?? '') === 'itsm' ? 'itsm' : './itsm');

/** Returns the examples for the end of the help of a command. */
export function examples(calls: readonly string[]): string {
  return ['', 'Examples:', ...calls.map((call) => `  $ ${programName} ${call}`)].join('\n');
}

/** A template tag that quotes values, so that users can paste the command into a shell. */
export function shell(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: strings }, ...values.map((value) => quoteWord(String(value))));
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
