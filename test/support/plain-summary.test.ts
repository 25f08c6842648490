import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const testFolder = dirname(import.meta.dirname);
/** The counts of a run that doesn't report. */
const crashed = { passed: 0, failed: 1, skipped: 0, failures: expect.any(Array) };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'itsm-summary-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs a suite with the given test files, and returns the last lines of its output and its `counts.json`. */
function runSuite(files: Record<string, string>, settings: object = {}) {
  const test = {
    globals: true,
    reporters: [[join(import.meta.dirname, 'plain-summary.ts'), { budgetSeconds: 1 }]],
    ...settings,
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'vitest.config.js'), `export default ${JSON.stringify({ test })}`);
  // A crash must replace the counts of an earlier run.
  writeFileSync(join(folder, 'counts.json'), '{"passed":1,"failed":0,"skipped":0}');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { CI: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, [join(testFolder, 'run.ts')], {
    cwd: folder,
    env: { ...env, INIT_CWD: folder },
    encoding: 'utf8',
  });
  const counts =
    existsSync(join(folder, 'counts.json')) && JSON.parse(readFileSync(join(folder, 'counts.json'), 'utf8'));
  return { status, lines: stdout.trimEnd().split('\n'), counts };
}

describe('the summary of a test run', () => {
  it('ends with a line of the test counts, after the skipped tests by reason', () => {
    const { status, lines, counts } = runSuite({
      'a.test.js': `
        it('passes', () => {});
        it('fails', () => expect(1).toBe(2));
        it('is skipped during the test', (context) => context.skip('the disk is full.'));
        describe('with Redis', { skip: true, meta: { skipReason: 'Redis is missing.' } }, () => {
          it('counts', () => {});
          it('expires', () => {});
        });
        it.skip('is skipped', () => {});`,
      'b.test.js': 'beforeAll(() => Promise.reject(new Error())); it("never runs", () => {});',
      'c.test.js': 'throw new Error();',
    });
    expect(status).toBe(1);
    expect(lines.slice(lines.findIndex((line) => line.startsWith('Skipped')))).toEqual([
      'Skipped 1: the disk is full.',
      '  a.test.js > is skipped during the test',
      'Skipped 2: Redis is missing.',
      '  a.test.js > with Redis > counts',
      '  a.test.js > with Redis > expires',
      'Skipped 2: no reason, or excluded by an option such as `-t`.',
      'Tested on no database.',
      '1 passed, 3 failed, 5 skipped',
    ]);
    const failures = ['a.test.js > fails: expected 1 to be 2 // Object.is equality', 'b.test.js', 'c.test.js'];
    expect(counts).toEqual({ passed: 1, failed: 3, skipped: 5, failures });
  });

  const passing = 'it("passes", () => {});';
  it.for([
    {
      name: 'kills its process',
      text: `${passing} it("kills", () => process.kill(process.pid, "SIGKILL"));`,
      passed: 0,
    },
    {
      name: 'throws outside of its tests',
      text: `${passing} setTimeout(() => { throw new Error(); }); await new Promise((done) => setTimeout(done, 100));`,
      passed: 1,
    },
    {
      name: 'stops the test run',
      text: 'it("stops", () => { process.kill(process.ppid, "SIGTERM"); return new Promise(() => {}); });',
      passed: 0,
    },
  ])('counts a failed test if a test file $name', ({ text, passed }) => {
    const { status, lines, counts } = runSuite({ 'a.test.js': text });
    expect(status).not.toBe(0);
    expect(lines.at(-1)).toBe(`${passed} passed, 1 failed, 0 skipped`);
    expect(counts).toEqual({ ...crashed, passed });
  });

  it('counts a failed test if the global setup fails', () => {
    const files = { 'a.test.js': passing, 'setup.js': 'export default () => { throw new Error("no database"); };' };
    const { status, lines, counts } = runSuite(files, { globalSetup: ['./setup.js'] });
    expect(status).toBe(1);
    expect(lines).toContain('0 passed, 1 failed, 0 skipped');
    expect(counts).toEqual(crashed);
  });

  it('removes the counts of an earlier run if the process is killed', () => {
    const { counts } = runSuite({ 'a.test.js': 'it("kills", () => process.kill(process.ppid, "SIGKILL"));' });
    expect(counts).toBe(false);
  });
});

/** Runs `.ci/run` with a program `npx` whose commands are replaced by the given shell commands. */
function runAll(replaced: { check?: string; test?: string; system?: string }) {
  mkdirSync(join(folder, '.ci'));
  mkdirSync(join(folder, 'test/system'), { recursive: true });
  for (const name of ['run', 'sum-counts.mjs']) {
    copyFileSync(join(testFolder, '../.ci', name), join(folder, '.ci', name));
  }
  writeFileSync(join(folder, '.ci/install-programs'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(folder, 'test/counts.json'), '{"passed":9,"failed":0,"skipped":0}');
  const { check = '', test = reports('test', 5, 0), system = reports('test/system', 3, 0) } = replaced;
  const script = `#!/bin/bash\ncase "$3" in\ncheck) ${check};;\ntest) ${test};;\ntest:system) ${system};;\nesac\n`;
  writeFileSync(join(folder, 'npx'), script, { mode: 0o755 });
  const env = { PATH: [folder, dirname(process.execPath), process.env.PATH].join(delimiter) };
  const { status, stdout } = spawnSync(join(folder, '.ci/run'), { cwd: folder, env, encoding: 'utf8' });
  const lines = stdout.trimEnd().split('\n');
  return { isSuccess: status === 0, failures: lines.filter((line) => line.startsWith('Failed: ')), last: lines.at(-1) };
}

/** Returns a shell command that writes the counts of a suite. Each suite skips one test. */
function reports(suite: string, passed: number, failed: number): string {
  const counts = JSON.stringify({ passed, failed, skipped: 1, failures: Array(failed).fill('a.test.ts > fails') });
  return `echo '${counts}' >${suite}/counts.json; exit ${Math.min(failed, 1)}`;
}

describe('.ci/run', () => {
  it.for([
    { name: 'passes', replaced: {}, isSuccess: true, last: '8 passed, 0 failed, 2 skipped' },
    {
      name: 'has failed tests in a suite',
      replaced: { test: reports('test', 4, 2) },
      last: '7 passed, 2 failed, 2 skipped',
    },
    { name: 'has a suite that is killed', replaced: { test: 'kill -9 $$' }, last: '3 passed, 1 failed, 1 skipped' },
    { name: 'has a suite that reports nothing', replaced: { system: 'true' }, last: '5 passed, 1 failed, 1 skipped' },
    { name: 'fails the check', replaced: { check: 'exit 1' }, last: '0 passed, 2 failed, 0 skipped' },
    {
      name: 'has a suite that fails after it has reported',
      replaced: { system: reports('test/system', 3, 0).replace('exit 0', 'exit 1') },
      last: '8 passed, 1 failed, 2 skipped',
    },
  ])('ends with the sums of both suites if it $name', ({ replaced, isSuccess = false, last }) => {
    expect(runAll(replaced)).toMatchObject({ isSuccess, last });
  });

  it('lists the failed tests of both suites', () => {
    const { failures } = runAll({ test: reports('test', 4, 2), system: reports('test/system', 3, 1) });
    expect(failures).toEqual(Array(3).fill('Failed: a.test.ts > fails'));
  });
});
