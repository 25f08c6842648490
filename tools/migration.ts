import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrationsFolder } from '../server/src/database/migrations/migration-history.ts';
import { openTemporary } from '../server/src/embedded-postgres/temporary.ts';
import { schemaScript } from './schema-script.ts';

/*
 * `node tools/migration.ts NAME` creates a migration with the SQL for the uncommitted changes in prisma/schema.prisma.
 */
const [name = '', ...others] = process.argv.slice(2);
if (others.length > 0 || !/^[a-z][a-z0-9_]*$/.test(name)) {
  process.stderr.write('Usage: node tools/migration.ts NAME (lowercase letters, digits and _)\n');
  process.exit(2);
}
const root = join(import.meta.dirname, '..');
const committed = execFileSync('git', ['show', 'HEAD:prisma/schema.prisma'], { cwd: root, encoding: 'utf8' });
const edited = await readFile(join(root, 'prisma/schema.prisma'), 'utf8');
const { url, stop } = await openTemporary();
try {
  const newest =
    (await readdir(migrationsFolder))
      .filter((folder) => /^\d{14}_/.test(folder))
      .sort()
      .at(-1) ?? '';
  // The names determine the order of the migrations, so the new one must be last even if a clock was ahead.
  const time = Math.max(
    Number(new Date().toISOString().replace(/\D/g, '').slice(0, 14)),
    Number(newest.slice(0, 14)) + 1,
  );
  const folder = join(migrationsFolder, `${time}_${name}`);
  const script = await schemaScript(url, committed, edited);
  await mkdir(folder);
  await writeFile(join(folder, 'migration.sql'), script);
  process.stdout.write(`Created ${folder}. Read and complete it before you apply it.\n`);
} finally {
  await stop();
}
