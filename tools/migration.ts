import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrationsFolder } from '../server/src/database/migrations.ts';
import { openTemporary } from '../server/src/embedded-postgres/temporary.ts';
import { diffMigrations } from './schema-diff.ts';

/*
 * node tools/migration.ts NAME      makes the migration that leads from prisma/migrations to prisma/schema.prisma
 * node tools/migration.ts --check   fails when the two disagree
 *
 * Both replay the migrations in a database that is dropped afterwards: on the server of DATABASE_URL, or on a
 * PostgreSQL that is started for the purpose.
 */
try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message.trim() : error);
  process.exitCode = 1;
}

async function main([task, ...others]: string[]): Promise<void> {
  if (task === undefined || others.length > 0 || !/^(--check|[a-z][a-z0-9_]*)$/.test(task)) {
    throw new Error('Usage: node tools/migration.ts NAME (lower-case letters, digits and _), or --check');
  }
  const sql = await diff();
  if (task === '--check') {
    if (sql === '') return;
    throw new Error('prisma/schema.prisma and prisma/migrations disagree. Run: node tools/migration.ts NAME_OF_CHANGE');
  }
  if (sql === '') throw new Error('Nothing to migrate: prisma/migrations leads to prisma/schema.prisma already.');
  console.log(`Made ${await writeMigration(task, sql)}. Read it before you apply it.`);
}

async function diff(): Promise<string> {
  if (process.env.DATABASE_URL) return await diffMigrations(process.env.DATABASE_URL);
  const { url, stop } = await openTemporary();
  try {
    return await diffMigrations(url);
  } finally {
    await stop();
  }
}

/** Makes `prisma/migrations/<UTC time>_<name>/migration.sql` and returns its path. */
async function writeMigration(name: string, sql: string): Promise<string> {
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = join(migrationsFolder, `${time}_${name}`);
  await mkdir(folder);
  await writeFile(join(folder, 'migration.sql'), sql);
  return join(folder, 'migration.sql');
}
