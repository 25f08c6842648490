import { AssetStatus, AssetType, CustomFields, NewAsset } from '@itsm-api/contract';
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import * as z from 'zod';
import { assetRows, createAsset } from '../resources/assets/queries.ts';
import { activeTenantContext } from '../resources/tenants/queries.ts';
import type { Runtime } from '../runtime.ts';
import { assetColumns, importAssets, neededAssetColumns } from './asset-import.ts';
import { addExport } from './export.ts';
import { examples } from './help.ts';
import { action } from './run.ts';
import { findUserId, UserReference } from './user-reference.ts';

/** `NAME=VALUE`, any number of times. */
const customField = z
  .array(z.string().regex(/^(?!__proto__=)[^=]+=/, 'must be like NAME=VALUE'))
  .transform((pairs): CustomFields => Object.fromEntries(pairs.map((pair) => splitAt(pair, pair.indexOf('=')))))
  .pipe(CustomFields)
  .optional();

export function addAssets(program: Command): void {
  const assets = program.command('assets').description('Create assets, one or a file of them, and export them');

  assets
    .command('create')
    .description('Create an asset')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .requiredOption('--name <name>')
    .requiredOption('--asset-tag <tag>', 'unique in the tenant')
    .requiredOption('--type <type>', AssetType.options.join(', '))
    .option('--serial-number <number>')
    .option('--status <status>', `${AssetStatus.options.join(', ')} (default: IN_USE when assigned, else IN_STOCK)`)
    .option('--manufacturer <name>')
    .option('--model <name>')
    .option('--location <place>')
    .option('--assigned-to <user>', 'e-mail address or id')
    .option('--purchase-date <date>', 'such as 2026-11-20')
    .option('--purchase-cost <cost>', 'a decimal such as 1499.00')
    .option('--warranty-expires-at <moment>', 'such as 2028-03-14T00:00:00Z')
    .option('--notes <text>')
    .option('--custom-field <name=value...>', 'a custom field; may be repeated')
    .addHelpText(
      'after',
      examples(
        'assets create --tenant Acme --name "Spare laptop" --asset-tag LT-0318 --type LAPTOP',
        'assets create --tenant Acme --name "Jonas\' phone" --asset-tag MB-0007 --type MOBILE --assigned-to jonas@acme.example',
      ),
    )
    .action(
      action({
        input: NewAsset.omit({ assignedToId: true, customFields: true }).extend({
          tenant: z.string(),
          assignedTo: UserReference.optional(),
          customField,
        }),
        work: async (runtime, { tenant, assignedTo, customField: customFields, ...asset }) => {
          const context = await activeTenantContext(runtime, tenant);
          const assignedToId = await findUserId(context, 'assignedTo', assignedTo);
          return createAsset(context, { ...asset, assignedToId, customFields });
        },
        format: (asset) => `Created the asset ${asset.assetTag}, ${asset.name} (id ${asset.id}), ${asset.status}.`,
      }),
    );

  assets
    .command('import')
    .description('Create the assets of a CSV file: all of them, or none when a line is wrong')
    .argument('<file>', 'CSV in UTF-8, with commas and a line of column names')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .addHelpText('after', importHelp)
    .addHelpText('after', examples('assets import assets.csv --tenant Acme'))
    .action(
      action({
        input: z.strictObject({ file: z.string(), tenant: z.string() }),
        work: importWithProgress,
        format: ({ imported }) => `Imported ${imported} ${imported === 1 ? 'asset' : 'assets'}.`,
      }),
    );

  addExport(assets, assetRows);
}

const importHelp = `
Columns, in any order: ${assetColumns.join(', ')},
and customFields.NAME for each custom field. Needed are ${neededAssetColumns.join(', ')}; an empty cell means none.
assignedToId may hold an id or an e-mail address.`;

async function importWithProgress(runtime: Runtime, { file, tenant }: { file: string; tenant: string }) {
  const context = await activeTenantContext(runtime, tenant);
  // Draws nothing where stderr is no terminal. `gracefulExit` gives the terminal back before Ctrl-C ends the process.
  const bar = new SingleBar({ format: '{bar} {value} of {total} assets', clearOnComplete: true, gracefulExit: true });
  try {
    return { imported: await importAssets(context, file, bar) };
  } finally {
    bar.stop();
  }
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
