import type { Command } from 'commander';
import * as z from 'zod';
import { seed } from '../../../prisma/seed.ts';
import { CommandError } from './errors.ts';
import { examples } from './help.ts';
import { action } from './run.ts';

/** The demo workspace of a first start, for a database of one's own. */
export function addSeed(program: Command): void {
  program
    .command('seed')
    .description('Fill an empty database with the demo workspace, and print its key: the one time that it is shown')
    .option('--json', 'print one JSON document, errors included')
    .addHelpText('after', examples('seed'))
    .action(
      action({
        input: z.strictObject({}),
        work: async ({ prisma }) => {
          const demo = await seed(prisma);
          if (demo === undefined) throw new CommandError('There is a tenant already: only an empty database is filled');
          return demo;
        },
        hint: ({ tenant, adminEmail }) =>
          `The demo workspace "${tenant}" is ready. Its key acts for ${adminEmail} with all scopes. It is shown this once: keep it in a safe place.`,
        format: ({ key }) => key,
      }),
    );
}
