import { Interrupted, UsageError } from './cli-errors.ts';

/** Maximum number of deliveries that a command replays without confirmation. */
export const maxUnconfirmedReplays = 10;

/**
 * Asks the user for confirmation in the terminal.
 * @param action completes the sentence "This will …"
 * @returns whether the user confirmed
 * @throws UsageError if standard input is not a terminal; scripts pass `--yes` instead
 * @throws Interrupted after Ctrl-C
 */
export async function confirm(action: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError([{ path: 'yes', message: `is required to ${action} without a terminal` }]);
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // If the user presses Ctrl-D, the input ends and `question` never resolves. The event `close` then resolves
    // `ended`.
    const ended = new Promise<string>((resolve, reject) => {
      terminal.once('SIGINT', () => reject(new Interrupted('SIGINT')));
      terminal.once('close', () => resolve(''));
    });
    const reply = await Promise.race([terminal.question(`This will ${action}. Continue? [y/N] `), ended]);
    return /^y(es)?$/i.test(reply.trim());
  } finally {
    terminal.close();
  }
}
