import { execFile, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { steadyPort } from '../support/postgres-server.ts';

const execute = promisify(execFile);
const require = createRequire(import.meta.url);

/** A running npm registry. */
export interface Registry {
  url: string;
  /** The path of an `.npmrc` file with a token for the registry. */
  npmrc: string;
  stop(): void;
}

/**
 * Starts an npm registry that stores packages of `@itsm-api` in the given folder. It loads other packages from the
 * registry that npm is configured with.
 */
export async function startRegistry(folder: string): Promise<Registry> {
  await mkdir(folder);
  const [uplink, userConfig] = await Promise.all([configured('registry'), configured('userconfig')]);
  const settings = {
    storage: join(folder, 'storage'),
    web: { enable: false },
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { configured: { url: uplink } },
    packages: {
      '@itsm-api/*': { access: '$all', publish: '$all' },
      '**': { access: '$all', proxy: 'configured' },
    },
    log: { type: 'stdout', format: 'json', level: 'warn' },
  };
  const config = join(folder, 'config.yaml'); // JSON is valid YAML.
  await writeFile(config, JSON.stringify(settings));
  const port = await steadyPort();
  const url = `http://127.0.0.1:${port}/`;
  const npmrc = join(folder, 'npmrc');
  const existing = await readFile(userConfig, 'utf8').catch(() => '');
  // npm publishes only with a token, although this registry accepts every request.
  await writeFile(npmrc, `${existing}\n//127.0.0.1:${port}/:_authToken=any\n`);

  const program = join(dirname(require.resolve('verdaccio/package.json')), 'bin/verdaccio');
  const server = spawn(process.execPath, [program, '--config', config, '--listen', `127.0.0.1:${port}`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ping = async () => expect((await fetch(`${url}-/ping`)).ok, output).toBe(true);
  await vi.waitFor(ping, { timeout: 30_000, interval: 100 });
  return { url, npmrc, stop: () => server.kill() };
}

async function configured(setting: string): Promise<string> {
  return (await execute('npm', ['config', 'get', setting])).stdout.trim();
}
