import { execFile, spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isNightly } from '../../support/nightly.ts';
import { pnpm } from '../../support/pnpm.ts';
import { runtimePath } from '../../support/runtimes.ts';
import { skipUnless } from '../../support/skip-unless.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
/** `npm` and the test runners start the Node.js that runs this test. */
const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };

let folder: string;
/** A copy of `examples/integration` with the packed packages. */
let project: string;
/** The section of the guide with the commands, and the warnings of these commands. */
let section: string;
let warnings: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'itsm-integration-'));
  project = join(folder, 'my-integration');
  // If the test runs as root, PostgreSQL runs as another user, which reads its programs in this folder.
  await chmod(folder, 0o755);
  for (const name of ['client', 'testing']) await pnpm(['pack', '--pack-destination', folder], join(root, name));
  await (isNightly ? install() : unpack());
});
afterAll(() => rm(folder, { recursive: true }));

/** Installs the packages in the project, with the commands of the guide. */
async function install(): Promise<void> {
  const guide = await readFile(join(root, 'docs/guides/test-your-integration.md'), 'utf8');
  [section = ''] = /^## Run the example$.*?^## /ms.exec(guide) ?? [];
  const [, steps = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const commands = steps
    .replace('npx -y pnpm@12.21.0 pack:testing', '')
    .replace('npm test', '')
    .replaceAll('../my-integration', project)
    .replaceAll('../itsm-api', folder);
  const settings = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' };
  ({ stderr: warnings } = await execute('bash', ['-euc', commands], { cwd: root, env: { ...env, ...settings } }));
}

/** Unpacks the packages in the project, and links their dependencies. */
async function unpack(): Promise<void> {
  await cp(join(root, 'examples/integration'), project, { recursive: true });
  for (const name of ['client', 'testing']) {
    const target = join(project, 'node_modules/@itsm-api', name);
    await mkdir(target, { recursive: true });
    const [tarball = ''] = (await readdir(folder)).filter((file) => file.startsWith(`itsm-api-${name}-`));
    await execute('tar', ['-xzf', join(folder, tarball), '--strip-components=1', '-C', target]);
    const manifest = JSON.parse(await readFile(join(target, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      const link = join(project, 'node_modules', dependency);
      if (dependency !== '@itsm-api/client') await symlink(join(root, name, 'node_modules', dependency), link);
    }
  }
}

/** Runs a program in a network namespace that has only the loopback interface, if this process may create one. */
function runIsolated(program: string, args: string[]) {
  const inNamespace = (options: string) => [options, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  // Without the option `r`, only root may create a network namespace.
  const isAllowed = (options: string) => spawnSync('unshare', [...inNamespace(options), 'true']).status === 0;
  const options = ['-n', '-rn'].find(isAllowed);
  if (options === undefined) return execute(program, args, { cwd: project, env });
  return execute('unshare', [...inNamespace(options), program, ...args], { cwd: project, env });
}

it('runs the tests of the integration without other connections than to this machine', async () => {
  const { stdout } = await runIsolated('npm', ['test']);
  expect(stdout).toMatch(/^. fail 0$/m);
  expect(stdout).toMatch(/^. pass 7$/m);
});

it('compiles and runs in a CommonJS project with the settings of NestJS', async () => {
  // Dependency injection uses the types of the parameters.
  const program = `
    import { ItsmClient, NotFoundError } from '@itsm-api/client';
    import { unwrap, WebhookError } from '@itsm-api/client/webhooks';
    import { startItsm } from '@itsm-api/testing';

    const Injectable = (): ClassDecorator => () => undefined;

    @Injectable()
    class TicketService {
      constructor(private readonly client: ItsmClient) {}

      async isMissing(id: number): Promise<boolean> {
        return this.client.tickets.get(id).then(() => false, (error: unknown) => error instanceof NotFoundError);
      }
    }

    async function main() {
      const itsm = await startItsm();
      const { url, key } = await itsm.createWorkspace();
      const missing = await new TicketService(new ItsmClient({ baseUrl: url, apiKey: key })).isMissing(1);
      const rejected = await unwrap('{}', {}, 'secret').catch((error: unknown) => error instanceof WebhookError);
      await itsm.stop();
      console.log(JSON.stringify({ missing, rejected, commonJs: typeof module === 'object' }));
    }
    void main();`;
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    strict: true,
    skipLibCheck: false,
    outDir: 'dist',
    types: ['node'],
    typeRoots: [join(root, 'tools/node_modules/@types')],
  };
  const commonJs = join(folder, 'commonjs');
  await mkdir(commonJs);
  await symlink(join(project, 'node_modules'), join(commonJs, 'node_modules'));
  await writeFile(join(commonJs, 'package.json'), '{ "private": true }');
  await writeFile(join(commonJs, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  await writeFile(join(commonJs, 'main.ts'), program);
  const tsc = join(root, 'tools/node_modules/typescript/bin/tsc');
  const { stdout: messages } = await execute(process.execPath, [tsc, '-p', commonJs]).catch((error) => error);
  expect(messages).toBe('');
  const { stdout } = await execute(process.execPath, ['dist/main.js'], { cwd: commonJs, env });
  expect(JSON.parse(stdout)).toEqual({ missing: true, rejected: true, commonJs: true });
});

/* These tests need the packages as npm installs them. */
if (isNightly) {
  it('explains the install scripts about which npm warns', () => {
    const packages = [...warnings.matchAll(/^npm warn install-scripts +(@?[\w-]+)\/?\S*@\d/gm)].map(([, name]) => name);
    for (const name of packages) expect(section).toContain(`\`${name}/`);
    expect(warnings.includes('npm warn install-scripts')).toBe(packages.length > 0);
  });

  it('starts within 3 s from the second time, and stops', async () => {
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

  const node20 = runtimePath('node-20');
  it('names the required version if Node.js 20 runs the tests of the integration', {
    ...skipUnless(node20 !== undefined, 'Node.js 20 does not install on this machine.'),
  }, async () => {
    const PATH = [dirname(node20 as string), process.env.PATH].join(delimiter);
    const failure = await execute('npm', ['test'], { cwd: project, env: { ...env, PATH } }).catch((error) => error);
    expect(failure).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('These tests need Node.js 24 or later, but this is Node.js 20.'),
    });
  });

  it('runs the example for Vitest', async () => {
    const { stdout } = await pnpm(['test'], join(root, 'examples/vitest'));
    expect(stdout).toMatch(/Tests.*2 passed/);
  }, 120_000);
}
