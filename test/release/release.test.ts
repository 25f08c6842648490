import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type BuildOptions, build } from 'esbuild';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishedFolders } from '../../tools/published-folders.ts';
import { type Api, startApi } from '../support/api.ts';
import { launchBrowser } from '../support/browser.ts';
import { pnpm } from '../support/pnpm.ts';
import { startReceiver } from '../support/receiver.ts';
import { runtimePath } from '../support/runtimes.ts';
import { eventually } from '../support/sender.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';
import { type Registry, startRegistry } from './registry.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);
const requireTool = createRequire(join(root, 'tools/package.json'));

const resolutions = ['nodenext', 'bundler'] as const;

let api: Api;
let workspace: Workspace;
let baseUrl: string;
let folder: string;
let registry: Registry;
/** A copy of the repository. The release changes versions and changelogs in the copy. */
let repository: string;
/** An empty project that installs all packages and zod. */
let project: string;
/** An empty project that installs the contract and ts-rest. */
let routerProject: string;
/** Serves an HTML page, and the bundle that esbuild creates in `project`. */
let site: Server;
let origin: string;
let released: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'itsm-release-'));
  // If the test runs as root, PostgreSQL runs as another user, which reads its programs in this folder.
  await chmod(folder, 0o755);
  repository = join(folder, 'repository');
  project = join(folder, 'project');
  routerProject = join(folder, 'router-project');
  registry = await startRegistry(join(folder, 'registry'));
  // pnpm and npm read their settings from the environment. They overwrite this variable for the programs that they run.
  process.env.npm_config_userconfig = registry.npmrc;
  await copyRepository();
  released = await release('--repository', 'https://git.example.com/itsm');
  await createProject(project, [
    ...['@itsm-api/alerts', '@itsm-api/client', '@itsm-api/contract', '@itsm-api/testing', 'zod'],
  ]);
  await createProject(routerProject, ['@itsm-api/contract', 'zod', `@ts-rest/core@${await tsRestVersion()}`]);
  await writeExamples();
  site = createServer(async (request, response) => {
    const isBundle = request.url === '/bundle.js';
    response.setHeader('content-type', isBundle ? 'text/javascript' : 'text/html');
    response.end(isBundle ? await readFile(join(project, 'bundle.js')) : '<!doctype html><link rel=icon href=data:,>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  api = await startApi({ env: { CORS_ORIGINS: origin } });
  workspace = await createWorkspace(api);
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await api?.close();
  site?.close();
  registry?.stop();
  await rm(folder, { recursive: true });
});

/** Returns the paths of the pictures in the README. */
async function listPictures(): Promise<string[]> {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  return [...readme.matchAll(/(?:srcset|src)="(docs\/[^"]+\.png)"/g)].map(([, path = '']) => path);
}

/** Copies the files of the repository, with one more changeset and outdated pictures, to a new Git repository. */
async function copyRepository(): Promise<void> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const { stdout } = await execute('git', list, { cwd: root, maxBuffer: 2 ** 26 });
  for (const name of stdout.split('\0').filter(Boolean)) {
    const copy = join(repository, name);
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(join(root, name), copy).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // Git still lists a file that was deleted.
    });
  }
  for (const picture of await listPictures()) await writeFile(join(repository, picture), 'outdated');
  const names = await Promise.all(publishedFolders.map(async (each) => (await manifestOf(each)).name));
  const bumps = names.map((name) => `'${name}': minor\n`).join('');
  await writeFile(join(repository, '.changeset/tested.md'), `---\n${bumps}---\n\nA change of the release test.\n`);
  const git = (...args: string[]) =>
    execute('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], { cwd: repository });
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'test');
}

/** Runs `pnpm release` in the copy of the repository, and returns its output. */
async function release(...options: string[]): Promise<string> {
  return (await pnpm(['release', '--registry', registry.url, ...options], repository)).stdout;
}

async function createProject(path: string, packages: string[], type = 'module'): Promise<void> {
  await mkdir(path);
  await writeFile(join(path, 'package.json'), JSON.stringify({ private: true, type }));
  const options = ['--no-audit', '--no-fund', '--cache', join(folder, 'npm-cache'), '--registry', registry.url];
  await execute('npm', ['install', ...options, ...packages], { cwd: path });
}

/**
 * Writes each TypeScript example of the contract's README to a file of the project that has the needed packages, and
 * examples for the packages alerts and testing.
 */
async function writeExamples(): Promise<void> {
  const readme = await readFile(join(project, 'node_modules/@itsm-api/contract/README.md'), 'utf8');
  const context = `declare const form: unknown;
    declare const row: unknown;
    declare const response: Response;
    declare const body: string;
    declare const baseUrl: string;
    declare const apiKey: string;\n`;
  for (const [index, [, example = '']] of [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].entries()) {
    const path = example.includes('ts-rest') ? routerProject : project;
    await writeFile(join(path, `example-${index}.ts`), context + example);
  }
  await writeFile(
    join(project, 'example-alerts.ts'),
    "import { readSettings, startAlerts } from '@itsm-api/alerts';\nexport const alerts = startAlerts(readSettings('alerts.yaml', {}));\n",
  );
  await writeFile(
    join(project, 'example-testing.ts'),
    "import { startItsm } from '@itsm-api/testing';\nexport const workspace = (await startItsm()).createWorkspace();\n",
  );
}

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
}

async function manifestOf(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(repository, path, 'package.json'), 'utf8'));
}

async function tsRestVersion(): Promise<string> {
  const { dependencies } = JSON.parse(await readFile(join(root, 'contract/package.json'), 'utf8'));
  return dependencies['@ts-rest/core'];
}

describe.each(publishedFolders)('the published package of %s', (path) => {
  it('has the version and the changelog of the changesets', async () => {
    const { name, version } = await manifestOf(path);
    expect(released).toContain(`${name} ${version} published.`);
    const response = await fetch(`${registry.url}${name}`);
    expect(await response.json()).toMatchObject({ 'dist-tags': { latest: version } });
    const changelog = await readFile(join(await unpacked(path), 'CHANGELOG.md'), 'utf8');
    expect(changelog).toMatch(new RegExp(`## ${version}\\n[^#]*### Minor Changes[^#]*A change of the release test\\.`));
  });

  it('produces no publint messages', async () => {
    const { messages } = await publint({ pkgDir: await unpacked(path), pack: false, strict: true });
    expect(messages).toEqual([]);
  });

  it('produces no are-the-types-wrong errors', async () => {
    const attw = join(dirname(require.resolve('@arethetypeswrong/cli/package.json')), 'dist/index.js');
    const { stdout } = await execute(process.execPath, [attw, await tarballOf(path), '--no-emoji']);
    expect(stdout).toContain('No problems found');
  });
});

it('stops while a package contains a placeholder, and names its file', async () => {
  const manifest = join(repository, 'alerts/package.json');
  const before = await readFile(manifest, 'utf8');
  expect(before).toContain('"homepage": "https://git.example.com/itsm/tree/main/alerts#readme"');
  await writeFile(manifest, before.replaceAll('git.example.com', 'itsm-api.example'));
  await expect(release()).rejects.toThrow(/alerts\/package\.json: replace the placeholder.*--repository URL/);
  await writeFile(manifest, before);
});

it('makes the pictures in the README', async () => {
  const pictures = await listPictures();
  expect(pictures).not.toEqual([]);
  for (const picture of pictures) {
    expect((await readFile(join(repository, picture))).subarray(1, 4).toString(), picture).toBe('PNG');
  }
});

it('publishes nothing if all versions are published', async () => {
  const repeated = await release();
  for (const path of publishedFolders) {
    const { name, version } = await manifestOf(path);
    expect(repeated).toContain(`${name} ${version} is already published.`);
  }
});

describe('a second build of the packages, in another folder, time zone and locale', () => {
  const copy = () => join(folder, 'another folder', 'copy');

  beforeAll(async () => {
    const skipped = ['node_modules', 'dist', '.git'];
    await cp(repository, copy(), { recursive: true, filter: (path) => !skipped.includes(basename(path)) });
    await pnpm(['install', '--filter', '!./test/*'], copy());
  });

  it.each(publishedFolders)('creates the same bytes as the published package of %s', async (path) => {
    const target = join(folder, 'second-tarballs');
    const env = { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' };
    await pnpm(['pack', '--pack-destination', target], join(copy(), path), env);
    const tarball = await tarballOf(path);
    expect(await sha256Of(join(target, basename(tarball)))).toBe(await sha256Of(tarball));
  });
});

const hasFlit = spawnSync('/usr/bin/python3', ['-c', 'import flit_core']).status === 0;

describe('the Python client', skipUnless(hasFlit, 'flit is not installed.'), () => {
  it('is packed with the version and the changelog of the TypeScript client', async () => {
    const { version } = await manifestOf('client');
    const [archive, wheel] = [`itsm-api-${version}.tar.gz`, `itsm_api-${version}-py3-none-any.whl`];
    expect(released).toContain(`${archive} and ${wheel} packed in client/python/dist.`);
    const dist = join(repository, 'client/python/dist');
    const extract = ['-xzOf', join(dist, archive), `itsm-api-${version}/CHANGELOG.md`];
    expect((await execute('tar', extract)).stdout).toContain('A change of the release test.');
    const target = join(folder, 'python packages');
    await execute('/usr/bin/python3', ['-m', 'zipfile', '-e', join(dist, wheel), target]);
    const metadata = await readFile(join(target, `itsm_api-${version}.dist-info/METADATA`), 'utf8');
    expect(metadata).toContain('https://git.example.com/itsm/tree/main/client/python#readme');
    const program = `from itsm_api import ItsmClient\nprint(ItsmClient("${baseUrl}").ping.get()["status"])`;
    const env = { PYTHONPATH: target, PYTHONDONTWRITEBYTECODE: '1' };
    expect((await execute('/usr/bin/python3', ['-c', program], { env })).stdout).toBe('ok\n');

    const before = await Promise.all([archive, wheel].map((name) => sha256Of(join(dist, name))));
    const copy = join(folder, 'another folder', 'python');
    for (const name of ['client', 'tools']) {
      const filter = (path: string) => !['node_modules', 'dist'].includes(basename(path));
      await cp(join(repository, name), join(copy, name), { recursive: true, filter });
    }
    const elsewhere = { ...process.env, TZ: 'Pacific/Kiritimati', LC_ALL: 'C' };
    await execute(process.execPath, ['tools/pack-python.ts'], { cwd: copy, env: elsewhere });
    const again = [archive, wheel].map((name) => sha256Of(join(copy, 'client/python/dist', name)));
    expect(await Promise.all(again)).toEqual(before);
  });

  it('has a software bill of materials without dependencies', async () => {
    const text = await readFile(join(repository, 'sbom/python.cdx.json'), 'utf8');
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
    expect(JSON.parse(text).components).toEqual([]);
  });
});

async function sha256Of(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

describe('the software bills of materials (SBOM)', () => {
  it.each(['server', 'client', 'alerts'])('lists the dependencies of %s in the format CycloneDX', async (name) => {
    const text = await readFile(join(repository, `sbom/${name}.cdx.json`), 'utf8');
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
    const { components, metadata } = JSON.parse(text);
    const { version, dependencies = {} } = await manifestOf(name);
    expect(metadata.component).toMatchObject({ group: '@itsm-api', name, version });
    const purls = components.map(({ purl }: { purl: string }) => purl);
    for (const [dependency, range] of Object.entries(dependencies)) {
      const installed = range.startsWith('workspace:') ? (await manifestOf(basename(dependency))).version : range;
      expect(purls).toContain(`pkg:npm/${dependency.replace('@', '%40')}@${installed}`);
    }
  });

  it('rejects a dependency whose license is not accepted', async () => {
    const list = join(repository, 'tools/accepted-licenses.json');
    const before = await readFile(list, 'utf8');
    await writeFile(list, before.replace('"ISC", ', ''));
    await expect(pnpm(['exec', 'node', 'tools/sbom.ts', '--write'], repository)).rejects.toThrow(
      /tools\/accepted-licenses\.json:\n(pkg:npm\/[^\n]+: ISC\n)+/,
    );
    await writeFile(list, before);
  });
});

/** Downloads a published package, and returns the path of the file. */
async function tarballOf(path: string): Promise<string> {
  const { name, version } = await manifestOf(path);
  const target = join(folder, 'tarballs');
  await mkdir(target, { recursive: true });
  const args = ['pack', `${name}@${version}`, '--pack-destination', target, '--registry', registry.url];
  const { stdout } = await execute('npm', args, { cwd: folder });
  return join(target, stdout.trim());
}

/** Unpacks a published package, and returns the path of the folder. */
async function unpacked(path: string): Promise<string> {
  const target = join(folder, 'unpacked', path);
  await mkdir(target, { recursive: true });
  await execute('tar', ['-xzf', await tarballOf(path), '-C', target]);
  return join(target, 'package');
}

describe('a project with the client and the contract', () => {
  /** Uses the client and the contract with a running server. */
  const program = `
    import { ItsmClient, isItsmError } from '@itsm-api/client';
    import { signTestEvent, unwrap } from '@itsm-api/client/webhooks';
    import { deliveryBody, errors, NewTicket, pathPrefix, Ticket } from '@itsm-api/contract';

    export async function run(baseUrl: string, apiKey: string) {
      const client = new ItsmClient({ baseUrl, apiKey });
      const newTicket: NewTicket = NewTicket.parse(${JSON.stringify(ticket)});
      const created = await client.tickets.create(${JSON.stringify(ticket)});
      const invalid = NewTicket.safeParse({}).error?.issues.some(({ path }) => path.join() === 'title');
      const missing = await client.tickets.get(987654321).catch((error: unknown) => isItsmError(error, 'NOT_FOUND'));
      const { body, headers } = await signTestEvent({ type: 'ticket.created', ticket: created }, 'secret');
      const event = await unwrap(body, headers, 'secret');
      const { ticket } = deliveryBody('ticket.created').parse(JSON.parse(body));
      return {
        sameTitles: newTicket.title === Ticket.parse(created).title && ticket.title === created.title,
        invalid,
        missing,
        type: event.type,
        status: errors.NOT_FOUND.status,
        pathPrefix,
      };
    }`;
  const expected = {
    sameTitles: true,
    invalid: true,
    missing: true,
    type: 'ticket.created',
    status: 404,
    pathPrefix: '/api/public/v1',
  };

  beforeAll(async () => {
    await writeFile(join(project, 'program.ts'), program);
    const options: BuildOptions = { absWorkingDir: project, entryPoints: ['program.ts'], format: 'esm' };
    await build({ ...options, outfile: 'program.js' });
    await build({ ...options, outfile: 'program.cjs', format: 'cjs', platform: 'node' });
    await build({ ...options, outfile: 'bundle.js', bundle: true, minify: true });
    await writeFile(
      join(project, 'run.js'),
      `const [file, ...args] = process.argv.slice(2);
      const { run } = await import(file);
      console.log(JSON.stringify(await run(...args)));`,
    );
  });

  const node20 = runtimePath('node-20') ?? process.execPath;
  it.each([
    ['Node 24', './program.js', process.execPath],
    ['Node 24 in CommonJS', './program.cjs', process.execPath],
    ['Node 20', './program.js', node20],
    ['Node 20 in CommonJS', './program.cjs', node20],
    ['Node 24, bundled by esbuild', './bundle.js', process.execPath],
  ])('runs with %s', async (_, file, node) => {
    const { stdout, stderr } = await execute(node, ['run.js', file, baseUrl, workspace.key], { cwd: project });
    expect({ result: JSON.parse(stdout), stderr }).toEqual({ result: expected, stderr: '' });
  });

  it('runs as a bundle in Chromium on a page of another origin', async () => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      await page.goto(origin);
      const call = `import('/bundle.js').then(({ run }) => run(${JSON.stringify(baseUrl)}, ${JSON.stringify(workspace.key)}))`;
      expect(await page.evaluate(call)).toEqual(expected);
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  it.each(resolutions)('compiles with the module resolution %s', async (resolution) => {
    for (const tsc of compilers()) await compile(project, resolution, { skipLibCheck: false }, tsc);
  });

  it('installs the contract without ts-rest', async () => {
    const installed: string[] = [];
    for await (const name of glob('node_modules/{*,@*/*}', { cwd: project })) installed.push(name);
    expect(installed.filter((name) => name.includes('ts-rest'))).toEqual([]);
  });

  it('has a JSON Schema that accepts the events of the server', async () => {
    const names: string[] = [];
    for await (const name of glob('schemas/*.json', { cwd: join(project, 'node_modules/@itsm-api/contract') }))
      names.push(name);
    const document = JSON.parse(await readFile(join(project, 'node_modules/@itsm-api/contract/openapi.json'), 'utf8'));
    expect(names.map((name) => name.slice('schemas/'.length, -'.json'.length)).sort()).toEqual(
      Object.keys(document.webhooks).sort(),
    );
    for (const name of names) {
      const ajv = new Ajv2020({ strict: false });
      formats.default(ajv);
      const path = requireFrom(project).resolve(`@itsm-api/contract/${name}`);
      const validate = ajv.compile(JSON.parse(await readFile(path, 'utf8')));
      const { content } = document.webhooks[name.slice('schemas/'.length, -'.json'.length)].post.requestBody;
      const event = content['application/json'].examples.example.value;
      expect(validate(event), ajv.errorsText(validate.errors)).toBe(true);
      expect(validate({ ...event, timestamp: 'yesterday' })).toBe(false);
    }
  });
});

describe('a project with the router of the contract', () => {
  const program = `
    import { contract } from '@itsm-api/contract/ts-rest';
    import { initClient } from "@ts-rest/core";

    const [baseUrl = '', key] = process.argv.slice(2);
    const client = initClient(contract, { baseUrl, baseHeaders: { authorization: \`Bearer \${key}\` } });
    const created = await client.tickets.create({ body: ${JSON.stringify(ticket)}, query: {} });
    const title: string | undefined = created.status === 201 ? created.body.data.title : undefined;
    const missing = await client.tickets.get({ params: { id: 987654321 }, query: {} });
    console.log(JSON.stringify({ title, missing: missing.status === 404 && missing.body.error.code }));`;

  it('compiles and uses the server with a client of ts-rest', async () => {
    await writeFile(join(routerProject, 'program.ts'), program);
    // The declarations of ts-rest don't compile with zod 4 alone.
    for (const resolution of resolutions) await compile(routerProject, resolution, { skipLibCheck: true });
    const args = ['program.ts', baseUrl, workspace.key];
    const { stdout } = await execute(process.execPath, args, { cwd: routerProject });
    expect(JSON.parse(stdout)).toEqual({ title: ticket.title, missing: 'NOT_FOUND' });
  });
});

it('forwards an event with the command `listen` of the installed client', async () => {
  const receiver = await startReceiver();
  const env = { ...process.env, ITSM_URL: baseUrl, ITSM_KEY: workspace.key };
  const args = ['listen', '--forward-to', receiver.url, '--interval', '0.2'];
  const program = spawn(join(project, 'node_modules/.bin/itsm-client'), args, { env });
  let printed = '';
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk) => (printed += chunk));
  try {
    await eventually(() => expect(printed).toContain('Press Ctrl-C to stop.'), 30_000);
    await workspace.createTicket();
    await eventually(() => expect(printed).toContain(' ticket.created '), 30_000);
    expect(receiver.received).toHaveLength(1);
  } finally {
    program.kill();
    await receiver.close();
  }
});

it('creates a ticket with the program of the installed package alerts', async () => {
  await writeFile(join(project, 'alerts.yaml'), 'spool: alerts-spool\nport: 0\n');
  const env = { ...process.env, ITSM_URL: baseUrl, ITSM_KEY: workspace.key, ALERTS_TOKEN: 'a secret' };
  const alert = { id: 'disk', status: 'firing', title: 'The disk is full' };
  const program = spawn(join(project, 'node_modules/.bin/itsm-alerts'), { cwd: project, env });
  let printed = '';
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk) => (printed += chunk));
  try {
    await eventually(() => expect(printed).toContain('Server listening at'), 30_000);
    const [url] = /http:[\d.:/]+/.exec(printed) ?? [];
    const headers = { authorization: 'Bearer a secret', 'content-type': 'application/json' };
    await fetch(`${url}/generic`, { method: 'POST', headers, body: JSON.stringify({ alerts: [alert] }) });
    const find = async () => (await workspace.call('GET', '/tickets?q=disk')).body.data;
    await expect.poll(find, { timeout: 30_000 }).toMatchObject([{ title: alert.title }]);
  } finally {
    program.kill();
  }
  const load = "console.log(typeof require('@itsm-api/alerts').startAlerts)";
  expect((await execute(process.execPath, ['--eval', load], { cwd: project })).stdout).toBe('function\n');
});

it('starts a server with the installed package testing', async () => {
  const program = `
    import { startItsm } from '@itsm-api/testing';
    const itsm = await startItsm();
    console.log((await itsm.createWorkspace()).key);
    await itsm.stop();`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', program], { cwd: project });
  expect(stdout).toMatch(/^itsm_\w+\n$/);
});

it('runs in a test of Jest with the default settings', async () => {
  const test = `
    const { ConnectionError, ItsmClient, NotFoundError } = require('@itsm-api/client');
    const { startItsm } = require('@itsm-api/testing');

    let itsm, workspace, client;
    beforeAll(async () => {
      itsm = await startItsm();
      workspace = await itsm.createWorkspace();
      client = new ItsmClient({ baseUrl: workspace.url, apiKey: workspace.key });
    }, 60_000);
    afterAll(() => itsm.stop());

    test('receives events', async () => {
      const receiver = await workspace.receiver({ events: ['ticket.created'] });
      const { id } = await client.tickets.create(${JSON.stringify(ticket)});
      expect((await receiver.waitFor('ticket.created')).ticket.id).toBe(id);
    });

    test('throws the classes of the client', async () => {
      await expect(client.tickets.get(987654321)).rejects.toBeInstanceOf(NotFoundError);
      const unreachable = new ItsmClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'itsm_1', maxRetries: 0 });
      const error = await unreachable.tickets.get(1).catch((error) => error);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toBeInstanceOf(Error);
      // \`fetch\` doesn't connect to port 1. Its errors aren't instances of Jest's class \`Error\`.
      expect(error.message).toContain('bad port');
      expect(JSON.stringify(error)).toContain('bad port');
      const aborted = await client.tickets.get(1, { signal: AbortSignal.abort() }).catch((error) => error);
      expect(JSON.parse(JSON.stringify(aborted)).cause.name).toBe('AbortError');
    });

    test('uploads bytes', async () => {
      const { id } = await client.tickets.create(${JSON.stringify(ticket)});
      const attachment = await client.tickets.attach(id, { name: 'a.txt', content: Buffer.from('text') });
      const { body } = await client.attachments.download(attachment.id);
      expect(await new Response(body).text()).toBe('text');
    });`;
  const jestProject = join(folder, 'jest-project');
  await createProject(jestProject, ['@itsm-api/client', '@itsm-api/testing', 'jest@30.5.2'], 'commonjs');
  await writeFile(join(jestProject, 'itsm.test.js'), test);
  const jest = join(jestProject, 'node_modules/jest/bin/jest.js');
  const { stderr } = await execute(process.execPath, [jest], { cwd: jestProject }).catch((error) => error);
  expect(stderr).toMatch(/^Tests: +3 passed, 3 total$/m);
  expect(stderr).not.toContain('Jest did not exit');
});

it.each([
  ['11 in a CommonJS project', '11.2.10', 'commonjs'],
  ['12', '12.5.1', 'module'],
] as const)('receives webhooks and calls the API in a controller of NestJS %s', async (_, version, type) => {
  const source = `
    import 'reflect-metadata';
    import { ItsmClient } from '@itsm-api/client';
    import { signTestEvent, unwrap } from '@itsm-api/client/webhooks';
    import { Controller, Inject, Module, Post, Req } from '@nestjs/common';
    import { NestFactory } from '@nestjs/core';

    const [baseUrl, apiKey] = process.argv.slice(2);

    @Controller()
    class Receiver {
      constructor(@Inject(ItsmClient) private readonly client: ItsmClient) {}

      @Post('hook')
      async receive(@Req() { rawBody, headers }) {
        const event = await unwrap(rawBody, headers, 'secret');
        return (await this.client.tickets.get(event.ticket.id)).title;
      }
    }

    @Module({
      controllers: [Receiver],
      providers: [{ provide: ItsmClient, useFactory: () => new ItsmClient({ baseUrl, apiKey }) }],
    })
    class App {}

    async function main() {
      const app = await NestFactory.create(App, { rawBody: true, logger: ['error'] });
      await app.listen(0, '127.0.0.1');
      const created = await app.get(ItsmClient).tickets.create(${JSON.stringify(ticket)});
      const { body, headers } = await signTestEvent({ type: 'ticket.created', ticket: created }, 'secret');
      const response = await fetch((await app.getUrl()) + '/hook', { method: 'POST', body, headers });
      console.log(await response.text());
      await app.close();
    }
    void main();`;
  const path = join(folder, `nest-${version}`);
  const nest = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${version}`);
  await createProject(path, ['@itsm-api/client', ...nest, 'reflect-metadata@0.2.2', 'rxjs@7.8.2'], type);
  await writeFile(join(path, 'app.ts'), source);
  await build({
    ...{ absWorkingDir: path, entryPoints: ['app.ts'], outfile: 'app.js', platform: 'node' },
    format: type === 'commonjs' ? 'cjs' : 'esm',
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  });
  const { stdout } = await execute(process.execPath, ['app.js', baseUrl, workspace.key], { cwd: path });
  expect(stdout).toBe(`${ticket.title}\n`);
});

function requireFrom(path: string): NodeJS.Require {
  return createRequire(join(path, 'package.json'));
}

function compilers(): string[] {
  return [
    join(dirname(requireTool.resolve('typescript/package.json')), 'bin/tsc'),
    join(dirname(require.resolve('typescript-5.4/package.json')), 'bin/tsc'),
  ];
}

/** Compiles `program.ts` and the examples of a project with strict settings. @throws with the messages of the compiler */
async function compile(
  path: string,
  resolution: (typeof resolutions)[number],
  options: Record<string, unknown>,
  tsc = compilers()[0] ?? '',
): Promise<void> {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
    moduleResolution: resolution,
    target: 'es2022',
    lib: ['es2023', 'dom'],
    resolveJsonModule: true,
    types: ['node'],
    typeRoots: [join(root, 'tools/node_modules/@types')],
    ...options,
  };
  const config = join(path, `tsconfig.${resolution}.json`);
  await writeFile(config, JSON.stringify({ compilerOptions, include: ['program.ts', 'example-*.ts'] }));
  const { stdout } = await execute(process.execPath, [tsc, '-p', config]).catch((error) => error);
  expect(stdout).toBe('');
}
