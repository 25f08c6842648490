import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Holds the direction of imports that ARCHITECTURE.md draws, and a few walls beside it: `node tools/check-imports.ts`.
 * A file may import from its own layer and from those before it.
 */
const layers: [name: string, files: RegExp][] = [
  ['contract', /^contract\//],
  ['client', /^client\//],
  ['basics', /^server\/src\/(env|errors|fair-use|present|reply|validation)\.ts$/],
  ['embedded PostgreSQL', /^server\/src\/embedded-postgres\//],
  ['database', /^server\/src\/database\//],
  ['identity, webhooks and context', /^server\/src\/(identity\/|webhooks\/|context\.ts)/],
  ['queries', /^server\/src\/resources\/(.*\/(?!handlers)[\w-]+|changes|lists|references)\.ts$/],
  ['handlers', /^server\/src\/resources\//],
  ['http', /^server\/src\/http\//],
  ['app', /^server\/src\/(app|runtime)\.ts$/],
  ['prisma', /^prisma(\/|\.config)/],
  ['entry points', /^(server\/src\/(main|banner|cli\/.*)|tools\/.*)\.ts$/],
  ['examples', /^examples\//],
  ['tests', /^test\//],
];

/** Layers that must not know one that stands before them. */
const strangers: Record<string, string[]> = {
  basics: ['client'],
  database: ['client'],
  http: ['handlers', 'queries', 'client'],
  handlers: ['database', 'client'],
};

/** Text that may stand in these files alone. */
const confined: [text: RegExp, files: RegExp, why: string][] = [
  [/from '@ts-rest\//, /^(contract\/|server\/src\/resources\/index\.ts)/, 'ts-rest must stay replaceable'],
  [/new PrismaClient\(/, /^server\/src\/database\//, 'only database/ makes a Prisma client'],
  [
    /\$(query|execute)Raw|selectRows[<(]/,
    /^(server\/src\/(database|identity|webhooks|resources)|test)\//,
    'raw SQL filters by tenant by hand',
  ],
  [
    /process\.env/,
    /^(server\/src\/(main|env|embedded-postgres\/cluster|cli\/run)\.ts|prisma|examples\/|test\/|tools\/)/,
    'settings are read in env.ts',
  ],
];

const root = fileURLToPath(new URL('..', import.meta.url));
const faults: string[] = [];

for await (const file of glob('{contract,server,client,examples,prisma,test,tools}/**/*.ts', {
  cwd: root,
  exclude: (name) => /node_modules|generated|^dist$/.test(name),
})) {
  const source = await readFile(join(root, file), 'utf8');
  for (const [, target = ''] of source.matchAll(/(?:from|import|import\() ?'([^']+)'/g)) checkImport(file, target);
  for (const [text, files, why] of confined) {
    if (text.test(source) && !files.test(file)) faults.push(`${file}: ${text.source} doesn't belong here: ${why}.`);
  }
}

for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;

function checkImport(file: string, target: string): void {
  const imported = pathOf(file, target);
  // Types of the generated client belong to everybody.
  if (imported === undefined || imported.includes('/generated/')) return;
  const [from, to] = [layerOf(file), layerOf(imported)];
  const [fromName, toName] = [layers[from]?.[0] ?? '', layers[to]?.[0] ?? ''];
  if (from === -1) faults.push(`${file}: belongs to no layer; name it in tools/check-imports.ts.`);
  else if (to > from) faults.push(`${file}: ${fromName} must not import ${toName} (${target}).`);
  else if (strangers[fromName]?.includes(toName))
    faults.push(`${file}: ${fromName} must not know ${toName} (${target}).`);
}

function pathOf(file: string, target: string): string | undefined {
  if (target.startsWith('.')) return normalize(join(dirname(file), target));
  const name = /^@itsm-api\/(\w+)/.exec(target)?.[1];
  return name && `${name}/src/index.ts`;
}

function layerOf(file: string): number {
  return layers.findIndex(([, files]) => files.test(file));
}
