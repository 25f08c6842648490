import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

/*
 * Generates the Prisma client when it is missing, or was made from another schema.prisma or by other versions of the
 * generators. Says nothing unless that fails, and costs next to nothing when the client is fresh: every start calls it.
 */
const root = dirname(import.meta.dirname);
const stamp = join(root, 'server/src/database/generated/.made-from');
const { resolve } = createRequire(import.meta.url);
const prisma = resolve('prisma/package.json');

const inputs = [prisma, resolve('prisma-json-types-generator/package.json'), join(root, 'prisma/schema.prisma')].map(
  (file) => readFileSync(file, 'utf8'),
);
const hash = createHash('sha256').update(inputs.join('\0')).digest('hex');

if (readStamp() !== hash) generate();

function readStamp(): string | undefined {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

function generate(): void {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(dirname(prisma), 'build/index.js'), 'generate'],
    {
      cwd: root,
      encoding: 'utf8',
      // Prisma downloads its schema engine before it generates, and fails where it can't, though it does not use it for
      // that. It does not download what it is told to be there.
      env: {
        ...process.env,
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
        // Where Prisma looks for the generators that schema.prisma names.
        PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      },
    },
  );
  if (status === 0) {
    writeFileSync(stamp, hash);
    return;
  }
  console.error(`${stdout}${stderr}\nThe Prisma client could not be generated from prisma/schema.prisma.`);
  process.exit(1);
}
