import { readFileSync } from 'node:fs';

/*
 * Prints the failed tests, and the sums of test counts in the format of each suite's last line. Fails if a test failed. Runs on older releases
 * of Node.js, so it isn't TypeScript. Usage: `node sum-counts.mjs <exit status of the run> <counts.json of a suite> …`
 */
const [status, ...files] = process.argv.slice(2);
const sums = { passed: 0, failed: 0, skipped: 0 };
for (const file of files) {
  const counts = readCounts(file);
  for (const name of Object.keys(sums)) sums[name] += counts[name];
  for (const failure of counts.failures) console.log(`Failed: ${failure}`);
}
// A run can fail without a failed test, for example if a suite fails after it has reported.
if (status !== '0' && sums.failed === 0) sums.failed = 1;
process.exitCode = sums.failed === 0 ? 0 : 1;
console.log(`${sums.passed} passed, ${sums.failed} failed, ${sums.skipped} skipped`);

/** Reads the counts of a suite. A suite that did not run, or that crashed before it reported, is one failed test. */
function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failures: [`${file} is missing.`] };
  }
}
