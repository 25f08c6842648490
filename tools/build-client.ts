import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { compilePackage } from './compile-package.ts';

/* Builds the published package of the client in `client/dist`. Usage: `node tools/build-client.ts` */

/**
 * The maximum size of the bundled, minified and gzipped client in bytes: the shared code, and the code for each
 * endpoint. The bundle doesn't contain the webhook module.
 */
const maxCoreBytes = 8780;
const maxEndpointBytes = 60;

const root = join(import.meta.dirname, '../client');
const dist = await compilePackage(root, createRequire(import.meta.url));

// The program imports the package by its name, so the library and its bundle don't contain the program.
await build({
  entryPoints: [join(root, 'bin/itsm-client.ts')],
  outdir: join(dist, 'bin'),
  bundle: true,
  packages: 'external',
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
});

const routes = /(export const routes = )(\{.*?\n\})/s;
const generated = await readFile(join(dist, 'generated.js'), 'utf8');
const endpoints = routes.exec(generated)?.[2]?.match(/: '[A-Z]+ \//g)?.length ?? 0;
const core = await measureBundle(generated.replace(routes, '$1{}'));
const perEndpoint = ((await measureBundle(generated)) - core) / endpoints;
const size =
  `Client size, gzipped: ${core} of ${maxCoreBytes} bytes of shared code, and for each of ${endpoints} endpoints ` +
  `${perEndpoint.toFixed(1)} of ${maxEndpointBytes} bytes.`;
if (core > maxCoreBytes || !(perEndpoint <= maxEndpointBytes)) {
  throw new Error(`The client is too large. ${size} Make it smaller, or change the limits in tools/build-client.ts.`);
}
process.stdout.write(`${size}\n`);

/** Bundles the client with the given content of `generated.js`. Returns the gzipped size in bytes. */
async function measureBundle(generatedSource: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [join(dist, 'index.js')],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    plugins: [
      {
        name: 'generated source',
        setup({ onLoad }) {
          onLoad({ filter: /[/\\]generated\.js$/ }, () => ({ contents: generatedSource }));
        },
      },
    ],
  });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
}
