import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** The number of seconds after which a test file counts as slow. */
const slowFileSeconds = 10;

/**
 * Prints the duration of the test run and of slow test files. The last line contains the test counts and the PostgreSQL
 * server. The line has no colors, so programs can parse it. A run that exceeds the budget doesn't fail, because machines
 * can be busy.
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
  }

  onTestRunStart(): void {
    this.#startedAt ??= performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      const failedBefore = count.failed;
      for (const test of module.children.allTests()) count[test.result().state]++;
      // A file can also fail as a whole, for example in a `beforeAll` hook.
      if (module.state() === 'failed' && count.failed === failedBefore) count.failed++;
    }
    const seconds = Math.round((performance.now() - (this.#startedAt ?? 0)) / 1000);
    this.#startedAt = undefined;
    const slow = modules
      .map((module) => ({ file: relative(this.#root, module.moduleId), seconds: durationOf(module) }))
      .filter((file) => file.seconds > slowFileSeconds)
      .sort((a, b) => b.seconds - a.seconds);
    if (slow.length > 0) console.log(`Files that took more than ${slowFileSeconds} s:`);
    for (const { file, seconds } of slow) console.log(`${seconds.toFixed(0).padStart(6)} s  ${file}`);
    console.log(`${seconds} s of a budget of ${this.#budgetSeconds} s for all tests.`);
    const server = modules[0]?.project.getProvidedContext().postgres?.description ?? 'no database';
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped on ${server}`);
  }
}

function durationOf(module: TestModule): number {
  const { duration, setupDuration, collectDuration } = module.diagnostic();
  return (duration + setupDuration + collectDuration) / 1000;
}
