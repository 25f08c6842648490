import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pnpm } from '../../support/pnpm.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
/** `npm` and the test runners start the Node.js that runs this test. */
const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };

let folder: string;
/** A copy of `examples/integration` with the packed packages, as the README describes it. */
let project: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'itsm-integration-'));
  project = join(folder, 'my-integration');
  // If the test runs as root, PostgreSQL runs as another user, which reads its programs in this folder.
  await chmod(folder, 0o755);
  for (const name of ['client', 'testing']) await pnpm(['pack', '--pack-destination', folder], join(root, name));
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const [, steps = ''] = /^## Test your integration$.*?```sh\n(.*?)```/ms.exec(readme) ?? [];
  const commands = steps
    .replace('npx -y pnpm@12 pack:testing', '')
    .replace('npm test', '')
    .replaceAll('../my-integration', project)
    .replaceAll('../itsm-api', folder);
  const settings = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' };
  await execute('bash', ['-euc', commands], { cwd: root, env: { ...env, ...settings } });
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

/** Runs a program in a network namespace that has only the loopback interface, if this process may create one. */
function runIsolated(program: string, args: string[]) {
  const inNamespace = (options: string) => [options, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  // Without the option `r`, only root may create a network namespace.
  const isAllowed = (options: string) => spawnSync('unshare', [...inNamespace(options), 'true']).status === 0;
  const options = ['-n', '-rn'].find(isAllowed);
  if (options === undefined) return execute(program, args, { cwd: project, env });
  return execute('unshare', [...inNamespace(options), program, ...args], { cwd: project, env });
}

it('starts within 3 s from the second time, and stops', { timeout: 120_000 }, async () => {
  const program = `
    import { startItsm } from '@itsm-api/testing';
    for (let count = 0; count < 3; count++) {
      const startedAt = performance.now();
      const itsm = await startItsm();
      console.log(performance.now() - startedAt);
      await itsm.stop();
    }`;
  const { stdout } = await runIsolated(process.execPath, ['--input-type=module', '--eval', program]);
  const [, ...later] = stdout.trim().split('\n').map(Number);
  // Allows more time if other programs use the processors at the same time.
  const slowdown = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
  expect(Math.min(...later) / slowdown).toBeLessThan(3000);
});

it('runs the tests of the integration without other connections than to this machine', async () => {
  const { stdout } = await runIsolated('npm', ['test']);
  expect(stdout).toMatch(/^. fail 0$/m);
  expect(stdout).toMatch(/^. pass 7$/m);
}, 120_000);

it('runs the example for Vitest', async () => {
  const { stdout } = await pnpm(['test'], join(root, 'examples/vitest'));
  expect(stdout).toMatch(/Tests.*2 passed/);
}, 120_000);
