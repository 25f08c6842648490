import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify, stripVTControlCharacters } from 'node:util';
import { commands } from '@itsm-api/server/cli/command-table.ts';
import { optionsOf, type Verb } from '@itsm-api/server/cli/lib/command.ts';
import { relativeTime } from '@itsm-api/server/cli/lib/relative-time.ts';
import { createTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import { describe, expect } from 'vitest';
import { processCommandLine, program, secretKey } from '../support/command-process.ts';
import { api } from '../support/fixture.ts';
import { skipUnlessInstalled } from '../support/programs.ts';
import { skipUnlessLinux } from '../support/skip-unless.ts';
import { folder, itWithCommands as it, itsm } from './itsm.ts';

/* Tests the terminal output, the shell completion and the setup errors of the command line. */
let env: Record<string, string>;

it.beforeAll(async () => {
  env = { PATH: process.env.PATH ?? '', DATABASE_URL: api.databaseUrl, WEBHOOK_SECRET_KEY: secretKey, TERM: 'xterm' };
  await createTenant(api.prisma, {
    name: `Company with a name of more words than fit ${'beside the others '.repeat(5)}`.trim(),
    adminEmail: 'ada@long.example',
  });
  await createTenant(api.prisma, { name: 'Ümlaut 東京', adminEmail: 'ada@tokyo.example' });
});

/** Returns the output of a command in a terminal that is `columns` columns wide. */
async function inTerminal(columns: number, command: string, more: Record<string, string> = {}): Promise<string> {
  const args = ['-qefc', `stty cols ${columns}; ${program} ${command}`, '/dev/null'];
  const child = spawn('script', args, { env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return output.replaceAll('\r', '');
}

describe('a terminal', skipUnlessLinux(), () => {
  it('prints tables that fit the terminal, without colors if NO_COLOR is set', async () => {
    const shown = await inTerminal(60, 'tenants list');
    const lines = stripVTControlCharacters(shown).trimEnd().split('\n');
    // A Chinese character is two columns wide.
    for (const line of lines) expect(line.replaceAll(/[東京]/g, '..').length, line).toBeLessThanOrEqual(60);
    expect(shown).toContain('\u001b[32mactive\u001b[39m');
    expect(shown).toContain('Company with a name of');
    expect(shown).toContain('…');
    const users = stripVTControlCharacters(await inTerminal(60, `users list --tenant 'Ümlaut 東京'`));
    expect(users).toMatch(/^\d+ +ada +ada@tokyo.example +ADMIN +active +(now|\d+ seconds? ago)$/m);
    for (const line of users.trimEnd().split('\n')) expect(line.length, line).toBeLessThanOrEqual(60);

    const plain = await inTerminal(200, 'tenants list --utc', { NO_COLOR: '1' });
    expect(plain).not.toContain('\u001b');
    expect(plain).not.toContain('…');
    expect(plain).toMatch(/active +\d{4}-\d\d-\d\dT[\d:.]+Z$/m);
  });

  it.each([
    ['the end of input', '\u0004', 1, 'was not changed'],
    ['Ctrl-C', '\u0003', 130, 'Interrupted.'],
  ])('cancels a command on %s at a confirmation prompt', async (_, typed, code, expected) => {
    const file = join(folder, 'there.jsonl');
    await writeFile(file, 'kept\n');
    const command = `${program} tickets export ${file} --tenant 'Ümlaut 東京'`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], { env, stdio: 'pipe' });
    let output = '';
    child.stdout.on('data', (shown: Buffer) => {
      output += shown;
      if (String(shown).includes('[y/N]')) child.stdin.write(typed);
    });
    const [exit] = await once(child, 'exit');
    expect([exit, output]).toEqual([code, expect.stringContaining(expected)]);
    expect(await readFile(file, 'utf8')).toBe('kept\n');
  });

  it('deletes no tenant if the user enters another name', async () => {
    const child = spawn('script', ['-qefc', `${program} tenants delete 'Ümlaut 東京'`, '/dev/null'], {
      env,
      stdio: 'pipe',
    });
    let output = '';
    child.stdout.on('data', (shown: Buffer) => {
      output += shown;
      if (String(shown).includes('Enter the name Ümlaut 東京')) child.stdin.write('y\r');
    });
    const [exit] = await once(child, 'exit');
    expect([exit, output]).toEqual([1, expect.stringContaining('The tenant was not deleted.')]);
  });
});

describe('relativeTime', () => {
  const now = new Date('2026-11-20T10:00:00Z');
  it.each([
    ['2026-11-20T10:00:00.400Z', 'now'],
    ['2026-11-20T09:59:59Z', '1 second ago'],
    ['2026-11-20T10:01:59Z', 'in 1 minute'],
    ['2026-11-20T07:00:01Z', '2 hours ago'],
    ['2026-12-19T10:00:00Z', 'in 29 days'],
    ['2024-11-19T10:00:00Z', '2 years ago'],
  ])('formats the time %s as the relative time "%s"', (moment, words) => {
    expect(relativeTime(new Date(moment), now)).toBe(words);
  });
});

describe('in the wrong folder', () => {
  it('explains how to create a database if DATA_DIR has none', async () => {
    const away = join(folder, 'nothing-here');
    const { code, stdout, stderr } = await processCommandLine('', { DATA_DIR: away })('tenants list');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`There is no database in DATA_DIR, ${away}.`);
    expect(stderr).toContain('DATA_DIR');
    expect(stderr).toContain('pnpm@12.21.0 start');
    await expect(access(away)).rejects.toThrow('ENOENT');
  });

  it('reports an unreadable .env file in one line', async () => {
    const cwd = join(folder, 'with-a-folder');
    await mkdir(join(cwd, '.env'), { recursive: true });
    const run = (...args: string[]) => promisify(execFile)(program, args, { cwd, env }).catch((error) => error);
    const message = ".env: can't be read: it is a folder. Replace it with a file that this user can read";
    expect(await run('tenants', 'list')).toMatchObject({ code: 2, stdout: '', stderr: `error: ${message}\n` });
    const { code, stderr } = await run('tenants', 'list', '--json');
    expect([code, JSON.parse(stderr)]).toEqual([2, { error: { code: 'SETTINGS', message } }]);
  });

  it('shows the name of a symbolic link to `itsm` in the help', async () => {
    await symlink(program, join(folder, 'itsm'));
    await chmod(folder, 0o755);
    const PATH = `${folder}:${env.PATH}`;
    const { stdout } = await promisify(execFile)('itsm', ['keys', '--help'], { cwd: folder, env: { ...env, PATH } });
    expect(stdout).toMatch(/^Usage: itsm keys/);
  });
});

describe('completion', () => {
  it('completes commands, options and values, including values from the database', async () => {
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

  /**
   * How to test completion in each shell. `script` returns a shell script that prints the completions of each command
   * line, followed by a separator.
   */
  const shells: Record<
    string,
    { script: (lines: string[]) => string; args: string[]; clean?: (word: string) => string }
  > = {
    bash: {
      args: ['-c'],
      script: (lines) => `
        eval "$(${program} completion bash)"
        for COMP_LINE in ${lines.map(quoted).join(' ')}; do
          COMP_POINT=\${#COMP_LINE}; COMPREPLY=()
          _itsm; printf '%s\\n' "\${COMPREPLY[@]}" ${separator}
        done`,
    },
    zsh: {
      args: ['-fc'],
      // Replaces the zsh function `_describe`, and sets the variables that the zsh line editor normally sets.
      script: (lines) => `
        compdef() { :; }; _describe() { print -rl -- "$found[@]"; }; _files() { print files; }
        eval "$(${program} completion zsh)"
        for line in ${lines.map(quoted).join(' ')}; do
          words=(\${(z)line}); [[ $line == *' ' ]] && words+=('')
          CURRENT=$#words; PREFIX=\${\${words[-1]#\\'}#\\"}; _itsm; print -r -- ${separator}
        done`,
      clean: (word) => word.replace(/(?<!\\):.*/, ''),
    },
    fish: {
      args: ['--no-config', '-c'],
      script: (lines) =>
        [
          `${program} completion fish | source`,
          ...lines.map((line) => `complete -C ${quoted(line)}; echo ${separator}`),
        ].join('\n'),
    },
  };

  for (const [name, { script, args, clean = (word: string) => word }] of Object.entries(shells)) {
    it(`completes commands, options and values in the shell ${name}`, skipUnlessInstalled([name]), async () => {
      // bash splits words at colons. In zsh, a colon separates a completion from its description, so zsh escapes other
      // colons.
      const scope = { bash: 'read', zsh: 'tickets\\:read', fish: 'tickets:read' }[name] ?? '';
      // The bash completion script escapes spaces. The shells zsh and fish escape spaces themselves.
      const whole = name === 'bash' ? 'Ümlaut\\ 東京' : 'Ümlaut 東京';
      const completions: Record<string, string[]> = {
        ten: ['tenants'],
        'users create --role ': ['ADMIN', 'AGENT', 'REQUESTER'],
        'keys create --scopes tickets:r': [scope],
        // A tenant name that contains a space, in each style of shell quoting.
        "users show --tenant 'Ümlaut 東京' ada": ['ada@tokyo.example'],
        'users show --tenant Ümlaut\\ 東京 ada': ['ada@tokyo.example'],
        'users show --tenant "Ümlaut 東京" ada': ['ada@tokyo.example'],
        'tenants show Ü': [whole],
        "tenants show 'Üm": ['Ümlaut 東京'],
      };
      const lines = Object.keys(completions).map((words) => `${program} ${words}`);
      const home = { HOME: folder, XDG_CONFIG_HOME: folder };
      const { stdout } = await promisify(execFile)(name, [...args, script(lines)], { env: { ...env, ...home } });
      const found = stdout.split(`${separator}\n`).slice(0, -1);
      expect(
        found.map((text) => text.split('\n').flatMap((line) => clean(line.split('\t', 1)[0] ?? '') || [])),
      ).toEqual(Object.values(completions));
    });
  }
});

/** The separator that the shell scripts print after the completions of each command line. */
const separator = '-----';

/** Quotes a text as a single shell word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

describe('command table', () => {
  it('has valid examples for each command', async () => {
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
