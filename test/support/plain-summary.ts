import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node';

/** The number of seconds after which a test file counts as slow. */
const slowFileSeconds = 10;

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface Report extends Counts {
  /** The names of the failed tests, with their first error. Files that failed as a whole have only their path. */
  failures: string[];
}

/**
 * Prints the duration of the test run and of slow test files, the skipped tests by reason, and the PostgreSQL server.
 * The last line contains only the test counts, without colors, so programs can parse it. `counts.json` in the folder of
 * the tests contains the same counts, and the names of the failed tests. A run that exceeds the budget doesn't fail, because machines can be busy.
 */
export default class PlainSummary implements Reporter {
  readonly #budgetSeconds: number;
  /** The start of the current run. Undefined between two runs of the watch mode. */
  #startedAt: number | undefined;
  #root = '';

  /** @param options.budgetSeconds the maximum duration of all tests on an idle machine with two cores */
  constructor({ budgetSeconds }: { budgetSeconds: number }) {
    this.#budgetSeconds = budgetSeconds;
  }

  onInit({ config }: Vitest): void {
    this.#startedAt = performance.now();
    this.#root = config.root;
    // If this process is killed, the file must not contain the counts of an earlier run.
    rmSync(this.#countsFile, { force: true });
    // If this process exits before it reports, for example because of a signal, the run counts as one failed test.
    process.once('exit', () => {
      if (this.#startedAt !== undefined)
        this.#report({ passed: 0, failed: 1, skipped: 0, failures: ['The run ended before its report.'] });
    });
  }

  onTestRunStart(): void {
    this.#startedAt ??= performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    const seconds = Math.round((performance.now() - (this.#startedAt ?? 0)) / 1000);
    this.#startedAt = undefined;
    const slow = modules
      .map((module) => ({ file: relative(this.#root, module.moduleId), seconds: durationOf(module) }))
      .filter((file) => file.seconds > slowFileSeconds)
      .sort((a, b) => b.seconds - a.seconds);
    if (slow.length > 0) console.log(`Files that took more than ${slowFileSeconds} s:`);
    for (const { file, seconds } of slow) console.log(`${seconds.toFixed(0).padStart(6)} s  ${file}`);
    console.log(`${seconds} s of a budget of ${this.#budgetSeconds} s for all tests.`);
    this.#printSkipped(modules);
    console.log(`Tested on ${modules[0]?.project.getProvidedContext().postgres?.description ?? 'no database'}.`);
    this.#report({ ...countTests(modules, errors, reason), failures: this.#failures(modules) });
  }

  get #countsFile(): string {
    return join(this.#root, 'counts.json');
  }

  #report(report: Report): void {
    writeFileSync(this.#countsFile, `${JSON.stringify(report)}\n`);
    console.log(`${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped`);
  }

  #failures(modules: readonly TestModule[]): string[] {
    return modules.flatMap((module) => {
      const file = relative(this.#root, module.moduleId);
      const tests = [...module.children.allTests('failed')].map(
        (test) => `${file} > ${test.fullName}: ${firstLine(test.result().errors?.[0]?.message ?? '')}`,
      );
      return tests.length > 0 || ['passed', 'skipped'].includes(module.state()) ? tests : [file];
    });
  }

  #printSkipped(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    for (const [reason, tests] of Map.groupBy(skipped, reasonOf)) {
      // Tests without a reason are not listed, because the option `-t` can skip thousands of tests.
      console.log(`Skipped ${tests.length}: ${reason ?? 'no reason, or excluded by an option such as `-t`.'}`);
      if (reason === undefined) continue;
      for (const test of tests) console.log(`  ${relative(this.#root, test.module.moduleId)} > ${test.fullName}`);
    }
  }
}

function countTests(
  modules: readonly TestModule[],
  errors: readonly SerializedError[],
  reason: TestRunEndReason,
): Counts {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  for (const module of modules) {
    const failedBefore = count.failed;
    for (const test of module.children.allTests()) count[test.result().state]++;
    // A file can also fail as a whole, for example in a `beforeAll` hook. If its process is killed, it stays pending.
    if (!['passed', 'skipped'].includes(module.state()) && count.failed === failedBefore) count.failed++;
  }
  // A run can fail without a failed test, for example because PostgreSQL doesn't start, or of an error after a test.
  const { passed, failed, skipped } = count;
  return { passed, failed: failed || errors.length || (reason === 'passed' ? 0 : 1), skipped };
}

/** Returns why a test is skipped, or undefined if the test has no reason. */
function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return (result.state === 'skipped' ? result.note : undefined) ?? test.meta().skipReason;
}

function firstLine(message: string): string {
  return stripVTControlCharacters(message).split('\n', 1).join();
}

function durationOf(module: TestModule): number {
  const { duration, setupDuration, collectDuration } = module.diagnostic();
  return (duration + setupDuration + collectDuration) / 1000;
}
