import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processCommandLine, spawnCommand } from '../../../support/command-process.ts';
import { rawClient } from '../../../support/raw-client.ts';
import type { Cell, System, Tenant } from './system.ts';

/* The commands of a move. The test kills some of them, and runs them again. */

/** The commands of a move, in order. The commands of `tenants maintenance` have the name of their state. */
export const commands = ['read-only', 'export', 'import', 'on', 'delete'] as const;
export type Command = (typeof commands)[number];

export interface Moving {
  /** True if the test changes the start of maintenance, so that the commands wait for 3 instead of 31 seconds. */
  isWaitShortened: boolean;
  number: number;
  /** The commands to kill. */
  killed: readonly Command[];
}

/** Runs the commands of a move as docs/scaling.md describes, and changes the map of HAProxy. */
export async function runCommands(
  system: System,
  tenant: Tenant,
  { number, killed, isWaitShortened }: Moving,
): Promise<void> {
  const { cells, folder, haproxy } = system;
  const { name } = tenant;
  const source = tenant.cell;
  const target = cells[source === cells[0] ? 1 : 0];
  const moved = join(folder, `move-${number}`);
  const step = async (command: Command, cell: Cell, words: string, recover?: () => Promise<void>) => {
    if (killed.includes(command)) {
      await killCommand(cell, words, isDue[command](moved));
      await recover?.();
    }
    await succeed(cell, words);
  };
  const shortenWait = async (column: 'maintenance_since' | 'unavailable_since') => {
    const text = `UPDATE tenants SET ${column} = ${column} - interval '28 seconds' WHERE id = $1`;
    if (isWaitShortened) await rawClient(source.runtime.prisma).$executeRawUnsafe(text, tenant.tenantId);
  };

  tenant.announced.add('writes');
  await step('read-only', source, `tenants maintenance ${name} read-only`);
  await shortenWait('maintenance_since');
  await step('export', source, `tenants export ${name} ${moved}`, async () => {
    if (existsSync(moved)) throw new Error('The export was killed, but its folder looks complete.');
    for (const partial of partialsOf(moved)) await rm(partial, { recursive: true });
  });
  await step('import', target, `tenants import ${moved}`, () => succeed(target, `tenants delete ${name} --yes`));
  tenant.announced.add('reads');
  await step('on', source, `tenants maintenance ${name} on`);
  await haproxy.route(tenant.host, target.name);
  await shortenWait('unavailable_since');
  await step('delete', source, `tenants delete ${name} --moved ${moved} --yes`);
  tenant.cell = target;
  tenant.announced.clear();
  await rm(moved, { recursive: true });
}

async function succeed({ env }: Cell, words: string): Promise<void> {
  const { code, stderr } = await processCommandLine(env.DATABASE_URL as string, env)(words);
  if (code !== 0) throw new Error(`itsm ${words} failed: ${stderr}`);
}

/**
 * For each command, returns a function that returns true when the test kills the command. An export, an import and a
 * deletion are then incomplete. A maintenance command is killed at a random time, before or after its commit.
 */
const isDue: Record<Command, (moved: string) => (output: string, ms: number) => boolean> = {
  'read-only': atRandomTime,
  export: (moved) => () => partialsOf(moved).some((partial) => readdirSync(partial).length > 10),
  import: () => afterLines(/: \d+ rows/g),
  on: atRandomTime,
  delete: () => afterLines(/: deleted /g),
};

/** The approximate duration of a maintenance command, in milliseconds. */
const maintenanceMs = 600;

function atRandomTime() {
  const limit = Math.random() * maintenanceMs;
  return (_: string, ms: number) => ms > limit;
}

/** Every tenant has rows in more than four tables. */
function afterLines(pattern: RegExp) {
  const count = 1 + Math.floor(4 * Math.random());
  return (output: string) => (output.match(pattern)?.length ?? 0) >= count;
}

/** Returns the folders of incomplete exports. */
function partialsOf(moved: string): string[] {
  const folder = dirname(moved);
  const isPartial = (name: string) => name.startsWith(`${basename(moved)}.`);
  return readdirSync(folder)
    .filter(isPartial)
    .map((name) => join(folder, name));
}

/** Runs a command and kills it when it is due. Runs it again if it ends before, which repeated maintenance allows. */
async function killCommand({ env }: Cell, words: string, isDue: (output: string, ms: number) => boolean) {
  for (;;) {
    const since = performance.now();
    const child = spawnCommand(words.split(' '), env.DATABASE_URL as string, env);
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const exited = once(child, 'exit');
    while (child.exitCode === null && !isDue(output, performance.now() - since)) await sleep(2);
    child.kill('SIGKILL');
    await exited;
    if (child.signalCode === 'SIGKILL') return;
    if (child.exitCode !== 0) throw new Error(`itsm ${words} failed: ${output}`);
  }
}
