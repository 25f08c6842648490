import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Packs the Python client as a wheel and a source distribution in the folder `client/python/dist`.
 * Usage: `node tools/pack-python.ts`
 */

const root = join(import.meta.dirname, '..');
const folder = join(root, 'client/python');

/** The date of all files in the packages, 1985-10-26, as in npm packages. Thus equal sources make equal packages. */
const fileDate = '499162500';

const build = `import sys
from flit_core.buildapi import build_sdist, build_wheel
print(build_sdist(sys.argv[1]))
print(build_wheel(sys.argv[1]))`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(packPython());

/** Packs the Python client, and returns a line about the result. */
export function packPython(): string {
  const python = ['/usr/bin/python3', 'python3'].find(
    (program) => spawnSync(program, ['-c', 'import flit_core']).status === 0,
  );
  if (python === undefined) {
    return 'The Python client is not packed, because flit is not installed. Install the Debian package flit.\n';
  }
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  mkdirSync(join(folder, 'dist'));
  // Both clients have the same version, so they have one changelog.
  copyFileSync(join(root, 'client/CHANGELOG.md'), join(folder, 'CHANGELOG.md'));
  const env = { ...process.env, SOURCE_DATE_EPOCH: fileDate, PYTHONDONTWRITEBYTECODE: '1' };
  try {
    const files = execFileSync(python, ['-c', build, 'dist'], { cwd: folder, encoding: 'utf8', env })
      .trim()
      .split('\n');
    return `${files.join(' and ')} packed in client/python/dist.\n`;
  } finally {
    rmSync(join(folder, 'CHANGELOG.md'));
  }
}

/** Replaces the placeholders in `pyproject.toml` with the addresses of a repository. */
export function setPythonAddresses(page: string): void {
  const file = join(folder, 'pyproject.toml');
  const settings = readFileSync(file, 'utf8')
    .replace('https://itsm-api.example/client/python', `${page}/tree/main/client/python#readme`)
    .replace('https://itsm-api.example/issues', `${page}/issues`)
    .replace('https://itsm-api.example/itsm-api.git', `${page}.git`);
  writeFileSync(file, settings);
}

/** Returns the software bill of materials of the Python client (CycloneDX), which has no dependencies. */
export function pythonSbom(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'client/package.json'), 'utf8')) as { version: string };
  const reference = `pkg:pypi/itsm-api@${version}`;
  const sbom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        ...{ type: 'library', 'bom-ref': reference, name: 'itsm-api', version, purl: reference },
        licenses: [{ license: { id: 'MIT' } }],
      },
    },
    components: [],
    dependencies: [{ ref: reference }],
  };
  return `${JSON.stringify(sbom, undefined, 2)}\n`;
}
