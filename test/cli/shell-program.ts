import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { commandLine } from './itsm.ts';

/** A program for shell scripts that runs commands in the test process. */
interface ShellProgram {
  path: string;
  close(): void;
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Writes a program that passes its arguments to the test process and prints the output of the command. The program is
 * faster than `itsm`, because the test process has already loaded the modules of the command.
 * @param env the environment variables of all commands
 */
export async function writeShellProgram(
  folder: string,
  databaseUrl: string,
  env: Record<string, string>,
): Promise<ShellProgram> {
  const run = commandLine(databaseUrl, env);
  const server = createServer(async (request, response) => {
    const [directory = '', command = '', ...words] = (await buffer(request)).toString().split('\0').slice(0, -1);
    const ownDirectory = process.cwd();
    process.chdir(directory);
    const { code, stdout, stderr } = await run(command, ...words).finally(() => process.chdir(ownDirectory));
    response.end(`printf %s ${quote(stdout)}; printf %s ${quote(stderr)} >&2; exit ${code}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const path = join(folder, 'itsm');
  const send = `curl --silent --fail --data-binary @- http://127.0.0.1:${port}`;
  await writeFile(path, `#!/bin/sh\nset -e\noutcome=$(printf '%s\\0' "$PWD" "$@" | ${send})\neval "$outcome"\n`, {
    mode: 0o755,
  });
  return { path, close: () => server.close() };
}
