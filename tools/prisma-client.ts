import { execFile } from 'node:child_process';
import { copyFile, glob, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const root = dirname(import.meta.dirname);

/** Where the Prisma client is, as schema.prisma says. */
export const clientFolder = 'server/generated/prisma';

/** The files of the Prisma client that prisma/schema.prisma leads to, by their names below the root. */
export async function prismaClient(): Promise<Record<string, string>> {
  // Made elsewhere, so that it can be compared with what is there. The schema names the folder relative to itself.
  const elsewhere = await mkdtemp(join(tmpdir(), 'prisma-client-'));
  try {
    const schema = join(elsewhere, 'prisma/schema.prisma');
    await mkdir(dirname(schema));
    await copyFile(join(root, 'prisma/schema.prisma'), schema);
    await generate(schema, elsewhere);
    const files: Record<string, string> = {};
    for await (const name of glob(`${clientFolder}/**/*.ts`, { cwd: elsewhere })) {
      files[name.replaceAll('\\', '/')] = await readFile(join(elsewhere, name), 'utf8');
    }
    return files;
  } finally {
    await rm(elsewhere, { recursive: true });
  }
}

async function generate(schema: string, cwd: string): Promise<void> {
  const prisma = dirname(createRequire(import.meta.url).resolve('prisma/package.json'));
  await promisify(execFile)(process.execPath, [join(prisma, 'build/index.js'), 'generate', '--schema', schema], {
    cwd,
    // Prisma downloads its schema engine before it generates, and fails where it can't, though it does not use it for
    // that. It does not download what it is told to be there.
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      // Where Prisma looks for the generators that schema.prisma names.
      PATH: [join(import.meta.dirname, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    },
  });
}
