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
  return /^y(es)?$/i.test(await ask(action, 'Continue? [y/N]'));
}

/**
 * Asks the user to confirm an action by entering a name. Otherwise the same as `confirm`.
 * @returns whether the user entered the name
 */
export async function confirmName(action: string, name: string): Promise<boolean> {
  return (await ask(action, `Enter the name ${name} to continue:`)) === name;
}

async function ask(action: string, question: string): Promise<string> {
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
    const reply = await Promise.race([terminal.question(`This will ${action}. ${question} `), ended]);
    return reply.trim();
  } finally {
    terminal.close();
  }
}
