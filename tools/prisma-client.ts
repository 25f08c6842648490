import { execFile } from 'node:child_process';
import { copyFile, glob, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const root = dirname(import.meta.dirname);

/** The output folder of the Prisma client. schema.prisma must specify the same folder. */
export const clientFolder = 'server/generated/prisma';

/**
 * Generates the Prisma client and the list of tables from prisma/schema.prisma. Returns the content of each generated file, by its path
 * relative to the repository root.
 */
export async function prismaClient(): Promise<Record<string, string>> {
  // Generates the client in a temporary folder, because `--check` only compares the files. Copies the schema to this
  // folder, because the output folder is relative to the schema.
  const folder = await mkdtemp(join(tmpdir(), 'prisma-client-'));
  try {
    const schema = join(folder, 'prisma/schema.prisma');
    await mkdir(dirname(schema));
    await copyFile(join(root, 'prisma/schema.prisma'), schema);
    await generate(schema, folder);
    const files: Record<string, string> = {};
    for await (const name of glob(`${clientFolder}/**/*.ts`, { cwd: folder })) {
      files[name.replaceAll('\\', '/')] = await readFile(join(folder, name), 'utf8');
    }
    files[`${clientFolder}/tables.ts`] = tablesSource(await readFile(schema, 'utf8'));
    return files;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the source code of the list of tables, which the Prisma client doesn't export. */
function tablesSource(schema: string): string {
  const models = schema.split(/^model /m).filter((model) => /^ {2}id +BigInt +@default\(autoincrement/m.test(model));
  const names = models.map((model) => /@@map\("(\w+)"\)/.exec(model)?.[1]);
  return [
    '// Generated from prisma/schema.prisma by `pnpm generate`. Do not edit.',
    '',
    '/** The tables of tenants whose rows have their own numbers as ids. */',
    `export const tables = [\n${names.map((name) => `  '${name}',\n`).join('')}] as const;`,
    '',
  ].join('\n');
}

async function generate(schema: string, cwd: string): Promise<void> {
  const prisma = dirname(createRequire(import.meta.url).resolve('prisma/package.json'));
  await promisify(execFile)(process.execPath, [join(prisma, 'build/index.js'), 'generate', '--schema', schema], {
    cwd,
    // Prisma downloads its schema engine before it generates the client, although it doesn't use the engine. If the
    // download fails, Prisma stops with an error. PRISMA_SCHEMA_ENGINE_BINARY prevents this download.
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      // Prisma searches PATH for the generators that schema.prisma names.
      PATH: [join(import.meta.dirname, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    },
  });
}
