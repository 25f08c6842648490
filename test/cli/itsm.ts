import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The path of the script `itsm` in the root folder. */
export const program = join(import.meta.dirname, '../../itsm');

/** The WEBHOOK_SECRET_KEY of every command that a test runs. */
export const secretKey = Buffer.alloc(32, 7).toString('base64');

/** The exit code and the output of a command. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts a command in a process and returns the process without waiting for its exit. */
export function spawnCommand(args: string[], databaseUrl: string, env: Record<string, string> = {}) {
  return spawn(program, args, {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, WEBHOOK_SECRET_KEY: secretKey, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/**
 * Returns a function that runs commands on a database, each in a separate process. The function splits `command` at
 * spaces, so pass arguments that contain spaces in `more`.
 * @param databaseUrl empty for the embedded database in `env.DATA_DIR`
 */
export function commandLine(databaseUrl: string, env: Record<string, string> = {}) {
  return async (command: string, ...more: string[]): Promise<Outcome> => {
    const child = spawnCommand([...command.split(' '), ...more], databaseUrl, env);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code, stdout, stderr };
  };
}
