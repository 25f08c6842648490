import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';

const page = new URL('../../../docs/measurements.md', import.meta.url);

/**
 * Replaces the section of a test in docs/measurements.md with the results of a run, its date, commit and machine.
 * @param name the name of the test: the heading of the section, in lower case
 * @param command the command that ran
 * @param table the results, as text for a terminal
 */
export async function recordRun(name: string, command: string, table: string): Promise<void> {
  const text = await readFile(page, 'utf8');
  const [start, ...rest] = text.split(/^(?=## )/m);
  const at = rest.findIndex((section) => section.toLowerCase().startsWith(`## ${name}\n`));
  if (at === -1) throw new Error(`docs/measurements.md has no section "${name}".`);
  const [heading] = (rest[at] ?? '').split('\n');
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim();
  const [{ model = '' } = {}, ...others] = cpus();
  const machine = `${others.length + 1} × ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.version}`;
  const run = `\`${command}\`, ${new Date().toISOString().slice(0, 10)}, commit ${commit}. Machine: ${machine}, load average ${loadavg()[0]?.toFixed(1)}.`;
  rest[at] =
    `${heading}\n\n${run}\n\n\`\`\`text\n${table.replace(/^\n+|\s+$/g, '')}\n\`\`\`\n${at < rest.length - 1 ? '\n' : ''}`;
  await writeFile(page, [start, ...rest].join(''));
}
