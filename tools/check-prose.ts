import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import jsTokens, { type Token } from 'js-tokens';
import { terms } from './prose-terms.ts';

/*
 * Checks Markdown, comments, strings and SQL for terms that docs/STYLE.md excludes.
 * Usage: `node tools/check-prose.ts [folder or file …]`
 */

const root = join(import.meta.dirname, '..');
const extensions = new Set(['.md', '.ts', '.js', '.sql', '.css', '.prisma', '.yaml', '.yml', '.sh']);
const rejected = terms.map(([pattern, use]) => ({ pattern: new RegExp(pattern, 'gi'), use }));

/** Code blocks, code between backticks, quotations and addresses in Markdown. */
const markdownCode = /^ *```[\s\S]*?^ *```|`[^`]*`|^ *>.*$|\]\([^)]*\)|<[^>\n]*>/gm;
/** The comments in a SQL, CSS, YAML or shell file. The groups contain the text before and after a comment. */
const otherCode = /(?:(?!--|\/\*|(?<=^|\s)#)[\s\S])+|(--[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*)/g;

/** Replaces code with characters that end a clause. The lines of the prose don't change. */
const hide = (code: string) => code.replace(/[^\n]/g, ';');

const isProse = ({ type, value }: Token) =>
  type.endsWith('Comment') || (/^(String|NoSub|Template)/.test(type) && /\w\s+\w/.test(value));

/** Hides everything but the prose of a file: the text of documents, comments, and strings with at least two words. */
function hideCode(source: string, extension: string): string {
  if (extension === '.md') return source.replace(markdownCode, hide);
  const prose =
    extension === '.ts' || extension === '.js'
      ? Array.from(jsTokens(source), (token) => (isProse(token) ? token.value : hide(token.value))).join('')
      : source.replace(otherCode, (code, comment) => comment ?? hide(code));
  return prose.replace(/^\s*(?:\*|\/\/|--|#)|`[^`\n]*`/gm, (mark) =>
    mark.replace(/[^\n]/g, mark.includes('`') ? ';' : ' '),
  );
}

async function check(file: string): Promise<string[]> {
  const source = await readFile(join(root, file), 'utf8');
  // Most files contain none of the terms, not even in code.
  const found = rejected.filter(({ pattern }) => source.search(pattern) >= 0);
  const prose = found.length === 0 ? '' : hideCode(source, extname(file));
  return found.flatMap(({ pattern, use }) =>
    Array.from(prose.matchAll(pattern), ({ 0: term, index }) => {
      const line = prose.slice(0, index).split('\n').length;
      return `${file}:${line} Incorrect term: “${term.trim()}”, use “${use}” instead`;
    }),
  );
}

const { positionals } = parseArgs({ allowPositionals: true });
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...positionals], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => extensions.has(extname(file)) && !/(^|\/)generated|CHANGELOG\.md$|prose-terms\.ts$/.test(file));
const findings = (await Promise.all(files.map(check))).flat();
for (const finding of findings) process.stderr.write(`${finding}\n`);
process.stderr.write(`${findings.length} findings in ${files.length} files.\n`);
if (findings.length > 0) process.exitCode = 1;
