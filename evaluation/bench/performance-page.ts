import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { describeMachine } from './api/api.ts';

const page = new URL('../../docs/performance.md', import.meta.url);

/** Replaces a section of `docs/performance.md`, or adds it at the end of the page. */
export async function writeSection(title: string, text: string): Promise<void> {
  const heading = `## ${title}\n`;
  const sections = (await readFile(page, 'utf8')).split(/^(?=## )/m);
  const place = sections.findIndex((section) => section.startsWith(heading));
  sections.splice(place < 0 ? sections.length : place, 1, `${heading}\n${text.trim()}\n\n`);
  await writeFile(page, `${sections.join('').trim()}\n`);
}

/** Returns when, with which commit and on which machine a benchmark ran. */
export function describeRun(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return `on ${new Date().toISOString().slice(0, 10)} at commit ${commit}, on ${describeMachine()}`;
}
