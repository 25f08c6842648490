import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import rootPackage from '../../package.json' with { type: 'json' };

/* Tests the commands in the texts, scripts and messages of the repository. */
const root = join(import.meta.dirname, '../..');
/** The tracked files with commands of npm, npx and pnpm, by path. */
const files = new Map<string, string>();

beforeAll(async () => {
  const { stdout } = await promisify(execFile)('git', ['grep', '-lIE', 'npx|npm install|pnpm@'], { cwd: root });
  for (const path of stdout.trim().split('\n')) files.set(path, await readFile(join(root, path), 'utf8'));
});

/** Returns all matches in all files, each with its path. */
const findAll = (pattern: RegExp) =>
  [...files].flatMap(([path, text]) => (text.match(pattern) ?? []).map((found) => `${path}: ${found}`));

it('names the version of pnpm in package.json in every command', () => {
  const { packageManager } = rootPackage;
  expect(packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+$/);
  const named = findAll(/\bpnpm@[\d.]+\b/g);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((each) => !each.endsWith(`: ${packageManager}`))).toEqual([]);
});

// The packages aren't published on npm yet, so a download from npm could run a program of another owner of the name.
it('downloads the packages of the API from no registry but that of the reader', () => {
  expect(findAll(/\bnpx (?!--no |-y pnpm@)[^\n`]*?(?:@itsm-api\/|\bitsm-(?:client|alerts)\b).*/g)).toEqual([]);
  expect(findAll(/\bnpm install (?!.*--registry )[^\n]*@itsm-api\/.*/g)).toEqual([]);
});

it('rejects commit subjects with excluded terms, and shows plain examples', () => {
  const lint = (subject: string) =>
    spawnSync(process.execPath, ['node_modules/@commitlint/cli/cli.js'], {
      cwd: join(root, 'tools'),
      input: subject,
      encoding: 'utf8',
    });
  expect(lint('fix(tags): keep tags that a patch does not set').status).toBe(0);
  const excluded = ['nobody', 'yardsticks'];
  const { status, stdout } = lint(`test: count ${excluded.join(' and ')}`);
  expect(status).toBe(1);
  for (const term of excluded) expect(stdout).toContain(`instead of "${term}", use "`);
  expect(stdout.match(/^ {2}\w+(?:\(\w+\))?: [a-z].*$/gm)).toHaveLength(3);
});
