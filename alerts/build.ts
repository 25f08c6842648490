import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { compilePackage } from '../tools/compile-package.ts';

/* Builds the package in `dist`: compiles its sources and its program. Usage: `node build.ts` */

const dist = await compilePackage(import.meta.dirname, createRequire(import.meta.url));

// The program imports the package by its name, so the library doesn't contain the program.
await build({
  entryPoints: [join(import.meta.dirname, 'bin/itsm-alerts.ts')],
  outdir: join(dist, 'bin'),
  format: 'esm',
  platform: 'node',
  target: 'node24',
});
