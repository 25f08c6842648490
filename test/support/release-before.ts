import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pnpm } from './pnpm.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The release before, in a folder of its own. */
export interface ReleaseBefore {
  /** What starts its server. */
  main: string;
  /** Its endpoints, as in `GET /tickets/{id}`, by its own document. */
  endpoints: string[];
  remove(): Promise<void>;
}

/**
 * Takes the release that `contract/released/commit` names out of the history, and installs what it needs.
 * @throws where the history doesn't hold it
 */
export async function openReleaseBefore(): Promise<ReleaseBefore> {
  const commit = (await readFile(join(root, 'contract/released/commit'), 'utf8')).trim();
  const folder = await mkdtemp(join(tmpdir(), 'itsm-release-'));
  const archive = join(folder, 'release.tar');
  try {
    await execute('git', ['archive', '--output', archive, commit], { cwd: root }).catch((cause) => {
      const how = 'A shallow clone gets the others by `git fetch --unshallow`.';
      throw new Error(`The release before, ${commit} of contract/released/commit, isn't in this clone. ${how}`, {
        cause,
      });
    });
    await execute('tar', ['-x', '-f', archive, '-C', folder]);
    const needed = ['--filter', '.', '--filter', '@itsm-api/server...'];
    await pnpm([...needed, 'install', '--frozen-lockfile', '--prefer-offline'], folder);
    const document = JSON.parse(await readFile(join(folder, 'contract/openapi.json'), 'utf8'));
    return {
      main: join(folder, 'server/src/main.ts'),
      endpoints: endpointsOf(document),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function endpointsOf({ paths }: { paths: Record<string, object> }): string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}
