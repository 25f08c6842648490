import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify, stripVTControlCharacters } from 'node:util';
import { optionsOf, type Verb } from '@itsm-api/server/cli/command.ts';
import { commands } from '@itsm-api/server/cli/commands.ts';
import { createTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { commandLine, program, secretKey } from './itsm.ts';

/*
 * The command line as a person meets it: in a terminal, in the wrong folder, and with Tab.
 */
let database: TestDatabase;
let api: Api;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await cloneDatabase();
  api = await startApi({ databaseUrl: database.url });
  folder = await mkdtemp(join(tmpdir(), 'itsm-terminal-'));
  env = { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, WEBHOOK_SECRET_KEY: secretKey, TERM: 'xterm' };
  await createTenant(api.prisma, {
    name: `Company with a name of more words than fit ${'beside the others '.repeat(5)}`.trim(),
    adminEmail: 'ada@long.example',
  });
  await createTenant(api.prisma, { name: 'Ümlaut 東京', adminEmail: 'ada@tokyo.example' });
});
afterAll(async () => {
  await api.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

/** What a terminal of so many columns shows. */
async function inTerminal(columns: number, command: string, more: Record<string, string> = {}): Promise<string> {
  const args = ['-qefc', `stty cols ${columns}; ${program} ${command}`, '/dev/null'];
  const child = spawn('script', args, { env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return output.replaceAll('\r', '');
}

describe.skipIf(process.platform !== 'linux')('a terminal', { timeout: 60_000 }, () => {
  it('has tables that fit, states in colour, and neither where that is not wanted', async () => {
    const shown = await inTerminal(60, 'tenants list');
    const lines = stripVTControlCharacters(shown).trimEnd().split('\n');
    // A character of East Asia takes two columns.
    for (const line of lines) expect(line.replaceAll(/[東京]/g, '..').length, line).toBeLessThanOrEqual(60);
    expect(shown).toContain('\u001b[32mactive\u001b[39m');
    expect(shown).toContain('Company with a name of');
    expect(shown).toContain('…');

    const plain = await inTerminal(200, 'tenants list --utc', { NO_COLOR: '1' });
    expect(plain).not.toContain('\u001b');
    expect(plain).not.toContain('…');
    expect(plain).toMatch(/active +\d{4}-\d\d-\d\dT[\d:.]+Z$/m);
  });
});

describe('in the wrong folder', { timeout: 60_000 }, () => {
  it('a command says where it looked and how to start, and makes nothing', async () => {
    const away = join(folder, 'nothing-here');
    const { code, stdout, stderr } = await commandLine('', { DATA_DIR: away })('tenants list');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`There is no database in ${away}.`);
    expect(stderr).toContain('DATA_DIR');
    expect(stderr).toContain('pnpm@12 start');
    await expect(access(away)).rejects.toThrow('ENOENT');
  });

  it('a link in PATH runs, and is called so in its examples', async () => {
    await symlink(program, join(folder, 'itsm'));
    await chmod(folder, 0o755);
    const PATH = `${folder}:${env.PATH}`;
    const { stdout } = await promisify(execFile)('itsm', ['keys', '--help'], { cwd: folder, env: { ...env, PATH } });
    expect(stdout).toMatch(/^Usage: itsm keys/);
  });
});

describe('completion', { timeout: 60_000 }, () => {
  it('knows commands, options, values, and what the database has', async () => {
    const itsm = commandLine(database.url);
    const offered = async (...words: string[]) => {
      const { stdout } = await itsm('complete', ...words);
      return stdout.split('\n').flatMap((line) => line.split('\t', 1)[0] || []);
    };
    expect(await offered('ten')).toEqual(['tenants']);
    expect(await offered('keys', '')).toEqual(expect.arrayContaining(['list', 'rotate', 'revoke']));
    expect(await offered('keys', 'create', '--name', 'x', '--n')).toEqual([]);
    expect(await offered('keys', 'create', '--scopes', 'tickets:read,assets:')).toEqual([
      'tickets:read,assets:read',
      'tickets:read,assets:write',
    ]);
    expect(await offered('users', 'list', '--tenant', 'Ü')).toEqual(['Ümlaut 東京']);
    expect(await offered('users', 'show', '--tenant', 'Ümlaut 東京', '')).toEqual(['ada@tokyo.example']);
    expect(await offered('nonsense', '')).toEqual([]);
  });

  it('comes in Bash with what its words are broken at', async () => {
    const complete = async (line: string) => {
      const script = `
        eval "$(${program} completion bash)"
        COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}
        # As Bash breaks it: at blanks and at colons.
        read -ra COMP_WORDS <<<"\${COMP_LINE//:/ : }"; [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
        _itsm; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return (await promisify(execFile)('bash', ['-c', script], { env })).stdout.trim().split('\n');
    };
    expect(await complete(`${program} ten`)).toEqual(['tenants']);
    expect(await complete(`${program} users create --role `)).toEqual(['ADMIN', 'AGENT', 'REQUESTER']);
    expect(await complete(`${program} keys create --scopes tickets:r`)).toEqual(['read']);
    // A name with blanks is quoted, or the shell would take it for several words.
    expect(await complete(`${program} tenants show Ü`)).toEqual(['Ümlaut\\ 東京']);
  });
});

describe('the table of commands', () => {
  it('has examples that it parses', async () => {
    const verbs: [string, Verb][] = [];
    for (const [name, { load }] of Object.entries(commands)) {
      const loaded = await load();
      const of = 'verb' in loaded ? [[name, loaded.verb] as const] : Object.entries(loaded.verbs);
      verbs.push(...of.map(([verb, about]): [string, Verb] => ['verb' in loaded ? name : `${name} ${verb}`, about]));
    }
    for (const [call, verb] of verbs) {
      expect(verb.examples, call).not.toEqual([]);
      const known = optionsOf(verb).map(({ flags }) => flags.split(' ')[0]);
      const needed = optionsOf(verb).flatMap(({ flags, required }) => (required ? (flags.split(' ')[0] ?? []) : []));
      for (const example of verb.examples) {
        expect(example.startsWith(call), `${call}: ${example}`).toBe(true);
        const given = example.match(/(?<= )--[\w-]+/g) ?? [];
        expect(known, example).toEqual(expect.arrayContaining(given));
        expect(given, example).toEqual(expect.arrayContaining(needed));
      }
    }
  });
});
