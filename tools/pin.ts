import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';

/*
 * Pins the actions of workflows to commits, and the images of other projects to digests: `pnpm pin`. Git reads the
 * commits from GitHub, and Docker reads the digests from the registries. A pin names its tag, so the next run updates it.
 */

/** Replaces each match of a pattern in the files. */
function replaceAll(files: string[], pattern: RegExp, replace: (...groups: string[]) => string): void {
  for (const file of files) {
    const before = readFileSync(file, 'utf8');
    const after = before.replace(pattern, (_, ...groups: string[]) => replace(...groups));
    if (after !== before) writeFileSync(file, after);
  }
}

/** Returns the commit of a tag. An annotated tag has two lines, and the second line names its commit. */
function findCommit(repository: string, tag: string): string {
  const refs = [`refs/tags/${tag}`, `refs/tags/${tag}^{}`];
  const lines = run('git', ['ls-remote', `https://github.com/${repository}`, ...refs]).split('\n');
  return verify(lines.at(-1)?.split('\t')[0], /^[0-9a-f]{40}$/, `${repository} has no tag ${tag}.`);
}

function findDigest(image: string): string {
  const format = ['--format', '{{.Manifest.Digest}}'];
  const digest = run('docker', ['buildx', 'imagetools', 'inspect', image, ...format]);
  return verify(digest, /^sha256:[0-9a-f]{64}$/, `Docker returned no digest of ${image}.`);
}

function run(program: string, args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8' }).trim();
}

function verify(id: string | undefined, pattern: RegExp, message: string): string {
  if (id === undefined || !pattern.test(id)) throw new Error(message);
  return id;
}

replaceAll(
  globSync('.github/workflows/*.yml'),
  /(?<=\buses: )([\w.-]+\/[\w.-]+)@(?:[0-9a-f]{40} # )?(\S+)/g,
  (repository = '', tag = '') => `${repository}@${findCommit(repository, tag)} # ${tag}`,
);
replaceAll(
  ['Dockerfile', 'compose.yaml', 'examples/alerts/compose.yaml'],
  /(?<=_IMAGE(?:=|:-))([\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?/g,
  (image = '') => `${image}@${findDigest(image)}`,
);
