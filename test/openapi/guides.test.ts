import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { readSettings, startAlerts } from '@itsm-api/alerts';
import type { Ticket } from '@itsm-api/client';
import { signTestEvent } from '@itsm-api/client/webhooks';
import type { Asset } from '@itsm-api/contract';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { updateArticle } from '@itsm-api/server/resources/articles/queries.ts';
import { backfillFilters } from '@itsm-api/server/resources/custom-fields/filter-backfill.ts';
import { startWebhooks } from '@itsm-api/server/webhooks/start-webhooks.ts';
import { afterAll, describe, expect } from 'vitest';
import { parse } from 'yaml';
import { writeShellProgram } from '../cli/shell-program.ts';
import { type Api, startApi } from '../support/api.ts';
import { compiled } from '../support/compiled.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import {
  type PythonProcess,
  python,
  pythonEnvironment,
  skipUnlessPython,
  startPythonProcess,
} from '../support/python.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Runs the code blocks of all guides against a server, and checks their results. */
const guides = new URL('../../docs/guides/', import.meta.url);
const secret = 'a secret of the guides, long enough';
const secretKey = randomBytes(32).toString('base64');

/** An API that allows 30 requests per second in each endpoint group. The guides about rate limits use this API. */
let limited: Api;
let origin: string;
let limitedOrigin: string;
let folder: string;
let stopDelivery: () => Promise<void>;
/** The path of the program that runs commands. */
let itsm: string;
let closeCommands: () => void;
/** The process that runs the Python programs, or undefined if Python is missing. */
let pythonPrograms: PythonProcess<{ status: number; output: string; errors: string }> | undefined;

const it = itBase.extend(
  'options',
  { scope: 'file' },
  {
    ownDatabase: true,
    secretKeys: [secretKey],
    env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
  },
);
it.beforeAll(async () => {
  limited = await startApi({
    databaseUrl: api.databaseUrl,
    env: { RATE_LIMIT_GROUP: '30', RATE_LIMIT_WINDOW_SECONDS: '1' },
  });
  await workspace.createTicket({ title: 'Seen in a guide', priority: 'HIGH' });
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  limitedOrigin = await limited.app.listen({ host: '127.0.0.1', port: 0 });
  stopDelivery = await startWebhooks({ ...api, logger: createLogger('error') });
  folder = await mkdtemp(join(tmpdir(), 'itsm-guides-'));
  await symlink(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'));
  ({ path: itsm, close: closeCommands } = await writeShellProgram(folder, api.databaseUrl, {
    WEBHOOK_SECRET_KEY: secretKey,
  }));
  if (python) pythonPrograms = startPythonProcess(join(import.meta.dirname, 'python-programs.py'), folder);
});
afterAll(async () => {
  await pythonPrograms?.stop();
  closeCommands();
  await stopDelivery();
  await limited.close();
  await rm(folder, { recursive: true });
});

type Language = 'sh' | 'ts' | 'python';

/** The languages of code blocks that these tests don't run. */
const shown = ['json', 'yaml', 'java', 'csharp', 'go'] as const;
type Shown = (typeof shown)[number];

/** The program that runs the code blocks of each language. */
const programs: Record<Language, { command: string; args: string[]; extension: string }> = {
  sh: { command: 'bash', args: ['-euo', 'pipefail'], extension: 'sh' },
  ts: { command: process.execPath, args: [], extension: 'mts' },
  python: { command: python ?? 'python3', args: [], extension: 'py' },
};

/** Replaces the tenant and the path of the `itsm` command in the code of a guide. */
const inWorkspace = (code: string) =>
  code.replaceAll('./itsm', itsm).replaceAll('Acme Corporation', String(workspace.tenantId));

/** Replaces the Python program in a command, and removes the command if Python is missing. */
const withPython = (code: string) =>
  code.replace(/^python3 .*\n/m, (line) => (python ? line.replace('python3', python) : ''));

interface Guide {
  blocks: { language: Language | Shown; code: string }[];
  /**
   * Returns the next code block of a language and removes it from `blocks`. A test must take all blocks of its guide.
   */
  take(language: Language | Shown): string;
}

async function readGuide(name: string): Promise<Guide> {
  const text = await readFile(new URL(`${name}.md`, guides), 'utf8');
  const blocks = [...text.matchAll(/^```(\w*)(?: [^\n]*)?\n(.*?)^```$/gms)].map(([, language = '', code = '']) => {
    expect([...Object.keys(programs), ...shown]).toContain(language);
    return { language: language as Language | Shown, code };
  });
  return {
    blocks,
    take(language) {
      const at = blocks.findIndex((block) => block.language === language);
      const [block] = blocks.splice(at, 1);
      if (block === undefined) throw new Error(`${name} has no more ${language}`);
      return block.code;
    },
  };
}

async function launch(
  language: Language,
  code: string,
  env: Record<string, string> = {},
  parameters: string[] = [],
): Promise<ChildProcess> {
  const { command, args, extension } = programs[language];
  const file = join(folder, `block-${Math.random().toString(36).slice(2)}.${extension}`);
  await writeFile(file, code.replace('http://127.0.0.1:3000', origin).replace('itsm_…', workspace.key));
  return spawn(command, [...args, file, ...parameters], {
    cwd: folder,
    env: { ...pythonEnvironment, ...compiled, ...settings(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const settings = () => ({ ITSM_URL: origin, ITSM_KEY: workspace.key, WEBHOOK_SECRET: secret });

/** Runs a code block until it ends, and returns its output. */
async function run(language: Language, code: string, env?: Record<string, string>, args?: string[]): Promise<string> {
  if (language === 'python' && pythonPrograms !== undefined) {
    const task = { code, env: { ...settings(), ...env }, args: args ?? [] };
    const { status, output, errors } = await pythonPrograms.run(task);
    expect(status, errors + output).toBe(0);
    return output;
  }
  const child = await launch(language, code, env, args);
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  const [status] = await once(child, 'close');
  expect(status, errors() + output()).toBe(0);
  return output();
}

/** Runs a Python program and checks its output. If Python is missing, does nothing. */
async function checkPython(code: string, expected: string | RegExp, env?: Record<string, string>, args?: string[]) {
  if (python === undefined) return;
  const output = await run('python', code, env, args);
  expect(output).toEqual(expected instanceof RegExp ? expect.stringMatching(expected) : expected);
}

function collect(stream: Readable | null): () => string {
  let output = '';
  stream?.on('data', (chunk) => {
    output += chunk;
  });
  return () => output;
}

async function isMissing(command: string): Promise<boolean> {
  const child = spawn(command, ['--version'], { stdio: 'ignore' });
  const [result] = await Promise.race([once(child, 'exit'), once(child, 'error')]);
  return result !== 0;
}

const hasJq = !(await isMissing('jq'));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The guides that contain no code. */
const withoutCode = ['limitations.md', 'versioning.md'];

it('has a test for the code samples of every guide', async () => {
  for (const name of withoutCode) expect((await readGuide(name.replace('.md', ''))).blocks).toEqual([]);
  const names = (await readdir(guides)).filter((name) => !withoutCode.includes(name));
  expect(names.sort()).toEqual([
    'agents.md',
    'alerts.md',
    'api-keys.md',
    'approve-changes.md',
    'articles.md',
    'attachments.md',
    'bulk-requests.md',
    'change-status.md',
    'comments-and-activity.md',
    'custom-fields.md',
    'first-request.md',
    'handle-errors.md',
    'let-agents-propose.md',
    'manage-webhooks.md',
    'migrate.md',
    'optimistic-concurrency.md',
    'pagination.md',
    'python.md',
    'rate-limits.md',
    'relate-tickets.md',
    'request-forms.md',
    'response-targets.md',
    'retry-safely.md',
    'roles.md',
    'route-tickets.md',
    'search-and-filter.md',
    'sync-assets.md',
    'sync-changes.md',
    'test-your-integration.md',
    'two-way-sync.md',
    'verify-signatures.md',
  ]);
});

it('shows only TypeScript that compiles in strict mode', async () => {
  const compiled = await mkdtemp(fileURLToPath(new URL('../node_modules/.guides-', import.meta.url)));
  try {
    // The guide `test-your-integration` shows parts of programs, which `pnpm check` compiles in strict mode.
    for (const file of (await readdir(guides)).filter((file) => file !== 'test-your-integration.md')) {
      const programs = (await readGuide(file.replace('.md', ''))).blocks.filter(({ language }) => language === 'ts');
      for (const [index, { code }] of programs.entries()) await writeFile(join(compiled, `${file}-${index}.mts`), code);
    }
    // The guides `custom-fields` and `request-forms` show the command that writes this file.
    const types =
      'export interface TicketFields { building?: string }\nexport interface AssetFields {}\n' +
      "export interface Forms { workplace: { desk: 'north' | 'south'; monitors?: number } }\n";
    await writeFile(join(compiled, 'itsm-fields.d.ts'), types);
    const base = fileURLToPath(new URL('../../tsconfig.base.json', import.meta.url));
    const compilerOptions = { incremental: false, types: ['node'], lib: ['es2024', 'dom', 'dom.iterable'] };
    const settings = { extends: base, compilerOptions, files: await readdir(compiled) };
    await writeFile(join(compiled, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = fileURLToPath(new URL('../../tools/node_modules/typescript/bin/tsc', import.meta.url));
    const child = spawn(process.execPath, [compiler, '-p', compiled], { stdio: ['ignore', 'pipe', 'inherit'] });
    const errors = collect(child.stdout);
    expect([(await once(child, 'close'))[0], errors()]).toEqual([0, '']);
  } finally {
    await rm(compiled, { recursive: true });
  }
});

it('runs the code samples in docs/guides/first-request.md', async () => {
  const guide = await readGuide('first-request');
  const settings = guide.take('sh');
  expect(await run('sh', settings + guide.take('sh'))).toContain('Seen in a guide');
  expect(await run('sh', settings + guide.take('sh'))).toContain('"ticketNumber":"INC-2"');
  expect(await run('ts', guide.take('ts'))).toBe('INC-3 OPEN\n');
  await checkPython(guide.take('python'), 'INC-4 OPEN\n');
  const onBehalf = guide.take('sh').replace('"requesterId":1', `"requesterId":${workspace.userId}`);
  expect(await run('sh', onBehalf)).toContain(`"requesterId":${workspace.userId}`);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/pagination.md', async () => {
  const guide = await readGuide('pagination');
  const { totalCount } = (await workspace.call('GET', '/tickets?status=OPEN&perPage=1')).body.meta;
  expect(await run('sh', guide.take('sh'))).toContain('"meta":{"page":1,"perPage":5,"totalCount":1}');
  // With two rows per page, the list has several pages.
  const walked = await run('ts', guide.take('ts').replace('perPage = 100', 'perPage = 2'));
  expect(walked).toBe(`INC-1 Seen in a guide\n${totalCount} open tickets\n`);
  await checkPython(guide.take('python').replace('list(', 'list(per_page=2, '), walked);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/handle-errors.md', async () => {
  const guide = await readGuide('handle-errors');
  const refused = JSON.parse(await run('sh', guide.take('sh')));
  expect(refused.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'perPage' }, { path: 'colour' }] });
  const code = guide.take('ts');
  expect(await run('ts', code)).toMatch(/^1 ticket\nVALIDATION_ERROR description, type(, category)? [0-9a-f]{32}\n$/);
  // If no quota is left, the code in the guide waits for the time in Retry-After.
  const burst = `await Promise.all(Array.from({ length: 30 }, () => fetch(\`\${process.env.ITSM_URL}/api/public/v1/tickets\`, {
    headers: { authorization: \`Bearer \${process.env.ITSM_KEY}\` } })));\n`;
  expect(await run('ts', burst + code, { ITSM_URL: limitedOrigin })).toContain('1 ticket');
  await checkPython(guide.take('python'), /^1 ticket\nVALIDATION_ERROR title [0-9a-f]{32}\n$/);
  expect(await run('sh', guide.take('sh'))).toMatch(/import-42/);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/search-and-filter.md', async () => {
  const guide = await readGuide('search-and-filter');
  await workspace.createTicket({ title: 'Imported', requesterId: workspace.userId, externalId: 'zendesk:5811' });
  await workspace.createTicket({ title: 'VPN drops at noon', requesterId: workspace.userId });
  const newest = (await workspace.call('GET', '/tickets?perPage=1')).body.data[0].ticketNumber;
  expect(JSON.parse(await run('sh', guide.take('sh'))).data.workspace.name).toMatch(/^Workspace/);
  expect(await run('sh', guide.take('sh').replace('INC-17', newest))).toContain('VPN drops at noon');
  expect(JSON.parse(await run('sh', guide.take('sh'))).data).toMatchObject([{ title: 'Imported' }]);
  const user = guide.take('sh').replace('users/1', `users/${workspace.userId}`);
  expect(JSON.parse(await run('sh', user)).data.id).toBe(workspace.userId);
  expect(await run('sh', guide.take('sh'))).toContain('VPN drops at noon');
  expect(JSON.parse(await run('sh', guide.take('sh'))).meta.totalCount).toBeGreaterThan(0);
  const { id } = await workspace.createUser({ email: 'jonas.weber@acme.example' });
  expect(await run('sh', guide.take('sh').replace('INC-17', newest))).toContain(`"assigneeId":${id}`);
  const found = await run('ts', guide.take('ts'));
  expect(found).toMatch(/^INC-\d+ VPN drops at noon\n1 of 1\n$/);
  await checkPython(guide.take('python'), found);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/agents.md', async () => {
  const guide = await readGuide('agents');
  // Replaces each third-party program with a shell function that prints its arguments.
  const called = (program: string) => run('sh', `${program}() { printf '%s\\n' "$@"; }\n${guide.take('sh')}`);
  const mcp = `${origin}/mcp`;
  const authorization = `Bearer ${workspace.key}`;
  await run('sh', guide.take('sh'));
  expect((await called('claude')).split('\n')).toEqual(
    expect.arrayContaining(['mcp', 'add', '--transport', 'http', 'itsm', mcp, `Authorization: ${authorization}`]),
  );
  const settings = () => JSON.stringify(JSON.parse(guide.take('json')));
  for (const names of [
    ['mcp-remote', 'mcpServers'],
    ['servers', 'input:itsm-key'],
    ['mcpServers', 'env:ITSM_KEY'],
  ]) {
    const text = settings();
    for (const name of [...names, 'http://127.0.0.1:3000/mcp', 'Authorization']) expect(text).toContain(name);
  }
  const [tools, response] = (await run('ts', guide.take('ts'))).split(/\n(.*)/s);
  expect(tools).toContain('list_tickets get_ticket create_ticket');
  expect(response).toContain('VPN drops');
  expect(await called('npx')).toContain(`--cli\n${mcp}\n`);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/let-agents-propose.md', async () => {
  const guide = await readGuide('let-agents-propose');
  const own = await createWorkspace(api);
  const { email } = await own.createUser();
  const create = guide.take('sh').replaceAll('./itsm', itsm).replaceAll('Acme Corporation', String(own.tenantId));
  const key = (await run('sh', create.replace('jonas.weber@acme.example', email))).trim();
  await run('sh', guide.take('sh'));
  const connect = `claude() { printf '%s\\n' "$@"; }\n${guide.take('sh')}`;
  expect(await run('sh', connect, { ITSM_KEY: key })).toContain(`Authorization: Bearer ${key}`);
  expect(JSON.parse(guide.take('json')).servers.itsm.url).toBe('http://127.0.0.1:3000/mcp');
  const { id, ticketNumber } = await own.createTicket();
  const proposed = await run('sh', guide.take('sh').replace('INC-17', ticketNumber), { ITSM_KEY: key });
  const { data } = JSON.parse(proposed);
  expect(data).toMatchObject({ status: 'PENDING', preview: [{ target: `TICKET:${id}` }] });
  const decide = guide.take('sh').replace('/proposals/1"', `/proposals/${data.id}"`);
  expect(JSON.parse(await run('sh', decide, { ITSM_KEY: own.key })).data.status).toBe('ACCEPTED');
  expect((await own.call('GET', `/tickets/${id}`)).body.data.priority).toBe('CRITICAL');
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/optimistic-concurrency.md', async () => {
  const guide = await readGuide('optimistic-concurrency');
  const of = (code: string) =>
    code
      .replaceAll('/tickets/1"', `/tickets/${id}"`)
      .replaceAll('/tickets/1`', `/tickets/${id}\``)
      .replaceAll('get(1)', `get(${id})`)
      .replaceAll('update(1,', `update(${id},`);
  const { id } = await workspace.createTicket();
  expect(JSON.parse(await run('sh', of(guide.take('sh')))).data.priority).toBe('CRITICAL');
  const repeat = of(guide.take('ts'));
  expect(await run('ts', repeat)).toMatch(/^written "[^"]+"\n$/);
  const outdated = await launch('ts', repeat.replace("read.headers.get('etag')", `'"outdated"'`));
  const error = collect(outdated.stderr);
  expect(await once(outdated, 'close')).toEqual([1, null]);
  expect(error()).toContain('The resource has changed');
  expect((await workspace.call('GET', `/tickets/${id}`)).body.data.description).toMatch(/Seen by the monitor\.$/);
  const repeatInPython = of(guide.take('python'));
  await checkPython(repeatInPython, /^written "[^"]+"\n$/);
  const withOldTag = repeatInPython.replace('ticket["etag"]', `'"outdated"'`);
  if (python) await expect(run('python', withOldTag)).rejects.toThrow('PreconditionFailedError');
  expect(await run('ts', guide.take('ts'))).toBe('0 tickets were changed by another client\n');
  await checkPython(guide.take('python'), '0 tickets were changed by another client\n');
  expect((await workspace.call('GET', `/tickets/${id}`)).body.data.priority).toBe('HIGH');
  expect(await run('sh', of(guide.take('sh')))).toBe('304\n');
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/comments-and-activity.md', async () => {
  const guide = await readGuide('comments-and-activity');
  const { id } = await workspace.createTicket();
  const of = (code: string) => code.replaceAll('/tickets/1/', `/tickets/${id}/`).replace('ticket(1)', `ticket(${id})`);
  const [made, listed] = (await run('sh', of(guide.take('sh')))).split('}{');
  expect(made).toContain('"visibility":"PUBLIC"');
  expect(listed).toContain('"totalCount":1');
  const who = `by user ${workspace.userId}`;
  const activity = `COMMENTED ${who}: commentCount\nCREATED ${who}: all\n`;
  expect(await run('ts', of(guide.take('ts')))).toBe(activity);
  await checkPython(of(guide.take('python')), activity);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/sync-assets.md', async () => {
  const guide = await readGuide('sync-assets');
  expect(await run('sh', guide.take('sh'))).toContain('"result":"CREATED"');
  const [list, sync, syncInPython] = [guide.take('json'), guide.take('ts'), guide.take('python')];
  const save = (text: string) => writeFile(join(folder, 'inventory.json'), text);
  await save(list);
  expect(await run('ts', sync)).toBe('1 created, 1 updated, 0 unchanged, 0 gone\n');
  expect(await run('ts', sync)).toBe('0 created, 0 updated, 2 unchanged, 0 gone\n');
  await checkPython(syncInPython, '0 created, 0 updated, 2 unchanged, 0 gone\n');
  const byCurl = guide.take('sh');
  if (hasJq) expect(await run('sh', byCurl)).toBe('LT-0311 UNCHANGED\nLT-0312 UNCHANGED\n');

  const readAssets = async () =>
    (await workspace.call('GET', '/assets')).body.data.map((asset: Asset) => [asset.assetTag, asset.status]);
  await workspace.createAsset({ assetTag: 'other', externalId: 'other:1' });
  await save('[]');
  for (const mostRetired of ['5', 'many']) {
    const stopped = await launch('ts', sync.replace("default: '5'", `default: '${mostRetired}'`));
    expect((await once(stopped, 'close'))[0]).toBe(1);
  }
  if (python) await expect(run('python', syncInPython)).rejects.toThrow('2 of 2 assets are no longer in the list');
  await save(JSON.stringify(JSON.parse(list).slice(1)));
  const half = sync.replace("default: '5'", "default: '50%'");
  expect(await run('ts', half)).toBe('0 created, 0 updated, 1 unchanged, 1 gone\n');
  expect(await run('ts', half)).toBe('0 created, 0 updated, 1 unchanged, 0 gone\n');
  await writeFile(join(folder, 'synced-assets.json'), '["inventory:4711","inventory:4712"]');
  await checkPython(syncInPython, '0 created, 0 updated, 1 unchanged, 1 gone\n', {}, ['--max-retire', '50']);
  expect(await readAssets()).toEqual([
    ['other', 'IN_STOCK'],
    ['LT-0312', 'IN_STOCK'],
    ['LT-0311', 'RETIRED'],
  ]);
  const [, device] = JSON.parse(list);
  const others = [
    { ...device, id: '4713' },
    { ...device, id: '4714', assetTag: 'LT-0314' },
  ];
  await save(JSON.stringify([device, ...others]));
  const reporting = await launch('ts', sync);
  const [output, errors] = [collect(reporting.stdout), collect(reporting.stderr)];
  expect((await once(reporting, 'close'))[0]).toBe(1);
  expect(output()).toBe('1 created, 0 updated, 1 unchanged, 0 gone\n');
  const twin = 'inventory:4713: assetTag LT-0312 is a duplicate of the item with index 0.\n';
  expect(errors()).toContain(twin);
  if (python) await expect(run('python', syncInPython)).rejects.toThrow(twin);
  const edit = "sed -i '/LT-0312/s/Hamburg/Munich/' assets.csv";
  const importing = inWorkspace(guide.take('sh')).replace('# Edit the file.', edit);
  expect(await run('sh', importing)).toContain('Imported 4 assets (0 new, 1 changed, 3 unchanged).\n');
  expect((await workspace.call('GET', '/assets?assetTag=LT-0312')).body.data[0].location).toBe('Munich');
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/api-keys.md', async () => {
  const guide = await readGuide('api-keys');
  const { email } = await workspace.createUser();
  const create = inWorkspace(guide.take('sh')).replace('ada.okafor@acme.example', email);
  const key = (await run('sh', create)).trim();
  expect(await run('sh', inWorkspace(guide.take('sh')))).toMatch(/^Created the service account .*\nitsm_\w{38}\n$/);
  expect(await run('sh', inWorkspace(guide.take('sh')))).toContain('Expiry of API keys: at most 365 days.');
  const { data } = JSON.parse(await run('sh', guide.take('sh'), { ITSM_KEY: key }));
  expect(data).toMatchObject({
    key: { name: 'nightly export', scopes: ['tickets:read', 'users:read'] },
    user: { email },
  });
  expect(await run('sh', inWorkspace(guide.take('sh')))).not.toContain('nightly export');
  const withId = (code: string) => inWorkspace(code).replace(' 7', ` ${data.key.id}`);
  expect(await run('sh', withId(guide.take('sh')))).toMatch(/^itsm_\w{38}\n$/);
  await run('sh', withId(guide.take('sh')));
  const { revokedAt } = await api.prisma.apiKey.findFirstOrThrow({ where: { id: data.key.id } });
  expect(revokedAt).not.toBeNull();
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/roles.md', async () => {
  const guide = await readGuide('roles');
  const { id, email } = await workspace.createUser();
  const ofUser = (code: string) => inWorkspace(code).replace('jonas.weber@acme.example', email);
  const list = guide.take('sh');
  const admins = async () => JSON.parse(await run('sh', list)).data.map((user: { id: number }) => user.id);
  expect(await admins()).toEqual([workspace.userId]);
  await run('sh', ofUser(guide.take('sh')));
  expect(await admins()).toEqual([id, workspace.userId]);
  expect(await run('sh', ofUser(guide.take('sh')))).toContain('with 1 member.');
  const [team] = (await workspace.call('GET', '/teams')).body.data;
  const { ticketNumber } = await workspace.createTicket();
  const ofTeam = guide.take('sh').replace(':2}', `:${team.id}}`).replace('teamId=2', `teamId=${team.id}`);
  const found = await run('sh', ofTeam.replace('INC-17', ticketNumber));
  expect(found.split(`"teamId":${team.id},`)).toHaveLength(3);
  expect(await run('sh', ofUser(guide.take('sh')))).toContain('/developer/join?token=');
  const folder = await mkdtemp(join(tmpdir(), 'itsm-guide-'));
  const exporting = ofUser(guide.take('sh')).replace('audit.jsonl', join(folder, 'audit.jsonl'));
  expect(await run('sh', exporting)).toContain('SHA-256');
  const lines = (await readFile(join(folder, 'audit.jsonl'), 'utf8')).trim().split('\n');
  await rm(folder, { recursive: true });
  const changes = { role: { from: 'AGENT', to: 'ADMIN' } };
  const sample = JSON.parse(guide.take('json'));
  const updated = lines.map((line) => JSON.parse(line)).find(({ action }) => action === 'user.updated');
  expect(updated).toMatchObject({ changes, osUser: userInfo().username });
  expect(Object.keys(updated)).toEqual(Object.keys(sample));
  const named = await workspace.createTicket({ title: `Laptop of ${email}` });
  const { id: commentId } = await workspace.createComment(named.id, { body: `Wrote to ${email}.` });
  const confirmed = (code: string) => code.replaceAll(' --tenant', ' --yes --tenant');
  const erased = await run('sh', confirmed(ofUser(guide.take('sh'))));
  expect(erased).toContain(named.ticketNumber);
  const redacting = inWorkspace(guide.take('sh'))
    .replace('INC-17', named.ticketNumber)
    .replace('77', String(commentId));
  const answer = await run('sh', confirmed(redacting));
  expect(answer).toBe('Redacted 1 ticket.\nRedacted 1 comment.\n');
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/relate-tickets.md', async () => {
  const guide = await readGuide('relate-tickets');
  expect(await run('ts', guide.take('ts'))).toMatch(/^INC-\d+ concerns PR-0042\n$/);
  await checkPython(guide.take('python').replace('PR-0042', 'PR-0043'), /^INC-\d+ concerns PR-0043\n$/);
  expect(await run('ts', guide.take('ts'))).toBe('CAUSED_BY INCOMING\n');
  await checkPython(guide.take('python'), 'CAUSED_BY INCOMING\n');
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/route-tickets.md', async () => {
  const guide = await readGuide('route-tickets');
  const own = await createWorkspace(api);
  const env = {
    ITSM_KEY: own.key,
    HOOK_URL: 'https://example.com/hook',
  };
  const create = guide.take('sh').replace('./itsm', itsm).replace('Acme Corporation', String(own.tenantId));
  expect(await run('sh', create, env)).toContain('Network on call');
  const other = await own.createTicket({ title: 'Badge', description: 'Lost.', tags: ['new'] });
  const { id } = await own.createTicket({ title: 'The WLAN is slow', description: 'On all floors.', tags: ['new'] });
  const { data } = JSON.parse(await run('sh', guide.take('sh'), env));
  expect(data).toMatchObject({ id, tags: ['site:berlin', 'vpn'] });

  const route = guide.take('ts');
  expect(await run('ts', route, env)).toBe('Routed 1 of 1 tickets.\n');
  const read = async (of: number) => (await own.call('GET', `/tickets/${of}`)).body.data;
  expect(await read(id)).toMatchObject({ teamId: expect.any(Number), tags: ['network', 'site:berlin', 'vpn'] });
  expect(await read(other.id)).toMatchObject({ teamId: null, tags: ['new'] });
  expect(await run('ts', route, env)).toBe('Routed 0 of 0 tickets.\n');
  await own.call('PATCH', `/tickets/${id}`, { teamId: null, removeTags: ['network'] });
  const routeInPython = guide.take('python');
  await checkPython(routeInPython, 'Routed 1 of 1 tickets.\n', env);
  await checkPython(routeInPython, 'Routed 0 of 0 tickets.\n', env);
  if (python) expect(await read(id)).toMatchObject({ tags: ['network', 'site:berlin', 'vpn'] });
  expect(JSON.parse(await run('sh', guide.take('sh'), env)).data.filter).toEqual({ tags: ['network'] });
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/change-status.md', async () => {
  const guide = await readGuide('change-status');
  expect(await run('ts', guide.take('ts'))).toMatch(/^CLOSED \d{4}-.*Z\n$/);
  await checkPython(guide.take('python'), /^CLOSED \d{4}-.*Z\n$/);
  const { id } = await workspace.createAsset();
  const assign = guide.take('sh').replace(':2,', `:${workspace.userId},`).replace('assets/11', `assets/${id}`);
  const { data } = JSON.parse(await run('sh', assign));
  expect(data).toMatchObject({ assignedToId: workspace.userId, status: 'MAINTENANCE' });
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/articles.md', async () => {
  const guide = await readGuide('articles');
  expect(await run('sh', inWorkspace(guide.take('sh')))).toBe('Created: 1. Updated: 0. Unchanged: 0.\n');
  expect(await run('ts', guide.take('ts'))).toMatch(/^Reset the VPN client\n\n1\. Close/);
  await checkPython(guide.take('python'), /^Reset the VPN client\n\n1\. Close/);
  const [{ id }] = (await workspace.call('GET', '/articles')).body.data;
  for (const language of ['ts', ...(python ? ['python' as const] : [])] as const) {
    const program = guide.take(language);
    const copyAll = async () => {
      await run(language, program);
      return readdir(join(folder, 'copy'));
    };
    await expect.poll(copyAll).toEqual([`${id}.md`, 'cursor']);
    await updateArticle(workspace.context, id, { status: 'ARCHIVED' });
    await expect.poll(copyAll).toEqual(['cursor']);
    await updateArticle(workspace.context, id, { status: 'PUBLISHED' });
    await rm(join(folder, 'copy'), { recursive: true });
  }
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/attachments.md', async () => {
  const guide = await readGuide('attachments');
  const { ticketNumber } = await workspace.createTicket();
  const take = (language: Language) => guide.take(language).replaceAll('INC-17', ticketNumber);
  const { data } = JSON.parse(await run('sh', take('sh')));
  expect(data).toMatchObject({ name: 'vpn.log', contentType: 'text/plain', size: 31 });
  expect(await run('ts', take('ts'))).toBe('trace.txt 25\nvpn.log 31\n');
  expect(await run('ts', take('ts'))).toBe('trace.txt application/octet-stream 25\nvpn.log text/plain 31\n');
  await checkPython(take('python'), 'trace.txt 25\ntrace.txt 25\nvpn.log 31\n');
  const trace = 'trace.txt application/octet-stream 25\n';
  await checkPython(take('python'), `${trace}${trace}vpn.log text/plain 31\n`);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/custom-fields.md', async () => {
  const guide = await readGuide('custom-fields');
  const { data } = JSON.parse(await run('sh', guide.take('sh')));
  expect(data.customFields).toEqual({ costCentre: 'CC-104', floor: 3, buildings: ['north', 'south'] });
  const changed = JSON.parse(await run('sh', guide.take('sh').replace('/tickets/1"', `/tickets/${data.id}"`))).data;
  expect(changed.customFields).toEqual({ costCentre: 'CC-104', floor: 4 });
  const own = await createWorkspace(api);
  const env = { ITSM_KEY: own.key };
  const inOwn = (code: string) => code.replaceAll('./itsm', itsm).replaceAll('Acme Corporation', String(own.tenantId));
  expect(await run('sh', inOwn(guide.take('sh')), env)).toContain('Defined the custom field building (TICKET)');
  const listed = JSON.parse(await run('sh', guide.take('sh'), env)).data;
  expect(listed).toMatchObject([{ key: 'building', options: [{ label: 'North wing' }, { label: 'South wing' }] }]);
  const sites = ['Leipzig', 'home office', 'Berlin'].map((value) => ({ value, label: value }));
  await own.createField({ key: 'site', type: 'SELECT', options: sites, filterable: true });
  await backfillFilters(api.databases.system.prisma);
  await own.createTicket({ customFields: { site: 'Berlin' } });
  const two = await own.createTicket({ customFields: { site: 'home office' } });
  expect(JSON.parse(await run('sh', guide.take('sh'), env)).data).toMatchObject([{ id: two.id }]);
  expect(await run('sh', inOwn(guide.take('sh')), env)).toContain('Created the category VPN (ID network/vpn).');
  const found = await run('sh', guide.take('sh'), env);
  expect(found).toContain('"id":"network/vpn"');
  expect(found).toContain('"category":"NETWORK","categoryConfigId":"network/vpn"');

  const program = fileURLToPath(new URL('../../client/bin/itsm-client.ts', import.meta.url));
  const types = withPython(guide.take('sh').replace('itsm_…', own.key)).replace(
    'npx --no @itsm-api/client',
    `node ${program}`,
  );
  expect(await run('sh', `${types}cat itsm-fields.d.ts`, env)).toContain('building?: Open<"north" | "south"> | null');
  expect(await run('ts', guide.take('ts'), env)).toBe('north\n');
  await checkPython(guide.take('python'), 'north\n', env);
  const download = guide.take('sh');
  const print = 'jq -c .components.schemas.TicketCustomFieldsPatch.properties.building.enum workspace.json';
  for (const _ of ['new', 'unchanged']) {
    const printed = await run('sh', hasJq ? download + print : download, env);
    expect(printed).toBe(hasJq ? '["north","south",null]\n' : '');
  }
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/request-forms.md', async () => {
  const guide = await readGuide('request-forms');
  const own = await createWorkspace(api);
  const env = { ITSM_KEY: own.key };
  const define = guide.take('sh').replaceAll('./itsm', itsm).replaceAll('Acme Corporation', String(own.tenantId));
  expect(await run('sh', define, env)).toContain('Created the form New workplace (workplace).');
  const { schema } = JSON.parse(await run('sh', guide.take('sh'), env)).data;
  expect(schema).toMatchObject({ properties: { desk: { title: 'Desk' } }, required: ['desk'] });
  expect(JSON.parse(await run('sh', guide.take('sh'), env)).data).toMatchObject({
    ...{ title: 'Workplace in the North', customFields: { desk: 'north', monitors: 1 }, formKey: 'workplace' },
  });
  const program = fileURLToPath(new URL('../../client/bin/itsm-client.ts', import.meta.url));
  await run('sh', withPython(guide.take('sh')).replace('npx --no @itsm-api/client', `node ${program}`), env);
  expect(await run('ts', guide.take('ts'), env)).toBe('Workplace in the South\n');
  await checkPython(guide.take('python'), 'Workplace in the South\n', env);
  // test/client/examples.test.ts runs this program.
  expect(guide.take('sh')).toContain('node examples/ticket-form.ts');
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/response-targets.md', async () => {
  const guide = await readGuide('response-targets');
  expect(await run('sh', inWorkspace(guide.take('sh')))).toContain('monday-friday 09:00-17:30');
  expect(await run('sh', inWorkspace(guide.take('sh')))).toContain('CRITICAL 240 min, HIGH 480 min');
  const { createdAt, firstResponseDueAt, dueAt } = await workspace.createTicket({ priority: 'HIGH' });
  expect(Date.parse(String(firstResponseDueAt))).toBeGreaterThanOrEqual(Date.parse(createdAt) + 60 * 60_000);
  expect(Date.parse(String(dueAt))).toBeGreaterThan(Date.parse(String(firstResponseDueAt)));
  expect(JSON.parse(await run('sh', guide.take('sh'))).data.dueAt).toBe('2026-01-31T16:00:00.000Z');
  expect(await run('ts', guide.take('ts'))).toBe('Renew the certificate 2026-01-31T16:00:00.000Z\n');
  await checkPython(guide.take('python'), 'Renew the certificate 2026-01-31T16:00:00.000Z\n');
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/approve-changes.md', async () => {
  const guide = await readGuide('approve-changes');
  const window = { plannedStartAt: '2026-12-05T19:00:00.000Z', plannedEndAt: '2026-12-05T23:00:00.000Z' };
  expect(JSON.parse(await run('sh', guide.take('sh'))).data).toMatchObject(window);
  const { plannedStartAt, plannedEndAt } = window;
  expect(await run('ts', guide.take('ts'))).toBe(`Replace the core switch ${plannedStartAt} ${plannedEndAt}\n`);
  await checkPython(guide.take('python'), `Replace the core switch ${plannedStartAt} ${plannedEndAt}\n`);
  const { email } = await workspace.createUser();
  const { ticketNumber } = await workspace.createTicket({ type: 'CHANGE' });
  const request = guide.take('sh').replace('jonas.weber@acme.example', email).replace('CHG-4', ticketNumber);
  expect(JSON.parse(await run('sh', request)).data).toMatchObject({ decision: 'PENDING', note: 'Tested in staging.' });
  const { id } = await workspace.createApproval(workspace.userId);
  expect(await run('ts', guide.take('ts'))).toMatch(/^CHG-\d+ REJECTED\n$/);
  const start = expect.stringMatching(/^node deploy-gate\.ts "Deploy .+" \.\/deploy\.sh$/);
  expect(parse(guide.take('yaml')).jobs.deploy.steps.at(-1)).toEqual({ run: start });
  expect(parse(guide.take('yaml')).deploy.script.at(-1)).toEqual(start);
  const { body } = await workspace.call('GET', '/approvals?decision=REJECTED');
  expect(body.data).toMatchObject([{ id, comment: 'Plan a window.' }]);
  await workspace.createApproval(workspace.userId);
  await checkPython(guide.take('python'), /^CHG-\d+ REJECTED\n$/);
  const turnOn = inWorkspace(guide.take('sh'));
  expect(await run('sh', turnOn)).toContain('Policy for changes: true.');
  await run('sh', turnOn.replace('true', 'false'));
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/rate-limits.md', async () => {
  const guide = await readGuide('rate-limits');
  const env = { ITSM_URL: limitedOrigin };
  expect(await run('sh', guide.take('sh'), env)).toMatch(/"tickets";q=30;w=1/);
  expect(await run('ts', guide.take('ts'), env)).toBe('[ 200 ]\n');
  await checkPython(guide.take('python'), /^global \d+ of \d+\ntickets \d+ of 30\n$/, env);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/retry-safely.md', async () => {
  const guide = await readGuide('retry-safely');
  const responses = await run('sh', guide.take('sh'));
  expect(responses.match(/^HTTP\/1\.1 201/gm)).toHaveLength(2);
  expect(responses.match(/^idempotent-replayed: true/gm)).toHaveLength(1);
  expect(new Set(responses.match(/"ticketNumber":"REQ-\d+"/g)).size).toBe(1);
  expect(await run('ts', guide.take('ts'))).toBe('created once\n');
  await checkPython(guide.take('python'), 'created once\n');
  expect(await run('ts', guide.take('ts'))).toBe('true 1\n');
  await checkPython(guide.take('python'), 'True 1\n');
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/bulk-requests.md', async () => {
  const guide = await readGuide('bulk-requests');
  const { data } = JSON.parse(await run('sh', guide.take('sh')));
  expect(data).toMatchObject([
    { status: 201, data: { title: 'VPN drops' } },
    { status: 400, error: { code: 'VALIDATION_ERROR', details: [{ path: 'description' }] } },
  ]);
  const imported = await run('ts', guide.take('ts'));
  expect(imported).toMatch(/^0 INC-\d+\n1 VALIDATION_ERROR title must have at least 1 character\n2 INC-\d+\n$/);
  const commented = JSON.parse(await run('sh', guide.take('sh')));
  expect(commented.data).toMatchObject([{ status: 201 }, { status: 201 }]);
  expect(await run('ts', guide.take('ts'))).toBe('1 resolved\n');
  await checkPython(guide.take('python'), /^0 INC-\d+\n1 title must have at least 1 character.*\n2 INC-\d+\n$/);
  await checkPython(guide.take('python'), '1 resolved\n');
});

it('runs the code samples in docs/guides/migrate.md', async () => {
  const guide = await readGuide('migrate');
  const own = await createWorkspace(api);
  const { email } = await own.createUser({ role: 'ADMIN' });
  const create = guide.take('sh').replace('./itsm', itsm).replace('Acme Corporation', String(own.tenantId));
  const key = (await run('sh', create.replace('ada.okafor@acme.example', email))).trim();
  const line = guide.take('json').replace('ada.okafor@acme.example', email);
  await writeFile(join(folder, 'export.ndjson'), JSON.stringify(JSON.parse(line)));
  const program = fileURLToPath(new URL('../../examples/migrate-tickets.ts', import.meta.url));
  const command = guide
    .take('sh')
    .replace('itsm_…', key)
    .replace('npx -y pnpm@12.21.0 exec node examples/migrate-tickets.ts', `node ${program}`);
  const withFallback = command.replace('former.staff@acme.example', email);
  expect(await run('sh', withFallback)).toBe('1 tickets imported, 0 already existed, 0 failed\n');
  expect((await own.call('GET', '/tickets?externalId=zendesk:5811')).body.data).toMatchObject([
    { status: 'CLOSED', createdAt: '2024-03-01T08:00:00.000Z', commentCount: 1 },
  ]);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/sync-changes.md', async () => {
  const guide = await readGuide('sync-changes');
  const page = await run('sh', guide.take('sh'));
  expect(page).toContain('Seen in a guide');
  expect(page).toMatch(/"nextCursor":"[\w-]+"/);
  const code = guide.take('ts');
  const { totalCount } = (await workspace.call('GET', '/tickets?perPage=1')).body.meta;
  // Open transactions on the PostgreSQL server can delay the newest changes.
  await expect.poll(() => run('ts', code)).toBe(`${totalCount} tickets\n`);
  await workspace.createTicket();
  await expect.poll(() => run('ts', code)).toBe(`${totalCount + 1} tickets\n`);
  const codeInPython = guide.take('python');
  await checkPython(codeInPython, `${totalCount + 1} tickets\n`);
  await rm(join(folder, 'copy.json'));
  await checkPython(codeInPython, `${totalCount + 1} tickets\n`);
  expect(await run('sh', guide.take('sh'))).toContain('"action":"CREATED"');
  expect(await run('sh', guide.take('sh'))).toContain('"hasMore":false');
  const exporting = guide.take('sh').replace('itsm', itsm).replace('Acme', String(workspace.tenantId));
  const { cursor } = JSON.parse(await run('sh', exporting));
  const lines = (await readFile(join(folder, 'tickets.jsonl'), 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(totalCount + 1);
  expect((await workspace.call('GET', `/tickets/changes?cursor=${cursor}`)).status).toBe(200);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/two-way-sync.md', async () => {
  const guide = await readGuide('two-way-sync');
  const own = await createWorkspace(api);
  const { ticketNumber } = await own.createTicket({ title: 'Seen in a guide', priority: 'HIGH' });
  const program = fileURLToPath(new URL('../../examples/two-way-sync.ts', import.meta.url));
  const command = guide.take('sh').replace('npx -y pnpm@12.21.0 exec node examples/two-way-sync.ts', `node ${program}`);
  // Open transactions on the PostgreSQL server can delay the newest changes, also those that the program makes.
  await expect
    .poll(async () => {
      await run('sh', command, { ITSM_KEY: own.key });
      return JSON.parse(await readFile(join(folder, 'other.json'), 'utf8'));
    })
    .toMatchObject({ 'A-1': { title: 'VPN drops' }, [ticketNumber]: { priority: 'HIGH' } });
  expect((await own.call('GET', '/tickets?externalId=other:A-1')).body.data).toMatchObject([{ title: 'VPN drops' }]);
  // The other sample is a part of the program.
  expect(guide.take('ts')).toContain('if (ticket.etag === links[ticket.id]?.etag) continue;');
  await expect.poll(async () => (await own.call('GET', '/tickets/changes')).body.data).toHaveLength(2);
  await checkPython(guide.take('python'), /^(changed by another client \d+\n){2}$/, { ITSM_KEY: own.key });
  expect(guide.blocks).toEqual([]);
});

describe('the guide verify-signatures', () => {
  it.each(['ts', 'python'] as const)('runs the %s receiver in docs/guides/verify-signatures.md', async (language) => {
    if (language === 'python' && python === undefined) return;
    const guide = await readGuide('verify-signatures');
    const subscribe = guide.take('sh');
    const port = await freePort();
    const receiver = await launch(language, guide.take(language).replace(/\b400[01]\b/, String(port)));
    const printed = collect(receiver.stdout);
    const url = `http://127.0.0.1:${port}/`;
    try {
      await expect.poll(() => reaches(url)).toBe(true);
      const made = JSON.parse(await run('sh', subscribe, { HOOK_URL: url }));
      const { ticketNumber } = await workspace.createTicket();
      await expect.poll(printed).toBe(`ticket.created ${ticketNumber}\n`);

      const body = '{"type":"ticket.created","ticket":{"ticketNumber":"FORGED-1"}}';
      const right = createHmac('sha256', secret).update(body).digest('hex');
      for (const signature of ['', 'é', '00', right.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))]) {
        const response = await fetch(url, { method: 'POST', body, headers: { 'x-service-signature': signature } });
        expect(response.status, signature).toBe(400);
      }
      const genuine = await fetch(url, { method: 'POST', body, headers: { 'x-service-signature': right } });
      expect(genuine.status).toBe(204);
      await workspace.call('DELETE', `/webhooks/${made.data.id}`);
    } finally {
      receiver.kill();
      await once(receiver, 'exit');
    }
  });

  async function reaches(url: string): Promise<boolean> {
    return fetch(url, { method: 'POST' }).then(
      () => true,
      () => false,
    );
  }

  it('runs the shell commands in docs/guides/verify-signatures.md', async () => {
    const guide = await readGuide('verify-signatures');
    const subscribe = guide.take('sh');
    const receiver = await startReceiver();
    await run('sh', subscribe, { HOOK_URL: receiver.url });
    await workspace.createTicket({ title: 'Ünïcödé' });
    await expect.poll(() => receiver.received).toHaveLength(1);
    await receiver.close();
    const { headers = {}, body = '' } = receiver.received[0] ?? {};
    const env = {
      SIGNATURE: headers['x-service-signature'] ?? '',
      WEBHOOK_ID: headers['webhook-id'] ?? '',
      WEBHOOK_TIMESTAMP: headers['webhook-timestamp'] ?? '',
      WEBHOOK_SIGNATURE: headers['webhook-signature'] ?? '',
    };
    for (const code of [guide.take('sh'), guide.take('sh')]) {
      await writeFile(join(folder, 'body.json'), body);
      expect(await run('sh', code, env)).toBe('genuine\n');
      await writeFile(join(folder, 'body.json'), `${body} `);
      await expect(run('sh', code, env)).rejects.toThrow('forged');
    }
    expect(guide.blocks.filter(({ language }) => language === 'sh')).toEqual([]);
  });
});

describe('the guide python', skipUnlessPython(), () => {
  const devices = (count: number) =>
    Array.from({ length: count }, (_, index) => `PY-${index},Laptop ${index},SN-${index}`).join('\n');

  it('runs the code samples in docs/guides/python.md', async () => {
    const guide = await readGuide('python');
    expect(guide.take('sh')).toContain('/client/python');
    expect(guide.take('sh')).toContain('export ITSM_URL=');
    const [sync, inventory, receive] = [guide.take('python'), guide.take('python'), guide.take('python')];
    const other = await createWorkspace(api);
    const env = { ITSM_KEY: other.key };
    await other.createTicket();
    await expect.poll(() => run('python', sync, env)).toBe('1 tickets\n');
    await other.createTicket();
    await expect.poll(() => run('python', sync, env)).toBe('2 tickets\n');

    await writeFile(join(folder, 'devices.csv'), `tag,name,serial\n${devices(250)}\nPY-7,Twin,SN-7\n`);
    expect(await run('python', inventory, env)).toBe(
      "{'CREATED': 250, 'UPDATED': 0, 'UNCHANGED': 0}\nLine 252: assetTag PY-7 is a duplicate of the item with index 7.\n",
    );

    const old = 'the old secret of the guides';
    const receiver = await launch('python', receive, {
      PORT: '0',
      WEBHOOK_SECRET: `${secret.replaceAll(' ', '_')} ${old.replaceAll(' ', '_')}`,
    });
    const printed = collect(receiver.stdout);
    try {
      await expect.poll(printed).toContain('Listening on');
      const url = /http:\S+/.exec(printed())?.[0] ?? '';
      await workspace.createWebhook({ url, secret: old.replaceAll(' ', '_'), events: ['ticket.created'] });
      const { ticketNumber, title } = await workspace.createTicket();
      await expect.poll(printed).toContain(`${ticketNumber} ${title}\n`);
      const { body, headers } = await signTestEvent(
        { type: 'ticket.created', ticket: (await workspace.createTicket()) as unknown as Ticket },
        secret.replaceAll(' ', '_'),
      );
      const deliver = async (sent: string) => (await fetch(url, { method: 'POST', body: sent, headers })).status;
      expect([await deliver(body), await deliver(body), await deliver(`${body} `)]).toEqual([200, 200, 400]);
      expect(printed().trim().split('\n').length).toBeLessThanOrEqual(4);
    } finally {
      receiver.kill();
      await once(receiver, 'exit');
    }
    expect(guide.blocks).toEqual([]);
  });
});

it('runs the code samples in docs/guides/manage-webhooks.md', async () => {
  const guide = await readGuide('manage-webhooks');
  const receiver = await startReceiver();
  const made = JSON.parse(await run('sh', guide.take('sh'), { HOOK_URL: receiver.url })).data;
  expect(made).toMatchObject({ filter: { priority: ['HIGH', 'CRITICAL'] }, skipOwn: true });
  const env = { HOOK_ID: String(made.id), NEW_SECRET: 'a new secret of the guides' };

  const test = JSON.parse(await run('sh', guide.take('sh'), env)).data;
  await expect.poll(() => receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([test.eventId]);
  const ofDelivery = { ...env, DELIVERY_ID: String(test.id) };
  const show = guide.take('sh');
  await expect
    .poll(async () => JSON.parse(await run('sh', show, ofDelivery)).data)
    .toMatchObject({ state: 'DELIVERED', attempts: [{ number: 1, status: 200 }] });

  const [paused, resumed] = (await run('sh', guide.take('sh'), env))
    .split(/(?<=\})(?=\{)/)
    .map((each) => JSON.parse(each));
  expect([paused.data.pausedReason, resumed.data.pausedReason]).toEqual(['Paused by its owner.', null]);
  expect(JSON.parse(await run('sh', guide.take('sh'), env)).data.id).toBe(made.id);

  expect(JSON.parse(await run('sh', guide.take('sh'), env)).data).toMatchObject({ id: made.id, health: 'HEALTHY' });
  await api.prisma.delivery.updateMany({ where: { id: test.id }, data: { state: 'EXHAUSTED' } });
  expect(JSON.parse(await run('sh', guide.take('sh'), env)).data).toMatchObject([{ id: test.id, state: 'EXHAUSTED' }]);
  const [one, all] = (await run('sh', guide.take('sh'), ofDelivery))
    .split(/(?<=\})(?=\{)/)
    .map((each) => JSON.parse(each));
  expect(one.data).toMatchObject({ id: test.id, state: 'PENDING' });
  expect(all.data).toMatchObject({ webhookId: made.id, states: ['EXHAUSTED'], matching: 0 });
  await expect
    .poll(() => receiver.received.map(({ headers }) => headers['webhook-id']))
    .toEqual([test.eventId, test.eventId]);
  await receiver.close();
  await workspace.call('DELETE', `/webhooks/${made.id}`);
  expect(guide.blocks).toEqual([]);
});

it('runs the code samples in docs/guides/alerts.md', async () => {
  const guide = await readGuide('alerts');
  const file = join(folder, 'alerts.yaml');
  await writeFile(file, guide.take('yaml').replace('./alerts-spool', join(folder, 'alerts-spool')));
  expect(guide.take('sh')).toContain('export ALERTS_TOKEN=');
  const token = 'a token of the guide';
  const env = { ITSM_URL: origin, ITSM_KEY: workspace.key, ALERTS_TOKEN: token };
  const alerts = await startAlerts({ ...readSettings(file, env), port: 0 }, 'silent');
  try {
    await run('sh', guide.take('sh'), { ALERTS_TOKEN: token, ALERTS_URL: alerts.url });
    const find = async () => (await workspace.call('GET', '/tickets?tag=monitoring')).body.data;
    const expected = { title: 'The backup of db-1 failed', priority: 'HIGH', status: 'RESOLVED' };
    await expect.poll(find).toMatchObject([expected]);
  } finally {
    await alerts.close();
  }
  // `amtool check-config` accepts it with a route.
  expect(guide.take('yaml')).toContain('/alertmanager');
  expect(guide.blocks).toEqual([]);
});

it('shows tested code in docs/guides/test-your-integration.md', async () => {
  const guide = await readGuide('test-your-integration');
  const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  // test/system/testing runs the commands, the examples, and the functions in other languages.
  expect(guide.take('sh')).toContain('pack:testing');
  for (const language of ['java', 'csharp', 'go'] as const)
    expect(guide.take(language).trim().split('\n').length).toBeLessThanOrEqual(15);
  expect(guide.take('sh')).toContain('itsm-standalone --retry-schedule=');
  const examples = [
    ...['examples/integration/integration.test.ts', 'examples/vitest/itsm.ts', 'examples/vitest/tickets.test.ts'],
    ...['test/system/testing/time.test.ts', 'examples/pytest/test_itsm.py'],
  ];
  const withoutIndent = (text: string) => text.replaceAll(/^ +/gm, '');
  const tested = withoutIndent((await Promise.all(examples.map(read))).join(''));
  for (const { code } of guide.blocks) expect(tested).toContain(withoutIndent(code));
});
