import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import jsTokens from 'js-tokens';
import { errors } from '../contract/src/errors.ts';

/*
 * Prints random samples of prose. A reader judges each sample as plain, awkward or unclear (docs/STYLE.md).
 * Usage: `node tools/sample-prose.ts [--seed 1] [--count 100]`
 */

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '100' } },
});

interface Sample {
  file: string;
  text: string;
}

/** Returns the comments of a source file. Consecutive `//` lines count as one comment. */
function commentsIn(file: string, source: string): Sample[] {
  const joined = source.replace(/\n\s*\/\/(?! Measured)/g, (mark, offset: number) => {
    const lineBefore = source.slice(source.lastIndexOf('\n', offset - 1) + 1, offset);
    return /^\s*\/\//.test(lineBefore) ? ' ' : mark;
  });
  return [...jsTokens(joined)]
    .filter(({ type }) => type === 'SingleLineComment' || type === 'MultiLineComment')
    .map(({ value }) => value.replace(/^\/\*+|\*\/$|^\s*\*|^\/\//gm, ' '))
    .map((text) => ({ file, text: oneLine(text) }))
    .filter(({ text }) => text.split(' ').length > 3 && !/biome-ignore|<reference/.test(text));
}

function titlesIn(file: string, source: string): Sample[] {
  const calls = source.matchAll(
    /^[ \t]*(?:it|test)(?:\.\w+(?:\((?:[^()]|\([^()]*\))*\))?)*\(\s*(['`])((?:\\.|(?!\1).)*)\1/gms,
  );
  return [...calls].map(([, , text = '']) => ({ file, text }));
}

function sentencesIn(file: string, source: string): Sample[] {
  const prose = source
    .replace(/^```.*?^```/gms, '')
    .replace(/^[#|].*$/gm, '')
    .replace(/^---.*?---/s, '');
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .flatMap((block) => oneLine(block).split(/(?<=[.!?:])\s+(?=[A-Z`*[])/))
    .map((text) => ({ file, text }))
    .filter(({ text }) => text.split(' ').length > 4);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns `--count` random samples. The same `--seed` always gives the same samples. Uses the algorithm mulberry32. */
function pick(samples: Sample[]): Sample[] {
  let state = Number(values.seed);
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const keyed = samples.map((sample) => ({ sample, key: random() }));
  return keyed
    .sort((a, b) => a.key - b.key)
    .slice(0, Number(values.count))
    .map(({ sample }) => sample);
}

function print(title: string, samples: Sample[]): void {
  process.stdout.write(`\n# ${title}\n\n`);
  for (const [index, { file, text }] of samples.entries()) process.stdout.write(`${index + 1}. [${file}] ${text}\n`);
}

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(
    (file) => ['.ts', '.js', '.md'].includes(extname(file)) && !/generated|CHANGELOG|changelog|command-line/.test(file),
  );
const sources = await Promise.all(
  files.map(async (file) => ({ file, source: await readFile(join(root, file), 'utf8') })),
);
const scripts = sources.filter(({ file }) => extname(file) !== '.md');
print('Comments', pick(scripts.flatMap(({ file, source }) => commentsIn(file, source))));
print(
  'Sentences of documents',
  pick(sources.filter(({ file }) => extname(file) === '.md').flatMap(({ file, source }) => sentencesIn(file, source))),
);
print(
  'Test titles',
  pick(scripts.filter(({ file }) => file.endsWith('.test.ts')).flatMap(({ file, source }) => titlesIn(file, source))),
);
print(
  'Error codes',
  Object.entries(errors).map(([code, { when, remedy }]) => ({ file: code, text: `${when} ${remedy}` })),
);
