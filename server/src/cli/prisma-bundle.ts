import { createHash } from 'node:crypto';
import type { Plugin } from 'rolldown';

/**
 * A plugin that selects Prisma's small query compiler and compiles it asynchronously. A command runs few queries, so a
 * short load time matters more than fast query planning.
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

/** The plugins that make Prisma load fast in a bundle. */
export const prismaPlugins: Plugin[] = [quickPlanner, plannerFile];
