import type { Command } from 'commander';
import * as z from 'zod';
import { findWrongTotals } from '../resources/tickets/totals.ts';
import { CommandError } from './errors.ts';
import { examples } from './help.ts';
import { action } from './run.ts';

/** Looks for what should never be: it reads everything, and changes nothing. */
export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('Compare every total that is kept with what counting gives; exit code 1 when one is wrong')
    .option('--json', 'print one JSON document, errors included')
    .addHelpText('after', examples('doctor'))
    .action(
      action({
        input: z.strictObject({}),
        work: async ({ databases }) => {
          const wrong = (await findWrongTotals(databases.options)).map((each) => ({
            ...each,
            tenantId: Number(each.tenantId),
          }));
          if (wrong.length === 0) return { wrong };
          throw new CommandError(
            wrong.map(
              ({ tenantId, what, kept, counted }) => `Tenant ${tenantId}: ${what}: kept ${kept}, counted ${counted}.`,
            ),
            wrong,
          );
        },
        format: () => 'All totals are right.',
      }),
    );
}
