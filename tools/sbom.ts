import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonSbom } from './pack-python.ts';

/*
 * Checks the licenses of all packages that the server, the client and the package alerts install, against the list in
 * `accepted-licenses.json`. With `--write`, writes their software bills of materials (CycloneDX) to the folder `sbom`.
 * Usage: `node tools/sbom.ts [--write]`
 */

interface License {
  expression?: string;
  license?: { id?: string; name?: string };
}

interface Sbom {
  components: { purl: string; licenses?: License[] }[];
}

const root = join(import.meta.dirname, '..');
/** The described packages, with the type of their component. `@itsm-api/testing` contains the server. */
const packages = { server: 'application', client: 'library', alerts: 'application' };

const accepted: string[] = JSON.parse(readFileSync(join(import.meta.dirname, 'accepted-licenses.json'), 'utf8'));
const sboms = Object.entries(packages).map(([name, type]) => [name, createSbom(name, type)] as const);
const faults = new Set(sboms.flatMap(([, text]) => licenseFaults(JSON.parse(text))));
if (faults.size > 0) {
  throw new Error(
    `Replace these packages, or add their licenses to tools/accepted-licenses.json:\n${[...faults].join('\n')}`,
  );
}
if (process.argv.includes('--write')) {
  mkdirSync(join(root, 'sbom'), { recursive: true });
  for (const [name, text] of [...sboms, ['python', pythonSbom()]])
    writeFileSync(join(root, `sbom/${name}.cdx.json`), text);
}

function createSbom(name: string, type: string): string {
  const format = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--sbom-type', type];
  const args = ['--filter', `@itsm-api/${name}`, 'sbom', '--prod', ...format];
  return execFileSync('pnpm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** Returns a line for each package that has no license, or one that isn't accepted. */
function licenseFaults({ components }: Sbom): string[] {
  return components.flatMap(({ purl, licenses = [] }) => {
    const names = licenses.map(({ expression, license }) => expression ?? license?.id ?? license?.name ?? '');
    if (names.length > 0 && names.every((name) => accepted.includes(name))) return [];
    return [`${purl}: ${names.join(', ') || 'no license'}`];
  });
}
