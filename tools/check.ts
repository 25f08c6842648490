import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/*
 * Runs all code checks in parallel: `node tools/check.ts`. To run only one of them, name it: `node tools/check.ts types`.
 * Prints the output of each failed check, and how to fix the problem. Skips a check if its `inputs` have not changed
 * since its last success. With the environment variable CI, runs each check.
 */

interface Check {
  name: string;
  command: [program: string, ...args: string[]];
  /** What to do if the check fails. */
  fix: string;
  /** The files and folders that affect the result of the check. If `inputs` is absent, the check always runs. */
  inputs?: string[];
}

/** The packages that compile alone. The last project has everything else, so the server is checked once. */
const projects = ['contract', 'client', 'testing', 'alerts', 'examples', 'examples/vitest', '.'];

const checks: Check[] = [
  {
    name: 'types',
    // Each checker resolves the types of the contract again. Four, the default, take twice the CPU time of one.
    command: ['tsc', '-b', '--checkers', '1', ...projects],
    fix: 'Correct the types. If the client is outdated, first run `npx -y pnpm@12.21.0 generate`.',
  },
  {
    name: 'generated files',
    command: ['node', 'tools/generate.ts', '--check'],
    fix: 'Run `npx -y pnpm@12.21.0 generate`, and commit the files that it writes.',
    inputs: ['.env.example', 'client', 'contract', 'docs', 'prisma', 'server/generated', 'server/src', 'tools'],
  },
  {
    name: 'unused code',
    command: ['knip', '--config', 'tools/knip.json'],
    fix: 'Delete what nothing uses, or remove its `export`.',
    inputs: ['.'],
  },
  {
    name: 'style',
    command: ['biome', 'check'],
    fix: 'Run `npx -y pnpm@12.21.0 fix`, then correct what remains.',
    inputs: ['.'],
  },
  {
    name: 'prose',
    command: ['node', 'tools/check-prose.ts'],
    fix: 'Use the suggested term (docs/STYLE.md).',
  },
  {
    name: 'migrations',
    command: ['node', 'tools/check-migrations.ts'],
    fix: 'Change the migration as described above, or state in it why the statement is safe (CONTRIBUTING.md).',
    inputs: ['prisma/migrations', 'tools'],
  },
  {
    name: 'licenses',
    command: ['node', 'tools/sbom.ts'],
    fix: 'Use another package, or ask the owner of the product to accept the license.',
    inputs: ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'tools'],
  },
  {
    name: 'imports',
    command: ['node', 'tools/check-imports.ts'],
    fix: 'Move the code to a folder that may import it (ARCHITECTURE.md).',
  },
];

const root = dirname(import.meta.dirname);
const successesFile = join(import.meta.dirname, 'node_modules/.cache/check-successes.json');
const successes: Record<string, string> = existsSync(successesFile)
  ? JSON.parse(await readFile(successesFile, 'utf8'))
  : {};

/** Runs checks until the queue is empty. Several concurrent calls share the queue. */
async function runChecks(queue: Check[]): Promise<void> {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
    const { name, inputs } = check;
    const hash = inputs && (await hashFiles(inputs));
    if (hash !== undefined && successes[name] === hash && !process.env.CI) {
      process.stdout.write(`✓ ${name} (unchanged)\n`);
      continue;
    }
    const startedAt = performance.now();
    const { succeeded, output } = await run(check);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    if (succeeded) {
      process.stdout.write(`✓ ${name} (${seconds} s)\n`);
      if (hash !== undefined) successes[name] = hash;
    } else {
      process.stderr.write(`✗ ${name} (${seconds} s)\n${withoutRepetitions(output)}\n  → ${check.fix}\n`);
      process.exitCode = 1;
    }
  }
}

/** Removes repeated messages. Each TypeScript project that imports a file reports the errors in it. */
function withoutRepetitions(output: string): string {
  return [...new Set(output.trimEnd().split(/\n(?=\S)/))].join('\n');
}

function run({ command: [program, ...args] }: Check): Promise<{ succeeded: boolean; output: string }> {
  const PATH = [join(import.meta.dirname, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const file = program === 'node' ? process.execPath : program;
  const options = { cwd: root, env: { ...process.env, PATH }, maxBuffer: 2 ** 26 };
  return new Promise((resolve) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      resolve({ succeeded: error === null, output: stdout + stderr });
    });
  });
}

/** Returns a hash of all tracked and new files in `paths`. */
async function hashFiles(paths: string[]): Promise<string> {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths], {
    cwd: root,
    encoding: 'utf8',
  });
  const hash = createHash('sha256');
  for (const name of list.split('\n').filter((name) => existsSync(join(root, name)))) {
    hash.update(name).update(await readFile(join(root, name)).catch(() => ''));
  }
  return hash.digest('hex');
}

const [only] = process.argv.slice(2);
const queue = checks.filter(({ name }) => only === undefined || name === only);
if (queue.length === 0)
  throw new Error(`There is no check "${only}". Use one of: ${checks.map((c) => c.name).join(', ')}`);
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, () => runChecks(queue)));
await mkdir(dirname(successesFile), { recursive: true });
await writeFile(successesFile, JSON.stringify(successes));
