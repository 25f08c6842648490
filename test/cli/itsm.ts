import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../server/src/cli/run.ts';
import type { ApiOptions } from '../support/api.ts';
import { environment, type Outcome, type RunCommand, secretKey } from '../support/command-process.ts';
import { itWithApi } from '../support/fixture.ts';

/** Runs commands on the database of the API of the current test file. */
export let itsm: RunCommand;

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

/**
 * Returns a function that runs commands in the test process, one at a time. The function is ten times as fast as
 * `processCommandLine`.
 */
export function commandLine(databaseUrl: string, env: Record<string, string> = {}): RunCommand {
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
