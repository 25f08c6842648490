import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { LogLevel, MutantResult } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { openTemporary } from '../../server/src/embedded-postgres/temporary.ts';
import { compiled } from '../../test/support/compiled.ts';
import { placesOf, type Subject, subjects } from './subjects.ts';

const usage = `Changes the code in one place at a time with Stryker, and lists the changes that no test detects.

  pnpm mutation [guard.ts ...] [--concurrency ${availableParallelism()}] [--least 85]
      Runs all subjects of evaluation/mutation/subjects.ts, or those with these file names. Fails if the tests detect less
      than --least percent of the mutants of a file.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string', default: String(availableParallelism()) },
    least: { type: 'string', default: '85' },
    help: { type: 'boolean', default: false },
  },
});
const selected = subjects.filter(
  ({ file }) => positionals.length === 0 || positionals.some((end) => file.endsWith(`/${end}`)),
);

if (values.help || selected.length === 0) {
  console.log(usage);
  process.exitCode = values.help ? 0 : 1;
} else {
  // Stryker copies the working directory, so the working directory must be the repository root.
  process.chdir(join(import.meta.dirname, '../..'));
  Object.assign(process.env, compiled);
  process.exitCode = (await testAll(selected)) ? 0 : 1;
}

/**
 * Runs the mutation tests for each of the subjects in turn, and prints the results. Returns true if every score is high
 * enough.
 */
async function testAll(selected: Subject[]): Promise<boolean> {
  // All subjects use one PostgreSQL server. Each test process creates its own databases on the server.
  const postgres = process.env.TEST_DATABASE_URL ? undefined : await openTemporary();
  if (postgres !== undefined) process.env.TEST_DATABASE_URL = postgres.url;
  try {
    let isGood = true;
    for (const subject of selected) {
      const began = performance.now();
      const mutants = await runMutants(subject);
      const score = computeScore(mutants);
      isGood &&= score >= Number(values.least);
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`${subject.file}: ${score.toFixed(1)} % of ${mutants.length} mutants, in ${seconds} s`);
      for (const mutant of mutants.filter(isUndetected)) console.log(describe(mutant));
    }
    return isGood;
  } finally {
    await postgres?.stop();
  }
}

async function runMutants(subject: Subject): Promise<MutantResult[]> {
  process.env.MUTATION_TESTS = subject.tests.join(',');
  const stryker = new Stryker({
    mutate: await placesOf(subject),
    plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
    testRunner: 'vitest',
    vitest: { configFile: 'evaluation/mutation/vitest.config.ts', related: false, pool: 'forks' },
    concurrency: Number(values.concurrency),
    // The timeout stops mutants that hang, but allows for slow tests on a busy machine.
    dryRunTimeoutMinutes: 20,
    timeoutMS: 30_000,
    disableTypeChecks: false,
    // Stryker would rewrite tsconfig.json, but TypeScript 7 lacks the function that it calls.
    tsconfigFile: 'none',
    reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only'],
    logLevel: 'warn' as LogLevel,
  });
  const mutants = await stryker.runMutationTest();
  // Excludes mutants with other statuses, because they don't compile or can't be loaded.
  return mutants.filter((mutant) => isUndetected(mutant) || mutant.status === 'Killed' || mutant.status === 'Timeout');
}

function isUndetected({ status }: MutantResult): boolean {
  return status === 'Survived' || status === 'NoCoverage';
}

/** Returns the percentage of detected mutants. */
function computeScore(mutants: MutantResult[]): number {
  return 100 * (1 - mutants.filter(isUndetected).length / mutants.length);
}

function describe({ fileName, location, mutatorName, replacement, status }: MutantResult): string {
  const { line, column } = location.start;
  const what = status === 'NoCoverage' ? 'not run by any test' : 'not detected';
  return `  ${relative('.', fileName)}:${line}:${column} ${mutatorName}, ${what}: ${replacement}`;
}
