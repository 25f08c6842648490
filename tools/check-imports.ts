import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Checks imports between the layers that ARCHITECTURE.md describes, and between the subfolders of `resources/` and
 * `developer/`. Type imports count as imports. Doesn't check for circular imports, because Biome does (noImportCycles).
 * Usage: `node tools/check-imports.ts`
 */

interface Layer {
  files: RegExp;
  /** The names of the layers from which the files of this layer may import. */
  imports: string[];
}

const server = [
  ...['contract', 'config', 'shared', 'storage', 'embedded-postgres', 'database', 'all tenants', 'webhooks', 'usage'],
];
const queries = ['context', 'resources'];

/** The layers, by name. A file is in the first layer whose pattern matches the path of the file. */
const layers: Record<string, Layer> = {
  // The main entry of the published contract works without ts-rest, so no other file of the contract imports these.
  'contract/ts-rest': { files: /^contract\/src\/(ts-rest|openapi)\.ts$/, imports: ['contract'] },
  contract: { files: /^contract\//, imports: [] },
  client: { files: /^client\/src\//, imports: [] },
  'client/bin': { files: /^client\/bin\//, imports: ['client'] },
  'client/codegen': { files: /^client\//, imports: ['contract'] },
  'package compiler': { files: /^tools\/compile-package\.ts$/, imports: [] },
  config: { files: /^server\/src\/config\//, imports: ['contract'] },
  shared: { files: /^server\/src\/shared\//, imports: ['contract', 'config'] },
  storage: { files: /^server\/src\/storage\//, imports: ['config', 'shared'] },
  'embedded-postgres': { files: /^server\/src\/embedded-postgres\//, imports: ['shared'] },
  // These modules access the rows of all tenants, so code that handles requests must not import them.
  'all tenants': {
    files: /^server\/src\/database\/client\/(prisma|databases|connection|dedicated-connection|pool)\.ts$/,
    imports: ['config', 'shared', 'database'],
  },
  database: { files: /^server\/src\/database\//, imports: ['contract', 'config', 'shared', 'all tenants'] },
  webhooks: {
    files: /^server\/src\/webhooks\//,
    imports: ['contract', 'config', 'shared', 'database', 'all tenants'],
  },
  usage: { files: /^server\/src\/usage\//, imports: ['contract', 'shared', 'database', 'all tenants'] },
  context: {
    files: /^server\/src\/resources\/(shared\/(context|proposal-withdrawal)|audit\/audit-entry)\.ts$/,
    imports: ['shared', 'storage', 'database', 'webhooks'],
  },
  handlers: {
    files: /^server\/src\/resources\/(index|handlers|handler-wrappers)\.ts$/,
    imports: ['contract', 'shared', ...queries],
  },
  // These modules manage tenants or contain scheduled jobs. Code that handles requests doesn't use them.
  'queries over all tenants': {
    files: /^server\/src\/resources\/(tenants\/.+|[\w/-]+\/\w+-(retention|cleanup|check|backfill))\.ts$/,
    imports: ['contract', 'shared', 'storage', 'database', 'all tenants', 'webhooks', ...queries],
  },
  resources: {
    files: /^server\/src\/resources\//,
    imports: ['contract', 'shared', 'storage', 'database', 'webhooks', 'usage', 'context'],
  },
  administration: { files: /^server\/src\/administration\//, imports: ['contract', 'shared', 'context', 'resources'] },
  auth: {
    files: /^server\/src\/auth\//,
    imports: ['contract', 'shared', 'database', 'all tenants', 'context'],
  },
  http: { files: /^server\/src\/http\//, imports: ['contract', 'config', 'shared', 'context', 'auth'] },
  'docs-site': { files: /^server\/src\/docs-site\//, imports: ['contract', 'shared', 'http'] },
  developer: {
    files: /^server\/src\/developer\//,
    imports: [
      ...['contract', 'config', 'shared', 'database', 'webhooks', 'usage', ...queries],
      ...['administration', 'auth', 'http', 'docs-site'],
    ],
  },
  mcp: {
    files: /^server\/src\/mcp\//,
    imports: ['contract', 'config', 'shared', ...queries, 'http', 'docs-site'],
  },
  operations: {
    files: /^server\/src\/operations\//,
    imports: ['contract', 'config', 'shared', 'database', 'all tenants', 'webhooks'],
  },
  app: {
    files: /^server\/src\/app\.ts$/,
    imports: [...server, 'context', 'auth', 'handlers', 'http', 'docs-site', 'developer', 'mcp', 'operations'],
  },
  prisma: {
    files: /^prisma\//,
    imports: [
      'contract',
      'shared',
      'storage',
      'database',
      'all tenants',
      'resources',
      'auth',
      'queries over all tenants',
      'webhooks',
    ],
  },
  process: {
    files: /^server\/src\/process\//,
    imports: [...server, 'context', 'auth', 'queries over all tenants', 'http', 'operations', 'prisma'],
  },
  main: { files: /^server\/src\/main\.ts$/, imports: ['config', 'shared', 'process', 'app'] },
  // The server of the package `testing`.
  'test server': {
    files: /^server\/src\/testing\//,
    imports: [...server, ...queries, 'auth', 'queries over all tenants', 'process', 'app'],
  },
  cli: {
    files: /^server\/src\/cli\//,
    imports: [
      ...[...server, ...queries, 'administration', 'auth', 'queries over all tenants'],
      ...['http', 'operations', 'prisma', 'process'],
    ],
  },
  tools: {
    files: /^tools\//,
    imports: [
      'contract',
      'contract/ts-rest',
      'client/codegen',
      'package compiler',
      'config',
      'shared',
      'embedded-postgres',
      'database',
      'cli',
      'process',
    ],
  },
  examples: { files: /^examples\//, imports: ['client', 'testing'] },
  testing: { files: /^testing\/src\//, imports: ['client'] },
  'testing/build': { files: /^testing\/build\.ts$/, imports: ['cli', 'package compiler'] },
  'alerts/bin': { files: /^alerts\/bin\//, imports: ['alerts'] },
  'alerts/build': { files: /^alerts\/build\.ts$/, imports: ['package compiler'] },
  alerts: { files: /^alerts\//, imports: ['client'] },
  // The test model implements the specification independently, so it must not import server code.
  model: {
    files: /^test\/system\/model\/(?!(system|episode|run|main|model\.test)\.ts)/,
    imports: ['contract', 'receiver'],
  },
  // The receiver of webhooks, which imports no server code.
  receiver: { files: /^test\/support\/receiver\.ts$/, imports: [] },
  tests: { files: /^(test|evaluation)\//, imports: ['everything'] },
};

/**
 * The order of the files and subfolders of a folder. A file can import only from those before its own. Names that the
 * order lacks have the place of `*`.
 */
const orders: Record<string, string[]> = {
  'server/src/resources/': [
    ...['shared', 'sync', 'audit', 'nouns', '*', 'idempotency', 'usage', 'requests', 'activities'],
    ...['deliveries', 'webhooks', 'custom-fields', 'tickets', 'users', 'me', 'articles', 'csv', 'assets'],
    ...['projects', 'tasks', 'ticket-categories', 'request-forms', 'proposals', 'document', 'privacy', 'tenants'],
    ...['request-references.ts', 'handler-wrappers.ts', 'handlers.ts', 'index.ts'],
  ],
  'server/src/developer/': ['framework', 'ui', 'pages', 'pages.ts', 'send-response.ts', 'plugin.ts'],
};

/**
 * Code that only certain files may contain. Each entry has a pattern for the code, a pattern for the allowed files, and
 * the reason.
 */
const confined: [text: RegExp, files: RegExp, why: string][] = [
  [
    /(from|import) '@ts-rest\//,
    /^(contract\/src\/(ts-rest|openapi)|server\/src\/resources\/(index|handlers|handler-wrappers)|test\/rules\/imports\.test)\.ts$/,
    'ts-rest must stay replaceable',
  ],
  [
    /new (PrismaClient|Pool)\(|\bopen(System|Tenant)Database\(/,
    /^(server\/src\/database\/client|test|evaluation)\//,
    'only database/client opens connections',
  ],
  [
    /\$(query|execute)Raw|import (?!type)[^;]*\bPrisma\b[^;]*generated\/prisma/,
    /^(server\/src\/database\/client|test|evaluation|tools)\//,
    'statements run on the tenant client or the system client',
  ],
  [
    /\b(accounts|databases)\.(accounts|system)\b/,
    /^(?!server\/src\/(developer|http|mcp|docs-site)\/)/,
    'only auth/ looks up rows of all tenants',
  ],
  [
    /process\.env/,
    // These files include the code samples of the contract, which contain `process.env` as text.
    /^(server\/src\/(main|testing\/index|cli\/lib\/(run-command|help))\.ts|contract\/.*samples|examples\/|(alerts|client)\/bin\/|testing\/|test\/|evaluation\/|tools\/)/,
    'config/env.ts reads the settings',
  ],
];

/** Returns a message for each forbidden import and each piece of forbidden code in a file. */
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
  // Every layer may import the row types that Prisma generates.
  if (imported === undefined || imported.startsWith('server/generated/prisma/')) return undefined;
  const [from, to] = [layerOf(file), layerOf(imported)];
  if (from === undefined) return `${file}: is in no layer. Add it to tools/check-imports.ts.`;
  for (const [folder, order] of Object.entries(orders)) {
    if (!file.startsWith(folder) || !imported.startsWith(folder)) continue;
    const [own = '', other = ''] = [file, imported].map((path) => path.slice(folder.length).split('/')[0]);
    const listed = (name: string) => (order.includes(name) ? name : '*');
    const earlier = order.slice(0, Math.max(0, order.indexOf(listed(own))));
    if (own !== other && !earlier.includes(listed(other)))
      return `${file}: ${own} must not import ${other}, which isn't before it in the order of ${folder} (${target}).`;
  }
  const allowed = layers[from]?.imports ?? [];
  if (from === to || allowed.includes('everything') || (to !== undefined && allowed.includes(to))) return undefined;
  return `${file}: ${from} must not import ${to ?? 'a file in no layer'} (${target}).`;
}

function pathOf(file: string, target: string): string | undefined {
  if (target.startsWith('.')) return normalize(join(dirname(file), target));
  const name = /^@itsm-api\/(\w+)/.exec(target)?.[1];
  return name && `${name}/src/index.ts`;
}

function layerOf(file: string): string | undefined {
  return Object.keys(layers).find((name) => layers[name]?.files.test(file));
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  for await (const file of glob(
    '{alerts,contract,server,client,testing,examples,evaluation,prisma,test,tools}/**/*.ts',
    {
      cwd: root,
      exclude: (name) => /node_modules|^dist$|^generated$/.test(name),
    },
  )) {
    for (const fault of faultsOf(file, await readFile(join(root, file), 'utf8'))) {
      process.stderr.write(`${fault}\n`);
      process.exitCode = 1;
    }
  }
}
