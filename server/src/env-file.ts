import { existsSync } from 'node:fs';

/**
 * Puts what `.env` of this folder says into the environment, where that says nothing; without such a file it does
 * nothing, and in silence: Node's `--env-file-if-exists` tells every command's stderr that there is none.
 */
export function loadEnvFile(): void {
  if (existsSync('.env')) process.loadEnvFile('.env');
}
