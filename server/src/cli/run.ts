import { type Command, CommanderError } from 'commander';
import { buildProgram } from './program.ts';

/**
 * Runs a command, and prints its output and errors.
 * @param words the command-line arguments, without the program name
 * @param prepare called before the command; its errors are printed like the errors of the command
 * @returns the exit code
 */
export async function runCommandLine(words: string[], prepare?: () => Promise<void>): Promise<number> {
  let started: Command | undefined;
  try {
    await prepare?.();
    if (words[0] === '--version' || words[0] === '-V') {
      const { openApiDocument } = await import('@itsm-api/contract/openapi');
      process.stdout.write(`${openApiDocument().info.version}\n`);
    } else if (words[0] === 'complete') {
      const { complete } = await import('./lib/complete.ts');
      const { commands } = await import('./command-table.ts');
      await complete(commands, words.slice(1));
    } else {
      const requested = words[0] === 'help' ? words[1] : words[0];
      const program = await buildProgram((name) => name === requested);
      program.hook('preAction', (_, command) => {
        started = command;
      });
      await program.parseAsync(words, { from: 'user' });
    }
    return 0;
  } catch (error) {
    // Commander throws this error after it has printed help that the user requested.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    // Imports `cli-errors.ts` only after an error, because it imports many modules.
    const { reportError } = await import('./lib/cli-errors.ts');
    return reportError(error, { command: started, json: words.includes('--json') });
  }
}
