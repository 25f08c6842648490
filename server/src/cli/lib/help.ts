import { basename } from 'node:path';

/** How the program was called, as `itsm` says it; an image has it as `itsm`. */
export const programName = process.env.ITSM_NAME ?? (basename(process.argv[1] ?? '') === 'itsm' ? 'itsm' : './itsm');

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
