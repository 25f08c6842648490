import { Interrupted, UsageError } from './cli-errors.ts';

/** Sending more deliveries than these again is asked about. */
export const askOnStderr = 10;

/**
 * Asks the person whether to do something, for which `--yes` is the answer where nobody can be asked.
 * Resolves to the answer. @throws UsageError naming `--yes` when there is no terminal; Interrupted
 */
export async function confirm(what: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError([{ path: 'yes', message: `is needed to ${what}` }]);
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // The end of input (Ctrl+D) answers no question.
    const ended = new Promise<string>((resolve, reject) => {
      terminal.once('SIGINT', () => reject(new Interrupted('SIGINT')));
      terminal.once('close', () => resolve(''));
    });
    const answer = await Promise.race([terminal.question(`This would ${what}. Go on? [y/N] `), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
