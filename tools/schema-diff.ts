import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { migrationsFolder, readMigrations } from '../server/src/database/migrations.ts';
import { ensureRoles } from '../server/src/database/roles.ts';
import { withSchemaEngine } from './schema-engine.ts';

/** No table is left to others, as far as Prisma is concerned. */
const filters = { externalTables: [], externalEnums: [] };

/**
 * The SQL that leads from the migrations to schema.prisma; empty when they agree. Functions, triggers, policies, rights
 * and data are not compared. Needs the right to create databases: the migrations are replayed in one that is dropped
 * afterwards.
 */
export async function diffMigrations(databaseUrl: string): Promise<string> {
  await makeRoles(databaseUrl);
  const migrations = await listMigrations();
  const path = join(import.meta.dirname, '../prisma/schema.prisma');
  const schema = { path, content: await readFile(path, 'utf8') };
  return await withSchemaEngine(databaseUrl, async (engine) => {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'migrations', ...migrations },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      // Asks for the exit code 2 where they differ: the script of no difference is a comment.
      exitCode: true,
      filters,
    });
    return exitCode === 2 ? (stdout ?? '') : '';
  });
}

/** The migrations grant to them. */
async function makeRoles(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await ensureRoles(client);
  } finally {
    await client.end();
  }
}

/** The folder as the engine wants to have it. It runs every script in a transaction. */
async function listMigrations(): Promise<MigrationList> {
  const lockfile = {
    path: 'migration_lock.toml',
    content: await readFile(join(migrationsFolder, 'migration_lock.toml'), 'utf8'),
  };
  const migrationDirectories = (await readMigrations()).map(({ name, script, concurrent }) => {
    const value = concurrent ? script.replace(/\bCONCURRENTLY\b/gi, '') : script;
    return { path: name, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } };
  });
  return { baseDir: migrationsFolder, lockfile, migrationDirectories, shadowDbInitScript: '' };
}
