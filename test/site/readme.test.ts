import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

/* Compares the README with the files that it shows, and the pages that it cites. */
const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');
const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
const folder = mkdtempSync(join(import.meta.dirname, '../node_modules/.readme-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the messages of the compiler for a program. */
function compile(code: string): string[] {
  writeFileSync(join(folder, 'program.mts'), code);
  const compilerOptions = { incremental: false, noEmit: true, types: ['node'], lib: ['es2024', 'dom', 'dom.iterable'] };
  const settings = { extends: join(root, 'tsconfig.base.json'), compilerOptions, files: ['program.mts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(root, 'tools/node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

it('shows an endpoint and its handler as they are in the files that it names', () => {
  const parts = (blocks[0] ?? '').split(/^\/\/ (.+)\n/m).slice(1);
  expect(parts).toHaveLength(4);
  for (let index = 0; index < parts.length; index += 2) {
    expect(read(parts[index] ?? '')).toContain((parts[index + 1] ?? '').trimEnd());
  }
  expect(blocks.join('').trim().split('\n').length).toBeLessThanOrEqual(24);
});

it('shows a call that compiles, and a mistake with the message of the compiler', () => {
  const program = `import { ItsmClient } from '@itsm-api/client';\n${blocks[1]}`;
  const [, message = ''] = /^\/\/ (error TS.*)$/m.exec(program) ?? [];
  const messages = compile(program);
  expect(messages).toEqual([expect.stringContaining(message)]);
  const line = program.slice(0, program.indexOf('// error')).split('\n').length - 1;
  expect(messages[0]).toMatch(new RegExp(`^program\\.mts\\(${line},|program\\.mts\\(${line},`));
});

it('cites figures that are on the pages to which it links', () => {
  const [, why = ''] = /^## Why\n(.*?)^## /ms.exec(readme) ?? [];
  const claims = [...why.matchAll(/\[([^\]]*\d[^\]]*)\]\(([^)#]+)(?:#[\w-]+)?\)/g)];
  expect(claims.length).toBeGreaterThanOrEqual(5);
  for (const [, text = '', page = ''] of claims) {
    if (!page.endsWith('.md')) continue;
    for (const [figure] of text.matchAll(/\d[\d,.]*\d/g)) expect(read(page), `${page}: ${text}`).toContain(figure);
  }
});

it('shows badges and pictures that exist', () => {
  const paths = [...readme.matchAll(/(?:\]\(|src(?:set)?=")(docs\/[^)"]+\.(?:svg|png))/g)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThanOrEqual(6);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
