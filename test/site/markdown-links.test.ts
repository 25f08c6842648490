import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sectionsOf } from '@itsm-api/server/docs-site/markdown.ts';
import { expect, it } from 'vitest';

/* Checks the links in all Markdown files of the repository. `pages.test.ts` checks the links on the site. */
const root = new URL('../../', import.meta.url);
const files = execFileSync('git', ['ls-files', '*.md'], { cwd: fileURLToPath(root), encoding: 'utf8' })
  .split('\n')
  .filter((file) => existsSync(new URL(file, root)) && file !== '');

interface Part {
  type?: string;
  href?: string;
  text?: string;
  tokens?: Part[];
}

/** Returns all tokens in a value, at any depth. Tables and lists have their tokens in different properties. */
function partsIn(value: unknown): Part[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Part, ...Object.values(value).flatMap(partsIn)];
}

function readSections(url: URL) {
  return sectionsOf(readFileSync(url, 'utf8'));
}

/** Returns true if a link points to a file or a heading that doesn't exist. Ignores links to other hosts and the site. */
function isBroken(href: string, from: URL): boolean {
  if (/^([a-z]+:|\/)/.test(href)) return false;
  const target = new URL(href, from);
  const file = new URL(target);
  file.hash = '';
  if (!existsSync(file)) return true;
  if (target.hash === '' || !file.pathname.endsWith('.md')) return false;
  const hash = decodeURIComponent(target.hash.slice(1));
  return !readSections(file).some(({ id }) => id === hash) && !readFileSync(file, 'utf8').includes(`id="${hash}"`);
}

it.each(files)('has only links to existing files, headings and references in %s', (name) => {
  const url = new URL(name, root);
  const parts = partsIn(readSections(url).map(({ tokens }) => tokens));
  const links = parts.flatMap(({ type, href }) => (type === 'link' || type === 'image' ? [href ?? ''] : []));
  expect(links.filter((href) => isBroken(href, url))).toEqual([]);
  // A link whose reference isn't defined stays text.
  const texts = parts.flatMap(({ type, text, tokens }) =>
    type === 'text' && tokens === undefined ? [text ?? ''] : [],
  );
  expect(texts.filter((text) => /\]\[[\w-]*\]|\]:\s*https?:/.test(text))).toEqual([]);
});
