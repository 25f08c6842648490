#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { type Command, CommanderError } from 'commander';
import { loadEnvFile } from '../config/env-file.ts';
import { buildProgram } from './program.ts';

// Disables optimization of WebAssembly: Prisma plans queries in WebAssembly, and a command runs too few queries to
// benefit.
setFlagsFromString('--liftoff-only');

const words = process.argv.slice(2);

// Exits with 0 if a reader such as `head` closes stdout early. Ignores a closed stderr.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.stderr.on('error', () => undefined);

let started: Command | undefined;
try {
  await loadEnvFile();
  if (words[0] === 'complete') {
    const { complete } = await import('./lib/complete.ts');
    await complete(words.slice(1));
  } else {
    const requested = words[0] === 'help' ? words[1] : words[0];
    const program = await buildProgram((name) => name === requested);
    program.hook('preAction', (_, command) => {
      started = command;
    });
    await program.parseAsync();
  }
} catch (error) {
  // Exits without an error, because Commander has printed the requested help.
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  // Imports this module only after an error, because it imports the errors of many modules.
  const { Interrupted, reportError } = await import('./lib/cli-errors.ts');
  process.exitCode = reportError(error, { command: started, json: words.includes('--json') });
  // Exits immediately, so that pending work doesn't open connections again.
  if (error instanceof Interrupted) process.exit();
}
