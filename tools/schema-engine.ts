import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

/*
 * Prisma's own schema engine, compiled to WebAssembly, for writing and checking migrations. The command line `prisma`
 * downloads it as a program from a host that not every machine reaches; this one comes with the other packages.
 */

/** Runs `work` with an engine connected to the database, and closes its connections. */
export async function withSchemaEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  // One connection, never closed for idleness: the engine takes a lock on it.
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 0 });
  const cleanups: (() => Promise<unknown>)[] = [];
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => connect(pool),
    connectToShadowDb: () => connectToShadow(databaseUrl, pool, cleanups),
  });
  try {
    const { SchemaEngine } = await loadGlue();
    const engine = await SchemaEngine.new({ datamodels: undefined }, () => undefined, factory);
    try {
      return await work(engine);
    } finally {
      engine.free();
    }
  } finally {
    for (const cleanup of cleanups) await cleanup();
    await pool.end();
  }
}

/** Prisma's adapter, with two things mended that the engine can't do without. */
async function connect(pool: pg.Pool): Promise<SqlDriverAdapter> {
  // Without a listener the error of a lost connection would end the process; the query under way reports it anyway.
  pool.on('error', () => undefined);
  const adapter = await new PrismaPg(markChars(pool)).connect();
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => {
    const { columnNames, columnTypes, rows } = await queryRaw(query);
    return {
      columnNames: columnNames.map((name) => name.replace(CHAR_MARK, '')),
      columnTypes: columnTypes.map((type, i) =>
        columnNames[i]?.endsWith(CHAR_MARK) ? ColumnTypeEnum.Character : type,
      ),
      rows,
    };
  };
  // Prisma's own cuts a script at every semicolon, also within the body of a function. Without arguments PostgreSQL
  // takes many statements at once, in one transaction, which is how `prisma migrate deploy` applies them.
  adapter.executeScript = async (sql) => {
    await adapter.executeRaw({ sql, args: [], argTypes: [] });
  };
  return adapter;
}

/** The type "char", in which PostgreSQL tells the kind of a constraint. Prisma's adapter refuses it. */
const CHAR_OID = 18;
const TEXT_OID = 25;
const CHAR_MARK = '\0char';

/** Has a pool return every "char" as text, with a mark at the name by which the type can be given back. */
function markChars(pool: pg.Pool): pg.Pool {
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<pg.QueryResult>;
  const marking = async (...args: unknown[]): Promise<pg.QueryResult> => {
    const result = await query(...args);
    // A script of many statements has an array of results, which nobody reads.
    for (const field of result.fields ?? []) {
      if (field.dataTypeID === CHAR_OID) Object.assign(field, { dataTypeID: TEXT_OID, name: field.name + CHAR_MARK });
    }
    return result;
  };
  return Object.assign(pool, { query: marking });
}

/** A database for the engine to replay the migrations in. It is dropped by us: the engine forgets it when it fails. */
async function connectToShadow(
  databaseUrl: string,
  pool: pg.Pool,
  cleanups: (() => Promise<unknown>)[],
): Promise<SqlDriverAdapter> {
  const name = `prisma_migrate_shadow_${randomUUID()}`;
  await pool.query(`CREATE DATABASE "${name}"`);
  cleanups.push(() => pool.query(`DROP DATABASE "${name}" WITH (FORCE)`));
  const url = new URL(databaseUrl);
  url.pathname = name;
  const shadow = new pg.Pool({ connectionString: url.href, max: 1 });
  cleanups.unshift(() => shadow.end());
  return await connect(shadow);
}

type Glue = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');

/** What we use of it: TypeScript knows it as a part of browsers only. */
declare const WebAssembly: {
  instantiate(code: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
};

let glue: Promise<Glue> | undefined;

/**
 * The engine's JavaScript with its WebAssembly, once per process: it keeps the instance in a variable of its module,
 * and a second instance would get the answers to the first one's questions.
 */
function loadGlue(): Promise<Glue> {
  glue ??= instantiate();
  return glue;
}

/** Does what the package's main file leaves to bundlers. */
async function instantiate(): Promise<Glue> {
  const module = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const script = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const code = await readFile(script.replace(/\.js$/, '.wasm'));
  // The engine bounds its wait for a lock with a timer of 10 s that it never clears: the process would wait for it.
  const imports = Object.entries(module).map(([name, value]) => [name, isSetTimeout(name) ? setIdleTimeout : value]);
  const { instance } = await WebAssembly.instantiate(code, { './schema_engine_bg.js': Object.fromEntries(imports) });
  module.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return module;
}

function isSetTimeout(name: string): boolean {
  return name.startsWith('__wbg_setTimeout_');
}

function setIdleTimeout(callback: () => void, milliseconds: number): NodeJS.Timeout {
  return setTimeout(callback, milliseconds).unref();
}
