import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/* Runs commands in separate processes. Programs outside of Vitest also use these functions. */

/** The path of the `itsm` script in the root folder. */
export const program = join(import.meta.dirname, '../../itsm');

/** The WEBHOOK_SECRET_KEY of the commands that tests run. */
export const secretKey = Buffer.alloc(32, 7).toString('base64');

/** The exit code and the output of a command. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command. The first argument is split at spaces. */
export type RunCommand = (command: string, ...more: string[]) => Promise<Outcome>;

/** Starts a command in a separate process. Returns the process without waiting for its exit. */
export function spawnCommand(args: string[], databaseUrl: string, env: Record<string, string> = {}) {
  return spawn(program, args, { env: environment(databaseUrl, env), stdio: ['ignore', 'pipe', 'pipe'] });
}

/**
 * Returns a function that runs each command in a separate process. The function splits `command` at spaces. Use `more`
 * for arguments that contain spaces.
 * @param databaseUrl an empty string for the embedded database in `env.DATA_DIR`
 */
export function processCommandLine(databaseUrl: string, env: Record<string, string> = {}): RunCommand {
  return async (command, ...more) => {
    const child = spawnCommand([...command.split(' '), ...more], databaseUrl, env);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code, stdout, stderr };
  };
}

/** Returns the environment variables of a command. */
export function environment(databaseUrl: string, env: Record<string, string>): NodeJS.ProcessEnv {
  const ATTACHMENTS_DIR = join(tmpdir(), `itsm-test-attachments-${process.pid}`);
  const settings = { DATABASE_URL: databaseUrl, WEBHOOK_SECRET_KEY: secretKey, ATTACHMENTS_DIR };
  return { PATH: process.env.PATH, ...settings, ...env };
}
