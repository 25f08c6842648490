import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/* The long programs run outside of Vitest, so they must not import a fixture. */
it.each(['test/system/faults/main.ts', 'test/system/model/main.ts', 'evaluation/mutation/main.ts', 'test/nightly.ts'])(
  'starts %s outside of Vitest',
  async (file) => {
    const program = join(import.meta.dirname, '../..', file);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, '--help'], {
      env: { PATH: process.env.PATH },
    });
    expect(stdout + stderr).toMatch(/pnpm \w+/);
  },
);
