import { styleText } from 'node:util';
import * as z from 'zod';
import type { Settings } from '../../../config/env.ts';
import { findDatabase, openForDiagnosis } from '../../../process/runtime.ts';
import { printable } from '../../lib/cli-errors.ts';
import { checks, type Finding, type Installation, wrong } from '../../lib/doctor-checks.ts';
import { assertDatabaseExists, createAction } from '../../lib/run-command.ts';

interface Report {
  /** True if no finding requires an action. */
  ok: boolean;
  findings: ({ check: string } & Finding)[];
}

/** Runs the checks of `itsm doctor`. The checks don't change the database. */
export const run = createAction({
  open: openInstallation,
  input: z.strictObject({}),
  work: (installation) => runChecks(installation),
  format: ({ findings }) => findings.flatMap(formatFinding).join('\n'),
  failed: ({ ok }) => !ok,
});

/**
 * Opens the database without checking its schema. Other commands stop if the schema is outdated, but this command
 * reports the outdated schema as a finding.
 */
async function openInstallation(settings: Settings): Promise<Installation & { close(): Promise<void> }> {
  await assertDatabaseExists(settings);
  const { url, stop } = await findDatabase(settings, { type: 'command' });
  const databases = openForDiagnosis(url, settings);
  return {
    settings,
    databases,
    async close() {
      await databases.close();
      await stop();
    },
  };
}

/**
 * Runs the checks in sequence, until an essential check finds a problem. If a check throws an error, the report lists
 * the error as a finding.
 */
async function runChecks(installation: Installation): Promise<Report> {
  const findings: Report['findings'] = [];
  for (const { name, essential, check } of checks) {
    const result = await check(installation).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      return wrong(`The check failed: ${reason}`, 'Correct the cause and run `itsm doctor` again.');
    });
    const found = [result].flat();
    findings.push(...found.map((finding) => ({ check: name, ...finding })));
    if (essential && found.some(({ level }) => level === 'wrong')) break;
  }
  return { ok: findings.every(({ level }) => level !== 'wrong'), findings };
}

const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;

function formatFinding({ level, check, message, advice }: Report['findings'][number]): string[] {
  const lines = [`${styleText(colours[level], level.padEnd(7))}${check}: ${printable(message)}`];
  return advice === undefined ? lines : [...lines, `${' '.repeat(7)}→ ${printable(advice)}`];
}
