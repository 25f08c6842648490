import { execFile } from 'node:child_process';
import { extname } from 'node:path';
import { promisify } from 'node:util';

/** Runs a program. If it fails, the error contains its output. */
async function execute(file: string, args: string[], options: { cwd: string }) {
  try {
    return await promisify(execFile)(file, args, options);
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string };
    throw new Error(`${message}\n${stdout}`, { cause: error });
  }
}

/** Runs the pnpm installation that started the tests. If pnpm didn't start the tests, runs pnpm from the registry. */
export function pnpm(args: string[], cwd: string): Promise<{ stdout: string; stderr: string }> {
  const running = process.env.npm_execpath ?? '';
  if (!/pnpm/.test(running)) return execute('npx', ['-y', 'pnpm@12', ...args], { cwd });
  const script = /^\.[cm]?js$/.test(extname(running));
  return script ? execute(process.execPath, [running, ...args], { cwd }) : execute(running, args, { cwd });
}
