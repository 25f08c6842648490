import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { signTestEvent } from '@itsm-api/client/webhooks';
import { errors } from '@itsm-api/contract';
import { openApiDocument } from '@itsm-api/contract/openapi';
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { launchBrowser } from '../support/browser.ts';
import { isNightly } from '../support/nightly.ts';
import { pnpm } from '../support/pnpm.ts';
import { steadyPort } from '../support/postgres-server.ts';
import { runtimePath } from '../support/runtimes.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);

let api: Api;
let workspace: Workspace;
let baseUrl: string;
/** Serves the files of the package, and an empty page from which a test calls the API. */
let site: Server;
let origin: string;
/** The folder of an empty project, into which the test unpacks the packed client. */
let project: string;
let installed: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'itsm-client-'));
  const { stdout } = await pnpm(['pack', '--pack-destination', project], join(root, 'client'));
  const tarball = join(project, /itsm-api-client-\S+\.tgz/.exec(stdout)?.[0] ?? expect.fail(stdout));
  expect(stdout).toMatch(
    /Client size, gzipped: \d+ of 8780 bytes of shared code, and for each of \d+ endpoints [\d.]+ of 60 bytes\./,
  );
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  // `pnpm test:release` installs the package with npm.
  installed = join(project, 'node_modules/@itsm-api/client');
  await mkdir(installed, { recursive: true });
  await execute('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);

  site = createServer(async (request, response) => {
    const name = /^\/client\/([\w-]+\.js)$/.exec(request.url ?? '')?.[1];
    response.setHeader('content-type', name === undefined ? 'text/html' : 'text/javascript');
    response.end(name === undefined ? '<!doctype html>' : await readFile(join(installed, 'dist', name)));
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
  await rm(project, { recursive: true });
});

describe('packed client package', () => {
  it('packs the client with package metadata and without dependencies', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
      expect(manifest).not.toHaveProperty(kind);
    }
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false, license: 'MIT', engines: { node: '>=20' } });
    expect(Object.keys(manifest.exports['.'])).toEqual(['import', 'require']);
    const targets = [...JSON.stringify(manifest).matchAll(/"(\.\/dist\/[^"]+)"/g)].map(([, target = '']) => target);
    expect(targets.length).toBeGreaterThan(10);
    expect(targets.filter((target) => !existsSync(join(installed, target)))).toEqual([]);
    for (const field of ['description', 'keywords', 'homepage', 'bugs', 'repository']) {
      expect(manifest).toHaveProperty(field);
    }
    expect(await readFile(join(installed, 'CHANGELOG.md'), 'utf8')).toContain(`## ${manifest.version}`);
  });

  it('has no imports of other packages in the client package', async () => {
    const files: string[] = [];
    for await (const file of glob('**/*', { cwd: installed })) files.push(file);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', join('dist', 'index.d.ts')]));
    for (const file of files.filter((name) => /\.(js|ts)$/.test(name))) {
      const source = await readFile(join(installed, file), 'utf8');
      for (const [, target = ''] of source.matchAll(/(?:from|import|import\(|require\() ?['"]([^'"]+)['"]/g)) {
        // The program, and the examples in doc comments, import the package by its name.
        if (target.startsWith('@itsm-api/client')) continue;
        if (target.startsWith('node:') && dirname(file) === join('dist', 'bin')) continue;
        expect(target).toMatch(/^\.\/[\w-]+\.js$/);
        expect(existsSync(join(installed, dirname(file), target))).toBe(true);
      }
      expect(source).not.toMatch(/\bzod\b|ts-rest/);
    }
  });

  it('contains the program that `npx --no @itsm-api/client` runs', async () => {
    const { bin } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    const { stdout } = await execute(process.execPath, [join(installed, bin['itsm-client']), '--help']);
    expect(stdout).toMatch(/^Usage: npx --no @itsm-api\/client listen /);
  });

  it('has a doc comment for every method and every field of the client package', async () => {
    const undocumented: string[] = [];
    for (const name of ['generated', 'generated-resources', 'options', 'bulk', 'changes', 'list', 'api-promise']) {
      const lines = (await readFile(join(installed, `dist/${name}.d.ts`), 'utf8')).split('\n');
      for (const [index, line] of lines.entries()) {
        const isMember =
          /^ {4}(?!constructor|\*|\[|get |private|#)[\w ]+[?(<:]/.test(line) && !/^\s*declare/.test(line);
        if (isMember && !lines[index - 1]?.includes('*/')) undocumented.push(`${name}: ${line.trim()}`);
      }
    }
    expect(undocumented).toEqual([]);
  });
});

describe('installed client package', () => {
  const program = `
    import { ItsmClient, isItsmError } from '@itsm-api/client';
    import { signTestEvent, unwrap } from '@itsm-api/client/webhooks';

    const { BASE_URL, API_KEY } = process.env;
    const client = new ItsmClient({ baseUrl: BASE_URL, apiKey: API_KEY });
    const created = await client.tickets.create(${JSON.stringify(ticket)});
    const found = (await client.tickets.list({ perPage: 1 }).toArray()).some(({ id }) => id === created.id);
    const { rateLimits } = await client.tickets.get(created.id).withResponse();
    const missing = await client.tickets.get(987654321).catch((error) => isItsmError(error, 'NOT_FOUND'));
    const { body, headers } = await signTestEvent({ type: 'ticket.created', ticket: created }, 'secret');
    const event = await unwrap(body, headers, 'secret');
    const rejected = await unwrap(body, headers, 'other').catch((error) => error.code);
    const { done } = await client.tickets.createMany([created, created].map(({ title, description, type, category }) => {
      return { title, description, type, category };
    }));
    const many = done.length;
    const limits = rateLimits.map(({ name }) => name).join();
    const same = JSON.stringify(event.ticket) === JSON.stringify(created);`;
  const expected = {
    found: true,
    limits: 'global,tickets',
    missing: true,
    same: true,
    rejected: 'SIGNATURE_INVALID',
    many: 2,
  };

  const print = 'console.log(JSON.stringify({ found, limits, missing, same, rejected, many }));';
  const commonJsProgram = program.replace(/import (\{.*\}) from ('.*')/g, 'const $1 = require($2)');

  async function runWith(command: string, args: string[] = [], format = 'ES modules'): Promise<unknown> {
    const file = join(project, format === 'CommonJS' ? 'use.cjs' : 'use.js');
    const source = format === 'CommonJS' ? `(async () => { ${commonJsProgram} ${print} })()` : `${program} ${print}`;
    await writeFile(file, source);
    const env = {
      BASE_URL: baseUrl,
      API_KEY: workspace.key,
      DENO_DIR: join(project, 'deno'),
      DENO_NO_UPDATE_CHECK: '1',
    };
    const { stdout, stderr } = await execute(command, [...args, file], { cwd: project, env });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }

  /** Returns the path of a program in `test/runtimes`. If it is missing, skips the test or, in CI, fails. */
  function runtimeOrSkip(context: TestContext, name: string, program?: string): string {
    const path = runtimePath(name, program);
    if (path !== undefined) return path;
    if (process.env.CI) throw new Error(`The client can't be tested, because ${name} is not installed.`);
    return context.skip(`${name} does not install on this machine.`);
  }

  it('runs the installed client package with Node 24', async () => {
    expect(process.version).toMatch(/^v24\./);
    expect(await runWith(process.execPath)).toEqual(expected);
  });

  const deno = ['run', '--no-prompt', '--allow-env', '--allow-net', '--allow-read'];
  const runtimes = [
    { name: 'Node 20', installed: 'node-20', args: [] },
    { name: 'Node 20 in CommonJS', installed: 'node-20', args: [], format: 'CommonJS' },
    { name: 'Node 22', installed: 'node-22', args: [] },
    { name: 'Node 26', installed: 'node-26', args: [] },
    { name: 'Deno', installed: '@deno/linux-x64-glibc', program: 'deno', args: deno },
    { name: 'Bun', installed: '@oven/bun-linux-x64', program: 'bin/bun', args: ['run'] },
  ];
  it.for(isNightly ? runtimes : runtimes.slice(0, 2))(
    'runs the installed client package with $name',
    async ({ installed, program, args, format }, context) => {
      const command = runtimeOrSkip(context, installed, program);
      expect(await runWith(command, args, format)).toEqual(expected);
    },
  );

  it('makes the errors of one copy instances of the classes of another copy', async () => {
    const source = `
      import { createRequire } from 'node:module';
      import * as core from '@itsm-api/client';
      import * as webhooks from '@itsm-api/client/webhooks';

      const require = createRequire(import.meta.url);
      const esm = { ...core, ...webhooks };
      const cjs = { ...require('@itsm-api/client'), ...require('@itsm-api/client/webhooks') };

      function fail(from, [code, { status }]) {
        const fetch = async () => Response.json({ success: false, error: { code, message: code } }, { status });
        const client = new from.ItsmClient({ baseUrl: 'http://127.0.0.1', fetch, maxRetries: 0, maxWaitMs: 0 });
        return client.ping.get().catch((error) => error);
      }

      async function classesOf(from, to) {
        class OwnError extends to.NotFoundError {}
        class OwnWebhookError extends to.WebhookError {}
        const classes = { ...to, OwnError, OwnWebhookError };
        const names = Object.keys(classes).filter((name) => /^[A-Z].*Error$/.test(name)).sort();
        const codes = Object.entries(${JSON.stringify({ ...errors, NEW_CODE: { status: 400 } })});
        const thrown = await Promise.all(codes.map((entry) => fail(from, entry)));
        thrown.push(await from.unwrap('{}', {}, 'secret').catch((error) => error));
        return thrown.map((error) => [error.name, ...names.filter((name) => error instanceof classes[name])]);
      }

      console.log(JSON.stringify(await Promise.all([
        esm.ItsmError !== cjs.ItsmError, classesOf(esm, cjs), classesOf(cjs, esm), classesOf(cjs, cjs),
      ])));`;
    await writeFile(join(project, 'copies.js'), source);
    const { stdout } = await execute(process.execPath, ['copies.js'], { cwd: project });
    const [areCopies, ...results] = JSON.parse(stdout);
    expect(areCopies).toBe(true);
    for (const result of results) {
      expect(result).toHaveLength(Object.keys(errors).length + 2);
      for (const [name, ...classes] of result) {
        const base = name === 'WebhookError' ? 'WebhookError' : 'ItsmError';
        expect(classes).toEqual([...new Set([base, name])].sort());
      }
    }
  });

  it('syncs tickets and verifies webhooks with the installed client package', async () => {
    const sync = `
      import { readFile, writeFile } from 'node:fs/promises';
      import { ItsmClient } from '@itsm-api/client';
      const client = new ItsmClient({ baseUrl: process.env.ITSM_URL, apiKey: process.env.ITSM_KEY });
      const copy = JSON.parse(await readFile('tickets.json', 'utf8').catch(() => '{ "tickets": {} }'));
      const changes = client.tickets.changes({ cursor: copy.cursor });
      let changed = 0;
      for await (const ticket of changes) {
        copy.tickets[ticket.id] = ticket;
        changed += 1;
      }
      copy.cursor = changes.cursor;
      await writeFile('tickets.json', JSON.stringify(copy));
      console.log(changed + ' changed, ' + Object.keys(copy.tickets).length + ' in all');`;
    const receive = `
      import { createServer } from 'node:http';
      import { buffer } from 'node:stream/consumers';
      import { unwrap } from '@itsm-api/client/webhooks';
      createServer(async (request, response) => {
        try {
          const event = await unwrap(await buffer(request), request.headers, process.env.WEBHOOK_SECRET);
          response.writeHead(204).end();
          console.log(event.type, event.ticket?.ticketNumber, 'is genuine');
        } catch (error) {
          response.writeHead(400).end();
          console.log(error.message);
        }
      }).listen(4000, '127.0.0.1');`;
    await writeFile(join(project, 'sync.mjs'), sync);
    const env = { ...process.env, ITSM_URL: baseUrl, ITSM_KEY: workspace.key, WEBHOOK_SECRET: 'secret' };
    const synced = async () => (await execute(process.execPath, ['sync.mjs'], { cwd: project, env })).stdout;
    const { id } = await workspace.createTicket();
    expect(await synced()).toMatch(/^(\d+) changed, \1 in all\n$/);
    await workspace.call('PATCH', `/tickets/${id}`, { priority: 'CRITICAL' });
    const copy = async () => JSON.parse(await readFile(join(project, 'tickets.json'), 'utf8')).tickets;
    // Transactions in other databases of the PostgreSQL server can delay the newest changes, so the test retries.
    const priority = async () => {
      expect(await synced()).toMatch(/^[01] changed, \d+ in all\n$/);
      return (await copy())[id]?.priority;
    };
    await expect.poll(priority).toBe('CRITICAL');
    const tickets = await copy();

    const port = await steadyPort();
    await writeFile(join(project, 'receive.mjs'), receive.replace('4000', String(port)));
    const receiver = spawn(process.execPath, ['receive.mjs'], { cwd: project, env });
    let printed = '';
    receiver.stdout.on('data', (chunk) => (printed += chunk));
    try {
      const deliver = async (signedWith: string) => {
        const { body, headers } = await signTestEvent({ type: 'ticket.created', ticket: tickets[id] }, signedWith);
        return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers }).then(
          ({ status }) => status,
          () => undefined,
        );
      };
      await expect.poll(() => deliver('secret')).toBe(204);
      expect(await deliver('another')).toBe(400);
      const lines = `ticket.created ${tickets[id].ticketNumber} is genuine\nThe signature does not match`;
      await expect.poll(() => printed).toContain(lines);
    } finally {
      receiver.kill();
    }
  });

  if (isNightly) {
    it('runs the installed client package in workerd', async (context) => {
      const workerd = runtimeOrSkip(context, '@cloudflare/workerd-linux-64', 'bin/workerd');
      const dist = 'node_modules/@itsm-api/client/dist';
      const names: string[] = [];
      for await (const name of glob('*.js', { cwd: join(project, dist) })) names.push(name);
      const worker = `${program.slice(0, program.indexOf('const { BASE_URL'))}
        export default {
          async fetch() {
            ${program.slice(program.indexOf('const { BASE_URL'))}
            return Response.json({ found, limits, missing, same, rejected, many });
          },
        };`
        .replace("'@itsm-api/client/webhooks'", "'client/webhooks.js'")
        .replace("'@itsm-api/client'", "'client/index.js'")
        .replace('process.env', JSON.stringify({ BASE_URL: baseUrl, API_KEY: workspace.key }));
      await writeFile(join(project, 'worker.js'), worker);
      const port = await steadyPort();
      const modules = names.map((name) => `(name = "client/${name}", esModule = embed "${dist}/${name}")`);
      const config = `using Workerd = import "/workerd/workerd.capnp";
        const config :Workerd.Config = (
          services = [
            (name = "worker", worker = (
              modules = [(name = "worker", esModule = embed "worker.js"), ${modules.join(', ')}],
              compatibilityDate = "2026-11-01",
            )),
            (name = "internet", network = (allow = ["local"])),
          ],
          sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "worker")],
        );`;
      await writeFile(join(project, 'workerd.capnp'), config);
      const running = spawn(workerd, ['serve', 'workerd.capnp'], { cwd: project });
      let printed = '';
      for (const stream of [running.stdout, running.stderr]) stream.on('data', (chunk) => (printed += chunk));
      try {
        await vi.waitFor(
          async () => {
            const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
            expect(await response?.text(), printed).toBe(JSON.stringify(expected));
          },
          { timeout: 60_000, interval: 100 },
        );
        expect(printed).toBe('');
      } finally {
        running.kill();
      }
    });

    it('runs the installed client package in Chromium on a page of another origin', async () => {
      const browser = await launchBrowser();
      try {
        const page = await browser.newPage();
        const complaints: string[] = [];
        page.on('console', (message) => complaints.push(message.text()));
        await page.goto(origin);
        const inPage = program
          .replace(
            /import (\{.*\}) from '@itsm-api\/client\/webhooks'/,
            "const $1 = await import('/client/webhooks.js')",
          )
          .replace(/import (\{.*\}) from '@itsm-api\/client'/, "const $1 = await import('/client/index.js')")
          .replace('process.env', JSON.stringify({ BASE_URL: baseUrl, API_KEY: workspace.key }));
        const result = await page.evaluate(
          `(async () => { ${inPage}\n return { found, limits, missing, same, rejected, many }; })()`,
        );
        expect(result).toEqual(expected);
        // The program requests a ticket that does not exist, and Chromium logs the 404 response.
        expect(complaints).toEqual([expect.stringContaining('404')]);
      } finally {
        await browser.close();
      }
    });
  }
});

describe('types of the client package', () => {
  const compilers = {
    'TypeScript 5.4': join(dirname(require.resolve('typescript-5.4/package.json')), 'bin/tsc'),
    'TypeScript 5.9': join(dirname(require.resolve('typescript-5.9/package.json')), 'bin/tsc'),
    'TypeScript 7': join(root, 'tools/node_modules/typescript/bin/tsc'),
  };
  const strict = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'es2022',
  };
  const node = {
    ...strict,
    module: 'nodenext',
    lib: ['es2022'],
    types: ['node'],
    typeRoots: [join(root, 'tools/node_modules/@types')],
  };
  const settings = {
    'Node.js': node,
    'a bundler': {
      ...strict,
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom'],
      types: [],
    },
    'CommonJS in Node.js': node,
    // Doesn't read `exports`. TypeScript 7 no longer has this module resolution.
    'CommonJS with the module resolution node10': {
      ...strict,
      module: 'commonjs',
      moduleResolution: 'node10',
      lib: ['es2022', 'dom'],
      types: [],
    },
  };

  beforeAll(async () => {
    const readme = await readFile(join(installed, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    const declarations = await Promise.all(
      ['generated', 'generated-resources', 'client', 'errors', 'list', 'changes', 'api-promise', 'webhooks'].map(
        (name) => readFile(join(installed, `dist/${name}.d.ts`), 'utf8'),
      ),
    );
    const examples = [...declarations.join('\n').matchAll(/@example\n([\s\S]*?)\*\//g)].map(([, block = '']) =>
      block.replace(/^ *\* ?/gm, ''),
    );
    expect(blocks.length).toBeGreaterThan(5);
    // The doc comments contain an example for every operation, and a few more examples.
    expect(examples.length).toBeGreaterThanOrEqual(22);
    const samples = Object.values(openApiDocument().paths).flatMap((item) =>
      Object.values(item).map((operation) => operation['x-codeSamples']?.[0]?.source ?? ''),
    );
    const functions = [...blocks, ...examples, ...samples].map(
      (block, index) => `export async function example${index}() {\n${block.replace(/^import .*\n/gm, '')}\n}\n`,
    );
    const uses = `
    export async function usesBytes() {
      const { body } = await client.attachments.download(1);
      const { value } = await body.getReader().read();
      const content: Blob = new Blob(value === undefined ? [] : [value]);
      await client.tickets.attach(38, { name: 'trace.txt', content });
      await client.tickets.attach(38, { name: 'trace.txt', content: value ?? new Uint8Array(1) });
    }
    export function narrowsErrors(error: unknown): string {
      if (error instanceof InsufficientScopeError) return error.requiredScope;
      return error instanceof WebhookError ? error.code : '';
    }`;
    const context = `import { InsufficientScopeError, ItsmClient, isItsmError, type NewTicket, type Ticket } from '@itsm-api/client';
      import { signDelivery, signTestEvent, unwrap, WebhookError } from '@itsm-api/client/webhooks';
      declare const process: { env: Record<string, string | undefined> };
      declare const apiKey: string;
      declare const client: ItsmClient;
      declare const rawBody: Uint8Array;
      declare const request: Request;
      declare const secret: string;
      declare const ticket: Ticket;
      declare const save: (ticket: Ticket) => Promise<void>;
      declare const keep: (cursor: string | undefined) => Promise<void>;
      declare const cursor: string | undefined;
      declare const rows: NewTicket[];
      interface TicketFields { site?: 'berlin' | null }
      interface AssetFields { floor?: number | null }\n`;
    for (const [name, compilerOptions] of Object.entries(settings)) {
      const folder = join(project, name);
      await mkdir(folder);
      await writeFile(join(folder, 'examples.ts'), context + functions.join('') + uses);
      // Without a `type`, the TypeScript files of the folder are CommonJS modules.
      await writeFile(join(folder, 'package.json'), name.startsWith('CommonJS') ? '{}' : '{ "type": "module" }');
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    }
  });

  const combinations = [
    ['TypeScript 7', 'Node.js'],
    ['TypeScript 7', 'a bundler'],
    ['TypeScript 7', 'CommonJS in Node.js'],
    ['TypeScript 5.9', 'Node.js'],
    ['TypeScript 5.4', 'Node.js'],
    ['TypeScript 5.4', 'a bundler'],
    ['TypeScript 5.4', 'CommonJS with the module resolution node10'],
  ] as const;
  it.each(isNightly ? combinations : combinations.slice(0, 1))(
    'compiles all client examples with %s and the settings for %s',
    async (compiler, setting) => {
      const command = [compilers[compiler], '-p', join(project, setting)];
      const { stdout, stderr } = await execute(process.execPath, command).catch((error) => error);
      expect(stdout + stderr).toBe('');
    },
    60_000,
  );
});
