import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { EventType } from '../contract/src/event-types.ts';
import { eventJsonSchema } from '../contract/src/openapi/event-json-schema.ts';
import { compilePackage } from './compile-package.ts';

/*
 * Builds the published package of the contract in `contract/dist`: JavaScript, declarations, the OpenAPI document and
 * the JSON Schemas of the events. Usage: `node tools/build-contract.ts`
 */

const root = join(import.meta.dirname, '../contract');
const dist = await compilePackage(root, createRequire(import.meta.url));

await mkdir(join(dist, 'schemas'));
for (const type of EventType.options) {
  await writeFile(join(dist, `schemas/${type}.json`), `${JSON.stringify(eventJsonSchema(type), null, 2)}\n`);
}
for (const file of ['openapi.json', 'README.md', 'CHANGELOG.md', '../LICENSE']) {
  await copyFile(join(root, file), join(dist, file.replace('../', '')));
}

const { scripts, publishConfig, dependencies, ...manifest } = JSON.parse(
  await readFile(join(root, 'package.json'), 'utf8'),
);
const bothFormats = (module: string) => ({
  import: { types: `./${module}.d.ts`, default: `./${module}.js` },
  require: { types: `./cjs/${module}.d.ts`, default: `./cjs/${module}.js` },
});
const published = {
  ...manifest,
  sideEffects: false,
  engines: { node: '>=20' },
  main: './cjs/index.js',
  types: './cjs/index.d.ts',
  // The module resolution `node10` of TypeScript doesn't read `exports`.
  typesVersions: { '*': { 'ts-rest': ['./cjs/ts-rest.d.ts'] } },
  exports: {
    '.': bothFormats('index'),
    './ts-rest': bothFormats('ts-rest'),
    './openapi.json': './openapi.json',
    './schemas/*.json': './schemas/*.json',
  },
  // Schemas of one copy of zod aren't accepted by another copy. Only the router needs ts-rest.
  peerDependencies: { '@ts-rest/core': dependencies['@ts-rest/core'], zod: `^${dependencies.zod}` },
  peerDependenciesMeta: { '@ts-rest/core': { optional: true } },
};
await writeFile(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
