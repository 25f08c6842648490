import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';

/**
 * Returns the SQL that migrates a database from one schema.prisma to another. If `from` is undefined, the SQL migrates
 * an empty database. Runs Prisma's schema engine as WebAssembly, because Prisma's command line would download the
 * engine from a host that some machines can't reach.
 * @param databaseUrl a PostgreSQL database; the engine reads the PostgreSQL version from it
 */
export async function schemaScript(databaseUrl: string, from: string | undefined, to: string): Promise<string> {
  const model = (content: string) => {
    return { tag: 'schemaDatamodel' as const, files: [{ path: 'schema.prisma', content }] };
  };
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg({ connectionString: databaseUrl }));
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => undefined, adapter);
  try {
    const { stdout } = await engine.diff({
      from: from === undefined ? { tag: 'empty' } : model(from),
      to: model(to),
      script: true,
      exitCode: false,
      filters: { externalTables: [], externalEnums: [] },
    });
    return stdout ?? '';
  } finally {
    engine.free();
  }
}
