import { styleText } from 'node:util';
import * as z from 'zod';
import type { Settings } from '../../config/env.ts';
import { openDatabases } from '../../database/client/databases.ts';
import { findDatabase, timeoutsOf } from '../../process/runtime.ts';
import { printable } from '../lib/cli-errors.ts';
import { checks, type Finding, type Installation } from '../lib/doctor-checks.ts';
import { assertDatabaseExists, createAction } from '../lib/run-command.ts';

interface Report {
  /** Whether nothing is wrong. */
  ok: boolean;
  findings: ({ check: string } & Finding)[];
}

/** Looks for what should never be: it reads everything, and changes nothing. */
export const run = createAction({
  open: openInstallation,
  input: z.strictObject({}),
  work: (installation) => examine(installation),
  format: ({ findings }) => findings.flatMap(linesOf).join('\n'),
  failed: ({ ok }) => !ok,
});

/** The database as it is: unlike other commands, this one looks for what they refuse. */
async function openInstallation(settings: Settings): Promise<Installation & { close(): Promise<void> }> {
  await assertDatabaseExists(settings);
  const { url, stop } = await findDatabase(settings, { type: 'command' });
  const databases = openDatabases({
    url,
    requestConnections: 1,
    timeouts: timeoutsOf(settings),
    worker: false,
    onConnectionError: () => undefined,
  });
  return {
    settings,
    databases,
    async close() {
      await databases.close();
      await stop();
    },
  };
}

/** Makes all checks, one after the other; one that fails by itself is a finding, too. */
async function examine(installation: Installation): Promise<Report> {
  const findings: Report['findings'] = [];
  for (const { name, essential, look } of checks) {
    const found = await look(installation).catch((error: unknown): Finding[] => {
      const reason = error instanceof Error ? error.message : String(error);
      return [{ level: 'wrong', says: `It could not be looked at: ${reason}`, advice: 'See why, and look again.' }];
    });
    findings.push(...found.map((finding) => ({ check: name, ...finding })));
    if (essential && found.some(({ level }) => level === 'wrong')) break;
  }
  return { ok: findings.every(({ level }) => level !== 'wrong'), findings };
}

const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;

function linesOf({ level, check, says, advice }: Report['findings'][number]): string[] {
  const lines = [`${styleText(colours[level], level.padEnd(7))}${check}: ${printable(says)}`];
  return advice === undefined ? lines : [...lines, `${' '.repeat(7)}→ ${printable(advice)}`];
}
