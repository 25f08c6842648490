#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { type Command, CommanderError } from 'commander';
import { loadEnvFile } from '../config/env-file.ts';
import { buildProgram } from './program.ts';

// Prisma plans its queries in WebAssembly: to make the most of it takes longer than the few queries of a command.
setFlagsFromString('--liftoff-only');

const words = process.argv.slice(2);

// A reader such as `head` may go before everything is said; of what is said beside it, nobody waits for the rest.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.stderr.on('error', () => undefined);

let started: Command | undefined;
try {
  await loadEnvFile();
  if (words[0] === 'complete') {
    const { complete } = await import('./lib/complete.ts');
    await complete(words.slice(1));
  } else {
    const wanted = words[0] === 'help' ? words[1] : words[0];
    const program = await buildProgram((name) => name === wanted);
    program.hook('preAction', (_, command) => {
      started = command;
    });
    await program.parseAsync();
  }
} catch (error) {
  // Help was asked for, and has been printed.
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  // Knows the errors of everything, which takes a while to load.
  const { Interrupted, reportError } = await import('./lib/cli-errors.ts');
  process.exitCode = reportError(error, { command: started, json: words.includes('--json') });
  // What was under way must not connect again.
  if (error instanceof Interrupted) process.exit();
}
