import { execFileSync } from 'node:child_process';
import { cp, glob, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Compiles a package to JavaScript and declarations: ES modules in its folder `dist`, with the settings in
 * `tsconfig.build.json`, and CommonJS modules in `dist/cjs`.
 * @param root the path of the package
 * @param require loads modules from a package that depends on TypeScript and esbuild
 * @returns the path of the folder `dist`
 */
export async function compilePackage(root: string, require: NodeJS.Require): Promise<string> {
  const dist = join(root, 'dist');
  await rm(dist, { recursive: true, force: true });
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
  // The TypeScript compiler rewrites `.ts` imports in the JavaScript files, but not in the declaration files.
  for await (const file of glob(join(dist, '**/*.d.ts'))) {
    const declarations = await readFile(file, 'utf8');
    await writeFile(file, declarations.replace(/((?:from |import\()['"]\.\.?\/[\w./-]+)\.ts(['"])/g, '$1.js$2'));
  }
  await compileCommonJs(dist, require);
  return dist;
}

/**
 * Compiles the ES modules in a folder to CommonJS modules in its subfolder `cjs`. The declarations stay the same. The
 * TypeScript compiler can't compile `import.meta` to CommonJS.
 */
async function compileCommonJs(dist: string, require: NodeJS.Require): Promise<void> {
  const files = await readdir(dist, { recursive: true });
  const outdir = join(dist, 'cjs');
  await require('esbuild').build({
    entryPoints: files.filter((file) => file.endsWith('.js')).map((file) => join(dist, file)),
    outdir,
    outbase: dist,
    format: 'cjs',
    // Lets ES modules import the names of a CommonJS module.
    platform: 'node',
    define: { 'import.meta.dirname': '__dirname' },
  });
  for (const file of files.filter((file) => file.endsWith('.d.ts'))) await cp(join(dist, file), join(outdir, file));
  await writeFile(join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
}
