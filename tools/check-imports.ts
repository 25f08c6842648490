import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Holds the direction of imports that ARCHITECTURE.md draws, and a few walls beside it: `node tools/check-imports.ts`.
 * Imports of types count. That files don't import in a circle is Biome's to check (noImportCycles).
 */

interface Room {
  files: RegExp;
  /** The rooms that it may import from, beside itself. */
  imports: string[];
}

const server = ['contract', 'basics', 'embedded PostgreSQL', 'database', 'all tenants', 'webhooks', 'usage', 'context'];

/** Every file is in the first room whose pattern it matches. */
const rooms: Record<string, Room> = {
  contract: { files: /^contract\//, imports: [] },
  client: { files: /^client\/src\//, imports: [] },
  'client tools': { files: /^client\//, imports: ['contract'] },
  basics: {
    files:
      /^server\/src\/(abandoned|actor|at-most|back-off|entity-tag|env|env-file|errors|error-code|fair-use|health|is-local-only|lazily|loop|made-once|own-thread|present|reply|suggestion|tenant-id|validation)\.ts$/,
    imports: ['contract'],
  },
  'embedded PostgreSQL': { files: /^server\/src\/embedded-postgres\//, imports: ['basics'] },
  // The ways into the database that see all tenants: no request may get hold of one.
  'all tenants': {
    files: /^server\/src\/database\/(prisma|databases|connection|own-connection|pool)\.ts$/,
    imports: ['basics', 'database'],
  },
  database: { files: /^server\/src\/database\//, imports: ['contract', 'basics', 'all tenants'] },
  webhooks: { files: /^server\/src\/webhooks\//, imports: ['contract', 'basics', 'database', 'all tenants'] },
  usage: { files: /^server\/src\/usage\//, imports: ['contract', 'basics', 'database', 'all tenants'] },
  context: { files: /^server\/src\/context\.ts$/, imports: ['basics', 'database', 'webhooks'] },
  identity: {
    files: /^server\/src\/identity\//,
    imports: ['contract', 'basics', 'database', 'all tenants', 'context'],
  },
  handlers: {
    files: /^server\/src\/resources\/(index|handlers|[\w-]+\/handlers)\.ts$/,
    imports: ['contract', 'basics', 'queries'],
  },
  // What no request asks for: the rows of tenants themselves, and what is done every night.
  'queries over all tenants': {
    files: /^server\/src\/resources\/(tenants\/.+|tickets\/totals|idempotency-retention)\.ts$/,
    imports: ['contract', 'basics', 'database', 'all tenants', 'webhooks', 'context', 'queries'],
  },
  queries: {
    files: /^server\/src\/resources\//,
    imports: ['contract', 'basics', 'database', 'webhooks', 'usage', 'context'],
  },
  http: { files: /^server\/src\/http\//, imports: ['contract', 'basics', 'context', 'identity'] },
  site: { files: /^server\/src\/site\//, imports: ['contract', 'basics', 'http'] },
  'developer area': {
    files: /^server\/src\/developer\//,
    imports: ['contract', 'basics', 'database', 'webhooks', 'usage', 'context', 'identity', 'queries', 'http', 'site'],
  },
  agents: {
    files: /^server\/src\/agents\//,
    imports: ['contract', 'basics', 'context', 'queries', 'http', 'site'],
  },
  operations: {
    files: /^server\/src\/operations\//,
    imports: ['contract', 'basics', 'database', 'all tenants', 'webhooks'],
  },
  schema: { files: /^server\/src\/schema\.ts$/, imports: [...server, 'queries over all tenants'] },
  app: {
    files: /^server\/src\/(app|runtime)\.ts$/,
    imports: [...server, 'identity', 'handlers', 'http', 'site', 'developer area', 'agents', 'operations'],
  },
  prisma: {
    files: /^prisma\//,
    imports: ['contract', 'basics', 'database', 'all tenants', 'identity', 'queries over all tenants'],
  },
  'entry points': {
    files: /^server\/src\/(main|start|banner|launcher|shutdown|cli\/.*)\.ts$/,
    imports: [
      ...server,
      'identity',
      'queries',
      'queries over all tenants',
      'http',
      'operations',
      'schema',
      'app',
      'prisma',
    ],
  },
  tools: {
    files: /^tools\//,
    imports: ['contract', 'client tools', 'basics', 'embedded PostgreSQL', 'database', 'entry points'],
  },
  examples: { files: /^examples\//, imports: ['client'] },
  // It says what the specification says, and not what the server does.
  model: { files: /^test\/model\/(?!(system|episode|run|main|model\.test)\.ts)/, imports: ['contract'] },
  tests: { files: /^test\//, imports: ['everything'] },
};

/** Text that may stand in these files alone. */
const confined: [text: RegExp, files: RegExp, why: string][] = [
  [/from '@ts-rest\//, /^(contract\/|server\/src\/resources\/(index|handlers)\.ts)/, 'ts-rest must stay replaceable'],
  [/new PrismaClient\(/, /^server\/src\/database\//, 'only database/ makes a Prisma client'],
  [
    /\$(query|execute)Raw|\b(selectRows|selectTogether|selectPlanned|connectionsOf|rawClient|reading)[<(]/,
    /^(server\/src\/(database|identity|webhooks|usage|resources)|test)\//,
    'raw SQL filters by tenant by hand',
  ],
  [
    /\b(accounts|databases)\.(accounts|system)\b/,
    /^(?!server\/src\/(developer|http|agents|site)\/)/,
    'rows of all tenants are for identity/ to look for',
  ],
  [
    /process\.env/,
    // Samples hold it as text.
    /^(server\/src\/(main|env|embedded-postgres\/cluster|cli\/(run|help))\.ts|contract\/.*samples|examples\/|test\/|tools\/)/,
    'settings are read in env.ts',
  ],
];

/** What is wrong with the imports and the text of a file, a line each; none where all is well. */
export function faultsOf(file: string, source: string): string[] {
  const imports = [...source.matchAll(/(?:from|import|import\() ?'([^']+)'/g)].map(([, target = '']) => target);
  const misplaced = confined.filter(([text, files]) => text.test(source) && !files.test(file));
  return [
    ...imports.flatMap((target) => faultOf(file, target) ?? []),
    ...misplaced.map(([text, , why]) => `${file}: ${text.source} doesn't belong here: ${why}.`),
  ];
}

function faultOf(file: string, target: string): string | undefined {
  const imported = pathOf(file, target);
  // What Prisma generates belongs to everybody: its types are those of rows.
  if (imported === undefined || imported.startsWith('server/generated/prisma/')) return undefined;
  const [from, to] = [roomOf(file), roomOf(imported)];
  if (from === undefined) return `${file}: is in no room; name it in tools/check-imports.ts.`;
  const allowed = rooms[from]?.imports ?? [];
  if (from === to || allowed.includes('everything') || (to !== undefined && allowed.includes(to))) return undefined;
  return `${file}: ${from} must not import ${to ?? 'what is in no room'} (${target}).`;
}

function pathOf(file: string, target: string): string | undefined {
  if (target.startsWith('.')) return normalize(join(dirname(file), target));
  const name = /^@itsm-api\/(\w+)/.exec(target)?.[1];
  return name && `${name}/src/index.ts`;
}

function roomOf(file: string): string | undefined {
  return Object.keys(rooms).find((name) => rooms[name]?.files.test(file));
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  for await (const file of glob('{contract,server,client,examples,prisma,test,tools}/**/*.ts', {
    cwd: root,
    exclude: (name) => /node_modules|^dist$|^generated$/.test(name),
  })) {
    for (const fault of faultsOf(file, await readFile(join(root, file), 'utf8'))) {
      process.stderr.write(`${fault}\n`);
      process.exitCode = 1;
    }
  }
}
