import { execFile } from 'node:child_process';
import { extname } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs the pnpm installation that started the tests. If pnpm didn't start the tests, runs pnpm from the registry. */
export function pnpm(args: string[], cwd: string): Promise<{ stdout: string; stderr: string }> {
  const running = process.env.npm_execpath ?? '';
  if (!/pnpm/.test(running)) return execute('npx', ['-y', 'pnpm@12', ...args], { cwd });
  const script = /^\.[cm]?js$/.test(extname(running));
  return script ? execute(process.execPath, [running, ...args], { cwd }) : execute(running, args, { cwd });
}
