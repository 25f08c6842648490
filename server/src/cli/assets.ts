import {
  type Asset,
  AssetPatch,
  AssetStatus,
  AssetType,
  CustomFields,
  CustomFieldsPatch,
  integerFromText,
  NewAsset,
} from '@itsm-api/contract';
import { SingleBar } from 'cli-progress';
import * as z from 'zod';
import type { Context } from '../context.ts';
import { assetRows, createAsset, getAsset, listAssets, updateAsset } from '../resources/assets/queries.ts';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import type { Runtime } from '../runtime.ts';
import { assetCsv, assetTemplate } from './asset-csv.ts';
import { assetColumns, importAssets, neededAssetColumns } from './asset-import.ts';
import { common, type Noun, type Parameter, type Verb } from './command.ts';
import { exportOf } from './export.ts';
import { shell } from './help.ts';
import { firstOf, Limit, moreHint } from './listing.ts';
import { action } from './run.ts';
import { clearing, updateInput } from './update.ts';
import { findUserId, UserReference } from './user-reference.ts';
import { state } from './view.ts';

/** `NAME=VALUE`, any number of times. */
const customFieldPairs = z
  .array(z.string().regex(/^(?!__proto__=)[^=]+=/, 'must be like NAME=VALUE'))
  .transform((pairs) => pairs.map((pair) => splitAt(pair, pair.indexOf('='))));

type CustomFieldsGiven = z.input<typeof CustomFieldsPatch>;

const [types, statuses] = [AssetType.options, AssetStatus.options];
const id = { flags: '<id>', about: 'id of the asset', values: 'assets' } as const;
const Named = z.strictObject({ tenant: z.string(), id: integerFromText() });

const name = { flags: '--name <name>' };
const type = { flags: '--type <type>', about: types.join(', '), values: types };
const fields = [
  { flags: '--serial-number <number>' },
  {
    flags: '--status <status>',
    about: `${statuses.join(', ')} (a new one: IN_USE when assigned, else IN_STOCK)`,
    values: statuses,
  },
  { flags: '--manufacturer <name>' },
  { flags: '--model <name>' },
  { flags: '--location <place>' },
  { flags: '--assigned-to <user>', about: 'e-mail address or id', values: 'users' },
  { flags: '--purchase-date <date>', about: 'such as 2026-11-20' },
  { flags: '--purchase-cost <cost>', about: 'a decimal such as 1499.00' },
  { flags: '--warranty-expires-at <moment>', about: 'such as 2028-03-14T00:00:00Z' },
  { flags: '--notes <text>' },
  { flags: '--custom-field <name=value...>', about: 'a custom field; may be repeated' },
] satisfies Parameter[];

export const assets: Noun = {
  verbs: {
    list: {
      summary: 'List the assets of a tenant, newest first',
      options: [
        common.tenant,
        { flags: '--status <status>', about: `only ${statuses.join(', ')}`, values: statuses },
        { flags: '--type <type>', about: `only ${types.join(', ')}`, values: types },
        { flags: '--q <words>', about: 'only those with these words in name, asset tag or serial number' },
        common.limit,
        common.utc,
      ],
      examples: ['assets list --tenant Acme', 'assets list --tenant Acme --type LAPTOP --status IN_STOCK'],
      run: action({
        input: z.strictObject({
          tenant: z.string(),
          status: AssetStatus.optional(),
          type: AssetType.optional(),
          q: z.string().min(1).optional(),
          limit: Limit,
        }),
        work: async (runtime, { tenant, status, type, q, limit }) => {
          const context = await tenantContext(runtime, tenant);
          const filters = { q, status: status && [status], type: type && [type] };
          return firstOf(limit, (page) => listAssets(context, { ...page, ...filters }));
        },
        format: (found, { table, time }) =>
          table(
            ['ID', 'TAG', 'NAME', 'TYPE', 'STATUS', 'ASSIGNED TO', 'UPDATED'],
            found.map(({ id, assetTag, name, type, status, assignedToId, updatedAt }) => {
              return [id, assetTag, name, type, state(status), assignedToId, time(updatedAt)];
            }),
          ),
        hint: moreHint,
      }),
    },
    show: {
      summary: 'Show an asset',
      arguments: [id],
      options: [common.tenant, common.utc],
      examples: ['assets show 311 --tenant Acme'],
      run: action({
        input: Named,
        work: async (runtime, { tenant, id }) => getAsset(await tenantContext(runtime, tenant), id),
        format: (asset, { card, time }) =>
          card({
            ...{ id: asset.id, tag: asset.assetTag, name: asset.name, type: asset.type, status: state(asset.status) },
            ...{ 'serial number': asset.serialNumber, manufacturer: asset.manufacturer, model: asset.model },
            ...{ location: asset.location, 'assigned to id': asset.assignedToId, notes: asset.notes },
            ...{ 'purchase date': asset.purchaseDate, 'purchase cost': asset.purchaseCost },
            'warranty expires': time(asset.warrantyExpiresAt),
            ...Object.fromEntries(Object.entries(asset.customFields).map(([name, value]) => [name, String(value)])),
            created: time(asset.createdAt),
            updated: time(asset.updatedAt),
          }),
      }),
    },
    create: {
      summary: 'Create an asset',
      options: [
        common.tenant,
        { ...name, required: true },
        { flags: '--asset-tag <tag>', about: 'unique in the tenant', required: true },
        { ...type, required: true },
        ...fields,
      ],
      examples: [
        'assets create --tenant Acme --name "Spare laptop" --asset-tag LT-0318 --type LAPTOP',
        'assets create --tenant Acme --name "Jonas\' phone" --asset-tag MB-0007 --type MOBILE --assigned-to jonas@acme.example',
      ],
      run: action({
        input: NewAsset.omit({ assignedToId: true, customFields: true }).extend({
          tenant: z.string(),
          assignedTo: UserReference.optional(),
          customField: customFieldPairs
            .transform((pairs): CustomFields => Object.fromEntries(pairs))
            .pipe(CustomFields)
            .optional(),
        }),
        work: async (runtime, { tenant, assignedTo, customField: customFields, ...asset }) => {
          const context = await activeTenantContext(runtime, tenant);
          const assignedToId = await findUserId(context, 'assignedTo', assignedTo);
          return createAsset(context, { ...asset, assignedToId, customFields });
        },
        format: (asset) => `Created the asset ${asset.assetTag}, ${asset.name} (id ${asset.id}), ${asset.status}.`,
        next: ({ id }, { tenant }) => [shell`assets show ${id} --tenant ${tenant}`],
      }),
    },
    update: {
      summary: 'Change an asset',
      details: `${clearing}; --custom-field site= takes a custom field away`,
      arguments: [id],
      options: [common.tenant, name, type, ...fields],
      examples: [
        'assets update 311 --tenant Acme --assigned-to jonas@acme.example',
        "assets update 311 --tenant Acme --assigned-to '' --status MAINTENANCE",
      ],
      run: action({
        input: updateInput(Named.shape, {
          ...AssetPatch.omit({ assignedToId: true, customFields: true }).shape,
          assignedTo: UserReference.nullish(),
          customField: customFieldPairs
            .transform((pairs): CustomFieldsGiven => {
              return Object.fromEntries(pairs.map(([name, value]) => [name, value === '' ? null : value]));
            })
            .pipe(CustomFieldsPatch)
            .optional(),
        }),
        work: async (runtime, { tenant, id, assignedTo, customField, ...patch }) => {
          const context = await tenantContext(runtime, tenant);
          const customFields = customField && { customFields: customField };
          return updateAsset(context, id, { ...patch, ...customFields, ...(await holderOf(context, assignedTo)) });
        },
        format: told,
      }),
    },
    deactivate: {
      summary: 'Take an asset out of use: its status becomes RETIRED, and it is assigned to nobody',
      arguments: [id],
      options: [common.tenant],
      examples: ['assets deactivate 311 --tenant Acme'],
      run: action({
        input: Named,
        work: async (runtime, { tenant, id }) =>
          updateAsset(await tenantContext(runtime, tenant), id, { status: 'RETIRED', assignedToId: null }),
        format: told,
      }),
    },
    activate: {
      summary: 'Take an asset back: its status becomes IN_STOCK, or IN_USE where it is assigned',
      arguments: [id],
      options: [common.tenant],
      examples: ['assets activate 311 --tenant Acme'],
      run: action({
        input: Named,
        work: async (runtime, { tenant, id }) => {
          const context = await tenantContext(runtime, tenant);
          const { assignedToId } = await getAsset(context, id);
          return updateAsset(context, id, { status: assignedToId === null ? 'IN_STOCK' : 'IN_USE' });
        },
        format: told,
      }),
    },
    import: importVerb(),
    template: {
      summary: 'Print a CSV file to begin an import with: the columns, and an asset that shows what they hold',
      examples: ['assets template > assets.csv'],
      plain: true,
      run: async () => {
        process.stdout.write(assetTemplate());
      },
    },
    export: exportOf(assetRows, assetCsv),
  },
};

function importVerb(): Verb {
  return {
    summary: 'Create the assets of a CSV file: all of them, or none when a line is wrong',
    details: [
      `Columns, in any order: ${assetColumns.join(', ')}, and customFields.NAME for each custom field.`,
      `Needed are ${neededAssetColumns.join(', ')}; an empty cell means none. assignedToId may hold an id or an e-mail address.`,
    ].join(' '),
    arguments: [{ flags: '<file>', about: 'CSV in UTF-8, with commas and a line of column names' }],
    options: [common.tenant, { flags: '--dry-run', about: 'only look whether every line could be imported' }],
    examples: ['assets import assets.csv --tenant Acme --dry-run', 'assets import assets.csv --tenant Acme'],
    run: action({
      input: z.strictObject({ file: z.string(), tenant: z.string(), dryRun: z.boolean().default(false) }),
      work: importWithProgress,
      format: ({ imported, importable }, _) =>
        imported === 0 ? `${countOf(importable)} could be imported; nothing was.` : `Imported ${countOf(imported)}.`,
      next: ({ imported }, { file, tenant }) =>
        imported === 0 ? [shell`assets import ${file} --tenant ${tenant}`] : [],
    }),
  };
}

async function importWithProgress(
  runtime: Runtime,
  { file, tenant, dryRun }: { file: string; tenant: string; dryRun: boolean },
): Promise<{ importable: number; imported: number }> {
  const context = await activeTenantContext(runtime, tenant);
  // Draws nothing where stderr is no terminal. `gracefulExit` gives the terminal back before Ctrl-C ends the process.
  const bar = new SingleBar({ format: '{bar} {value} of {total} assets', clearOnComplete: true, gracefulExit: true });
  try {
    const importable = await importAssets(context, file, { dryRun, progress: bar });
    return { importable, imported: dryRun ? 0 : importable };
  } finally {
    bar.stop();
  }
}

function countOf(assets: number): string {
  return `${assets} ${assets === 1 ? 'asset' : 'assets'}`;
}

async function holderOf(context: Context, user: UserReference | null | undefined) {
  return user === undefined ? {} : { assignedToId: await findUserId(context, 'assignedTo', user ?? undefined) };
}

function told({ assetTag, name, id, status }: Asset): string {
  return `The asset ${assetTag}, ${name} (id ${id}), is ${status}.`;
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
