import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { skipUnlessInstalled } from '../support/programs.ts';

const root = join(import.meta.dirname, '../..');

it(
  'has hardened systemd units that systemd accepts without a warning',
  skipUnlessInstalled(['systemd-analyze']),
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'itsm-units-'));
    try {
      const names = await readdir(join(root, 'deploy/systemd'));
      for (const name of names) {
        const unit = await readFile(join(root, 'deploy/systemd', name), 'utf8');
        // systemd checks that the programs exist.
        await writeFile(join(folder, name.replace('@.', '@3001.')), unit.replaceAll('/opt/itsm', root));
      }
      const units = names.map((name) => join(folder, name.replace('@.', '@3001.')));
      const analyze = (...args: string[]) => promisify(execFile)('systemd-analyze', args);
      expect((await analyze('verify', '--man=no', ...units)).stderr).toBe('');
      // Fails if the exposure of a unit is more than 2.0 of 10.
      for (const unit of units) await analyze('security', '--offline=yes', '--no-pager', '--threshold=20', unit);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
