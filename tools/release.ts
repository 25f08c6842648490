import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packPython, setPythonAddresses } from './pack-python.ts';
import { publishedFolders } from './published-folders.ts';

/*
 * Releases the packages: makes the pictures in the README, sets the next versions, updates the changelogs, checks the
 * licenses, writes the SBOMs to the folder `sbom`, packs the packages, publishes each version that the registry doesn't
 * have yet, and packs the Python client. After a failure, you can run it again.
 * Usage: `node tools/release.ts --registry URL [--repository URL] [--provenance]`
 * The address of the repository replaces the placeholders in the packages. With `--provenance`, npm shows the commit and
 * the workflow run of each package. It works only in a workflow of GitHub.
 */

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    registry: { type: 'string' },
    repository: { type: 'string' },
    provenance: { type: 'boolean', default: false },
  },
});
if (values.registry === undefined) throw new Error('The registry is missing. Add `--registry URL`.');
const { registry, provenance } = { ...values, registry: values.registry };
const ofWorkflow = `${process.env.GITHUB_SERVER_URL}/${process.env.GITHUB_REPOSITORY}`;
const repository = values.repository ?? (provenance ? ofWorkflow : undefined);

if (repository !== undefined) {
  for (const folder of publishedFolders) setAddresses(folder, repository);
  setPythonAddresses(repository);
}
rejectPlaceholders();

if (readdirSync(join(root, '.changeset')).some((name) => name.endsWith('.md') && name !== 'README.md')) {
  if (provenance) {
    throw new Error('Packages name the commit of their source. Run `pnpm release:version`, and commit the versions.');
  }
  run('pnpm', ['--filter', '@itsm-api/tools', 'release:version']);
}
run(process.execPath, ['tools/sbom.ts', '--write']);
const tarballs = mkdtempSync(join(tmpdir(), 'itsm-release-'));
try {
  for (const folder of publishedFolders) publish(join(root, folder));
} finally {
  rmSync(tarballs, { recursive: true });
}
process.stdout.write(packPython());

function publish(folder: string): void {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (isPublished(`${name}@${version}`)) {
    process.stdout.write(`${name} ${version} is already published.\n`);
    return;
  }
  run('pnpm', ['pack', '--pack-destination', tarballs], folder);
  const tarball = join(tarballs, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  run('npm', [
    'publish',
    tarball,
    '--registry',
    registry,
    '--access',
    'public',
    ...(provenance ? ['--provenance'] : []),
  ]);
  process.stdout.write(`${name} ${version} published.\n`);
}

function isPublished(version: string): boolean {
  const args = ['view', version, 'version', '--json', '--prefer-online', '--registry', registry];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: tarballs, encoding: 'utf8' });
  if (status === 0) return stdout.trim() !== '';
  if (stdout.includes('"E404"')) return false;
  throw new Error(`The registry doesn't return the versions of ${version}: ${stderr || stdout}`);
}

/**
 * Replaces the placeholders in a package.json. With `--provenance`, npm compares the repository with the one of the
 * workflow.
 */
function setAddresses(folder: string, page: string): void {
  const addresses = [
    `repository.url=git+${page}.git`,
    `homepage=${page}/tree/main/${folder}#readme`,
    `bugs.url=${page}/issues`,
  ];
  run('npm', ['pkg', 'set', ...addresses], join(root, folder));
}

/** @throws if a file of the packages contains an address that doesn't exist */
function rejectPlaceholders(): void {
  const args = ['grep', '--files-with-matches', '--fixed-strings', 'itsm-api.example', '--', ...publishedFolders];
  const { stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (stdout === '') return;
  const files = stdout.trim().split('\n').join(', ');
  throw new Error(
    `${files}: replace the placeholder itsm-api.example. Add \`--repository URL\` to set your repository.`,
  );
}

function run(program: string, args: string[], cwd = root): void {
  execFileSync(program, args, { cwd, stdio: 'inherit' });
}
