import { readFile, writeFile } from 'node:fs/promises';
import { clientSources } from '../client/generate.ts';
import { openApiDocument } from '../contract/src/openapi.ts';
import { envExample } from '../server/src/env.ts';

/**
 * Writes the files that are made from the source: `node tools/generate.ts`.
 * With `--check` nothing is written, and a stale file is an error that names it.
 */
const files: Record<string, string> = {
  'contract/openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  ...clientSources(),
  '.env.example': envExample(),
};

for (const [name, content] of Object.entries(files)) {
  const file = new URL(`../${name}`, import.meta.url);
  const current = await readFile(file, 'utf8').catch(() => '');
  if (current === content) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${name} is stale: run \`pnpm generate\` and commit it.\n`);
    process.exitCode = 1;
  } else {
    await writeFile(file, content);
    process.stdout.write(`${name} written.\n`);
  }
}
