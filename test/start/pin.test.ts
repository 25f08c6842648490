import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const files = ['.github/workflows/release.yml', 'Dockerfile', 'compose.yaml', 'examples/alerts/compose.yaml'];

it('pins actions to commits and images to digests, and updates them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'itsm-pin-'));
  /** Runs `pnpm pin` with programs that return the given ids instead of Git and Docker. */
  const pin = async (commit: string, digest: string) => {
    const programs = {
      git: `printf '%s\\trefs/tags/tag\\n%s\\trefs/tags/tag^{}\\n' ${'0'.repeat(40)} ${commit}`,
      docker: `echo ${digest}`,
    };
    for (const [name, line] of Object.entries(programs)) {
      await writeFile(join(folder, name), `#!/bin/sh\n${line}\n`);
      await chmod(join(folder, name), 0o755);
    }
    const env = { PATH: `${folder}:${process.env.PATH}` };
    await promisify(execFile)(process.execPath, [join(root, 'tools/pin.ts')], { cwd: folder, env });
    return Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  };
  try {
    for (const name of files) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await copyFile(join(root, name), join(folder, name));
    }
    for (const digit of ['1', '2']) {
      const [commit, digest] = [digit.repeat(40), `sha256:${digit.repeat(64)}`];
      const [workflow = '', ...others] = await pin(commit, digest);
      const used = [...workflow.matchAll(/uses: (.*)/g)].map(([, action]) => action);
      expect(used).toContain(`actions/checkout@${commit} # v5`);
      for (const action of used) expect(action).toMatch(new RegExp(`^[\\w/-]+@${commit} # v\\d+$`));
      const images = others.flatMap((text) => [...text.matchAll(/_IMAGE(?:=|:-)([^}\s]+)/g)].map(([, image]) => image));
      expect(images).toContain(`node:24-bookworm-slim@${digest}`);
      const own = ['itsm-api', 'itsm-alerts'];
      for (const image of images.filter((each = '') => !own.includes(each))) expect(image).toMatch(`@${digest}`);
    }
    await expect(pin('none', 'sha256:')).rejects.toThrow('has no tag');
  } finally {
    await rm(folder, { recursive: true });
  }
});
