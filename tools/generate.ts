import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientSources } from '../client/codegen/generate.ts';
import { scheduleForReceivers, scheduleRules } from '../contract/src/openapi/schedule-text.ts';
import { openApiDocument } from '../contract/src/openapi.ts';
import { envExample } from '../server/src/config/env.ts';
import { commandLineReference } from './command-line.ts';
import { clientFolder, prismaClient } from './prisma-client.ts';

/**
 * Writes the generated files: `node tools/generate.ts`.
 * With the option `--check`, the program writes nothing, and reports each stale file as an error.
 */
const isCheck = process.argv.includes('--check');
const root = fileURLToPath(new URL('..', import.meta.url));
const files: Record<string, string> = {
  'contract/openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  ...clientSources(),
  ...(await prismaClient()),
  '.env.example': envExample(),
  'docs/command-line.md': await commandLineReference(),
  'docs/decisions/webhook-deliveries.md': await withSchedule('docs/decisions/webhook-deliveries.md', scheduleRules),
  'docs/guides/verify-signatures.md': await withSchedule('docs/guides/verify-signatures.md', [
    `${scheduleForReceivers.success} and process the event afterwards. ${scheduleForReceivers.retries}`,
    scheduleForReceivers.pause,
    scheduleForReceivers.trials,
  ]),
};

for (const [name, content] of Object.entries(files)) {
  const current = await readFile(`${root}/${name}`, 'utf8').catch(() => '');
  if (current === content) continue;
  if (isCheck) {
    reportStale(name);
  } else {
    await mkdir(dirname(`${root}/${name}`), { recursive: true });
    await writeFile(`${root}/${name}`, content);
    process.stdout.write(`${name} written.\n`);
  }
}

// Removes generated files whose Prisma model no longer exists.
for await (const found of glob(`${clientFolder}/**/*.ts`, { cwd: root })) {
  const name = found.replaceAll('\\', '/');
  if (name in files) continue;
  if (isCheck) {
    reportStale(name);
  } else {
    await rm(`${root}/${name}`);
    process.stdout.write(`${name} removed.\n`);
  }
}

function reportStale(name: string): void {
  process.stderr.write(`${name} is stale: run \`pnpm generate\` and commit it.\n`);
  process.exitCode = 1;
}

/**
 * Reads a Markdown page. Returns its content with the rules of the retry schedule as a list between the two marker
 * comments.
 */
async function withSchedule(name: string, rules: string[]): Promise<string> {
  const page = await readFile(new URL(`../${name}`, import.meta.url), 'utf8');
  const [start, end] = ['<!-- The schedule, made by `pnpm generate`. -->\n', '<!-- The end of the schedule. -->\n'];
  const [before, after] = [page.indexOf(start), page.indexOf(end)];
  if (before === -1 || after < before)
    throw new Error(`${name}: the comments around the schedule are missing. Restore them.`);
  const list = rules.map((rule) => `- ${rule}\n`).join('');
  return `${page.slice(0, before)}${start}\n${list}\n${page.slice(after)}`;
}
