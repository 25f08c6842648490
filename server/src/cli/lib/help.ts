import { basename } from 'node:path';

/**
 * The program name in examples. The `itsm` script passes its name in ITSM_NAME. Container images have `itsm` in the
 * PATH, so the name has no path there.
 */
export const programName = process.env.ITSM_NAME ?? (basename(process.argv[1] ?? '') === 'itsm' ? 'itsm' : './itsm');

/** Formats the examples at the end of a command's help. */
export function examples(calls: readonly string[]): string {
  return ['', 'Examples:', ...calls.map((call) => `  $ ${programName} ${call}`)].join('\n');
}

/** A template tag that quotes values for the shell, so that users can paste the resulting command. */
export function shell(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: strings }, ...values.map((value) => quoteWord(String(value))));
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
