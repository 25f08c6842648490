import { execFile } from 'node:child_process';
import { extname } from 'node:path';
import { promisify } from 'node:util';

/** Runs a program. If it fails, the error contains its output. */
async function execute(file: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  try {
    return await promisify(execFile)(file, args, options);
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string };
    throw new Error(`${message}\n${stdout}`, { cause: error });
  }
}

/** The command of the pnpm installation that started the tests, or of pnpm from the registry if pnpm didn't start them. */
export const pnpmCommand = findCommand(process.env.npm_execpath ?? '');

function findCommand(running: string): [file: string, ...args: string[]] {
  if (!/pnpm/.test(running)) return ['npx', '-y', 'pnpm@12.21.0'];
  return /^\.[cm]?js$/.test(extname(running)) ? [process.execPath, running] : [running];
}

/**
 * Runs pnpm.
 * @param env environment variables in addition to those of this process
 */
export function pnpm(args: string[], cwd: string, env = {}): Promise<{ stdout: string; stderr: string }> {
  const [file, ...first] = pnpmCommand;
  return execute(file, [...first, ...args], { cwd, env: { ...process.env, ...env } });
}
