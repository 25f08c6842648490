import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../../server/src/cli/run.ts';
import type { ApiOptions } from '../support/api.ts';
import { itWithApi } from '../support/fixture.ts';

/** The path of the `itsm` script in the root folder. */
export const program = join(import.meta.dirname, '../../itsm');

/** The WEBHOOK_SECRET_KEY of the commands that tests run. */
export const secretKey = Buffer.alloc(32, 7).toString('base64');

/** The exit code and the output of a command. */
interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

type Run = (command: string, ...more: string[]) => Promise<Outcome>;

/** Runs commands on the database of the API of the current test file. */
export let itsm: Run;

/** A folder for files of commands, which is deleted after the test file. */
export let folder: string;

/** Starts an API with its own database. Commands can decrypt its webhook secrets. */
export const itWithCommands = itWithApi
  .extend('options', { scope: 'file' }, { ownDatabase: true, secretKeys: [secretKey] } as ApiOptions)
  .extend('itsm', { scope: 'file', auto: true }, async ({ api }, { onCleanup }) => {
    const created = await mkdtemp(join(tmpdir(), 'itsm-commands-'));
    onCleanup(() => rm(created, { recursive: true }));
    folder = created;
    itsm = commandLine(api.databaseUrl);
    return itsm;
  });

/** Starts a command in a separate process. Returns the process without waiting for its exit. */
export function spawnCommand(args: string[], databaseUrl: string, env: Record<string, string> = {}) {
  return spawn(program, args, { env: environment(databaseUrl, env), stdio: ['ignore', 'pipe', 'pipe'] });
}

/**
 * Returns a function that runs each command in a separate process. The function splits `command` at spaces. Use `more`
 * for arguments that contain spaces.
 * @param databaseUrl an empty string for the embedded database in `env.DATA_DIR`
 */
export function processCommandLine(databaseUrl: string, env: Record<string, string> = {}): Run {
  return async (command, ...more) => {
    const child = spawnCommand([...command.split(' '), ...more], databaseUrl, env);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code, stdout, stderr };
  };
}

/**
 * Returns a function that runs commands in the test process, one at a time. The function is ten times as fast as
 * `processCommandLine`.
 */
export function commandLine(databaseUrl: string, env: Record<string, string> = {}): Run {
  return (command, ...more) => {
    const run = () => runInProcess([...command.split(' '), ...more], environment(databaseUrl, env));
    const outcome = previous.then(run, run);
    previous = outcome;
    return outcome;
  };
}

let previous: Promise<unknown> = Promise.resolve();

async function runInProcess(words: string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  const ownEnv = process.env;
  const [stdout, stderr] = [captureOutput(process.stdout), captureOutput(process.stderr)];
  process.env = env;
  try {
    const code = await runCommandLine(words);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.env = ownEnv;
    stdout.release();
    stderr.release();
  }
}

/** Captures the text that the process writes to a stream. The stream doesn't print the text. */
function captureOutput(stream: NodeJS.WriteStream) {
  const write = stream.write;
  const captured = { text: '', release: () => Object.assign(stream, { write }) };
  Object.assign(stream, {
    write(chunk: string | Uint8Array) {
      captured.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    },
  });
  return captured;
}

function environment(databaseUrl: string, env: Record<string, string>): NodeJS.ProcessEnv {
  const ATTACHMENTS_DIR = join(tmpdir(), `itsm-test-attachments-${process.pid}`);
  const settings = { DATABASE_URL: databaseUrl, WEBHOOK_SECRET_KEY: secretKey, ATTACHMENTS_DIR };
  return { PATH: process.env.PATH, ...settings, ...env };
}
