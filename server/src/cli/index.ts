#!/usr/bin/env node
import { loadEnvFile } from '../config/env-file.ts';
import { runCommandLine } from './run.ts';

// If a reader such as `head` closes stdout early, exits with code 0. Ignores errors on stderr.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.stderr.on('error', () => undefined);

const words = process.argv.slice(2);
process.exitCode = await runCommandLine(words, loadEnvFile);
// After a signal, exits immediately. Otherwise, pending work could open new connections.
if (process.exitCode > 128) process.exit();
