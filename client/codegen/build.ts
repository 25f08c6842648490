import { execFileSync } from 'node:child_process';
import { glob, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Maximum size in bytes of the client without its webhook module, after bundling, minification and gzip. */
const sizeLimit = 8000;

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

await rm(dist, { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });

// The TypeScript compiler rewrites `.ts` imports in the JavaScript files, but not in the declaration files.
for await (const file of glob(join(dist, '*.d.ts'))) {
  const declarations = await readFile(file, 'utf8');
  await writeFile(file, declarations.replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
}

const { outputFiles } = await build({
  entryPoints: [join(dist, 'index.js')],
  bundle: true,
  minify: true,
  format: 'esm',
  write: false,
});
const size = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
process.stdout.write(`Client size: ${size} of ${sizeLimit} bytes, gzipped.\n`);
if (size > sizeLimit) process.exitCode = 1;
