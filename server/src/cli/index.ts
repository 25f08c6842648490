#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { loadEnvFile } from '../config/env-file.ts';
import { runCommandLine } from './run.ts';

// Disables optimization of WebAssembly: Prisma plans queries in WebAssembly, and a command runs too few queries to
// benefit.
setFlagsFromString('--liftoff-only');

// Exits with 0 if a reader such as `head` closes stdout early. Ignores a closed stderr.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.stderr.on('error', () => undefined);

const words = process.argv.slice(2);
process.exitCode = await runCommandLine(words, loadEnvFile);
// After a signal, exits immediately, so that pending work doesn't open connections again.
if (process.exitCode > 128) process.exit();
