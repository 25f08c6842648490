import { execFileSync } from 'node:child_process';
import { glob, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Compiles a package to JavaScript and declarations in its folder `dist`, with the settings in `tsconfig.build.json`.
 * @param root the path of the package
 * @param resolve resolves a module of the package that depends on TypeScript
 * @returns the path of the folder `dist`
 */
export async function compilePackage(root: string, resolve: (module: string) => string): Promise<string> {
  const dist = join(root, 'dist');
  await rm(dist, { recursive: true, force: true });
  const tsc = join(dirname(resolve('typescript/package.json')), 'bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
  // The TypeScript compiler rewrites `.ts` imports in the JavaScript files, but not in the declaration files.
  for await (const file of glob(join(dist, '**/*.d.ts'))) {
    const declarations = await readFile(file, 'utf8');
    await writeFile(file, declarations.replace(/((?:from |import\()['"]\.\.?\/[\w./-]+)\.ts(['"])/g, '$1.js$2'));
  }
  return dist;
}
