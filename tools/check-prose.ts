import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import text from '@textlint/textlint-plugin-text';
import terminology from 'textlint-rule-terminology';
import { exceptions } from './prose/exceptions.ts';
import { maskCode } from './prose/mask.ts';
import { terms } from './prose/terms.ts';

/*
 * Checks Markdown, comments, strings and SQL for terms that docs/STYLE.md excludes. Skips a file if it had no findings
 * in an earlier run, and neither the file nor the terms have changed since then.
 * Usage: `node tools/check-prose.ts [folder or file …]`
 */

const root = join(import.meta.dirname, '..');
const extensions = new Set(['.md', '.ts', '.js', '.sql', '.css', '.prisma', '.yaml', '.yml', '.sh']);
const { positionals } = parseArgs({ allowPositionals: true });
const kernel = new TextlintKernel();

interface Finding {
  file: string;
  line: number;
  message: string;
}

const cleanFile = join(import.meta.dirname, 'node_modules/.cache/clean-prose.json');
/** The hashes of the files without findings, by name. Each hash includes the terms. */
const clean: Record<string, string> = existsSync(cleanFile) ? JSON.parse(await readFile(cleanFile, 'utf8')) : {};
const ruleFiles = ['check-prose.ts', 'prose/exceptions.ts', 'prose/mask.ts', 'prose/terms.ts'];
const rules = Buffer.concat(ruleFiles.map((name) => readFileSync(join(import.meta.dirname, name))));

async function check(file: string): Promise<Finding[]> {
  const source = await readFile(join(root, file), 'utf8');
  const hash = createHash('sha256').update(rules).update(source).digest('base64');
  if (clean[file] === hash) return [];
  const findings = (await lint(file, source)).filter((finding) => !isExcepted(finding));
  if (findings.length === 0) clean[file] = hash;
  return findings;
}

async function lint(file: string, source: string): Promise<Finding[]> {
  const extension = extname(file);
  const isMarkdown = extension === '.md';
  const { messages } = await kernel.lintText(isMarkdown ? source : maskCode(source, extension), {
    ext: isMarkdown ? '.md' : '.txt',
    filePath: file,
    plugins: [
      { pluginId: 'markdown', plugin: markdown.default },
      { pluginId: 'text', plugin: text.default },
    ],
    rules: [
      { ruleId: 'terminology', rule: terminology, options: { defaultTerms: false, skip: ['BlockQuote'], terms } },
    ],
  });
  return messages.map(({ line, message }) => ({ file, line, message }));
}

const isExcepted = ({ file, message }: Finding) =>
  exceptions.some((exception) => file === exception.file && message.includes(`“${exception.term}”`));

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...positionals], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => extensions.has(extname(file)) && !/(^|\/)generated|CHANGELOG\.md$|prose\/terms\.ts$/.test(file));
const findings = (await Promise.all(files.map(check))).flat();
await mkdir(dirname(cleanFile), { recursive: true });
await writeFile(cleanFile, JSON.stringify(clean));
for (const { file, line, message } of findings) console.error(`${file}:${line} ${message}`);
console.error(`${findings.length} findings in ${files.length} files.`);
if (findings.length > 0) process.exitCode = 1;
