import { readFile } from 'node:fs/promises';
import { contract } from '@itsm-api/contract/ts-rest';
import { expect, it } from 'vitest';
import { exceptions } from '../../evaluation/external-checks/exceptions.ts';

/* The tools don't run here, because they are no packages of the workspace: `pnpm external-checks` runs them. */

/** Lower these numbers if a tool finds less. If a tool finds more, correct the product. */
const maxRules = 68;
const maxFindingsPerOperation = 36.6;

it('has no more exceptions from the rules of tools than before', () => {
  expect(exceptions.length).toBeLessThanOrEqual(maxRules);
  const operations = Object.values(contract).flatMap((routes) => Object.keys(routes));
  const findings = exceptions.reduce((sum, { count }) => sum + count, 0);
  expect(findings / operations.length).toBeLessThanOrEqual(maxFindingsPerOperation);
});

it('gives each rule one exception', () => {
  const rules = exceptions.map(({ tool, rule }) => `${tool}: ${rule}`);
  expect(new Set(rules).size).toBe(rules.length);
});

it('lists each exception in docs/external-checks.md', async () => {
  const report = await readFile(new URL('../../docs/external-checks.md', import.meta.url), 'utf8');
  const rows = report.split('\n');
  const missing = exceptions.filter(
    ({ tool, rule, count, reason }) =>
      !rows.some(
        (row) =>
          row.startsWith(`| ${tool} |`) && row.includes(`\`${rule}\` (${count})`) && row.endsWith(`| ${reason} |`),
      ),
  );
  expect(missing, 'Run `pnpm external-checks`.').toEqual([]);
});
