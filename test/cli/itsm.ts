import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** What users run: the script of the root. */
export const program = join(import.meta.dirname, '../../itsm');

/** Encrypts the webhook secrets of every command that a test runs. */
export const secretKey = Buffer.alloc(32, 7).toString('base64');

/** What a command leaves behind. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts a command as a process and leaves it to the test. */
export function spawnCommand(args: string[], databaseUrl: string, env: Record<string, string> = {}) {
  return spawn(program, args, {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, WEBHOOK_SECRET_KEY: secretKey, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/**
 * Runs commands as a user does, each as a process, on one database. Arguments with spaces in them come after.
 * @param databaseUrl empty for the embedded one of `env.DATA_DIR`
 */
export function commandLine(databaseUrl: string, env: Record<string, string> = {}) {
  return async (command: string, ...more: string[]): Promise<Outcome> => {
    const child = spawnCommand([...command.split(' '), ...more], databaseUrl, env);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code, stdout, stderr };
  };
}
