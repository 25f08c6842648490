import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pathOf } from '../../support/programs.ts';

/**
 * Runs the tests in `examples/pytest` and returns their output.
 * @param url the address of a server; by default, the tests start the image `itsm-standalone`
 */
export async function runPytest(url?: string): Promise<string> {
  const folder = join(import.meta.dirname, '../../../examples/pytest');
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...(url !== undefined && { ITSM_URL: url }) };
  const { stdout } = await promisify(execFile)(pathOf(['pytest-3', 'pytest']), ['-p', 'no:cacheprovider', folder], {
    env,
  }).catch((error) => {
    throw new Error(error.stdout || error.message);
  });
  return stdout;
}
