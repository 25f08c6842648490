import { Asset, AssetPatch, AssetQuery, CustomFields, CustomFieldsPatch, NewAsset } from '@itsm-api/contract';
import * as z from 'zod';
import { assetColumns } from '../resources/assets/columns.ts';
import { TagText } from '../resources/shared/tags.ts';
import { converter, declareNoun } from './noun.ts';

const { externalId: _, ...created } = NewAsset.shape;
const { externalId: __, addTags: ___, removeTags: ____, ...changeable } = AssetPatch.shape;

/** The schema of the custom fields on the command line: a list of `NAME=VALUE` pairs. An empty value removes a field. */
const CustomFieldPairs = z
  .array(z.string().regex(/^(?!__proto__=)[^=]+=/, 'must be like NAME=VALUE'))
  .transform((pairs): z.input<typeof CustomFieldsPatch> => {
    const split = pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
    return Object.fromEntries(split.map(([name, value]) => [name, value === '' ? null : value]));
  })
  .pipe(CustomFieldsPatch);

/** The pages of an asset are not derived, because their forms have inputs for custom fields, and they show activity. */
export const assets = declareNoun({
  ...{ path: 'assets', one: 'asset', many: 'assets', audit: 'asset', hasOwnForms: true },
  schemas: {
    ...{ row: Asset, create: z.strictObject(created), update: z.strictObject(changeable) },
    query: AssetQuery,
  },
  ...{ key: ['id'], example: '11', title: ['assetTag', 'name'], order: 'newest first' },
  csvColumns: (use) => use(assetColumns),
  fields: {
    name: { label: 'Name' },
    assetTag: { label: 'Asset tag', option: '--asset-tag <tag>', about: 'asset tag, unique in the tenant' },
    type: { label: 'Type' },
    serialNumber: { label: 'Serial number', option: '--serial-number <number>' },
    status: { label: 'Status', fallback: 'IN_USE if assigned, otherwise IN_STOCK' },
    manufacturer: { label: 'Manufacturer', option: '--manufacturer <name>' },
    model: { label: 'Model', option: '--model <name>' },
    location: { label: 'Location', option: '--location <place>' },
    assignedToId: {
      ...{ label: 'Assigned to', option: '--assigned-to <user>', suggest: 'users' },
      about: 'email address or ID of the user',
    },
    purchaseDate: { label: 'Purchase date', isDate: true },
    purchaseCost: {
      ...{ label: 'Purchase cost', option: '--purchase-cost <cost>' },
      about: 'decimal number such as 1499.00',
    },
    warrantyExpiresAt: {
      ...{ label: 'Warranty expires', option: '--warranty-expires-at <moment>' },
      about: 'timestamp such as 2028-03-14T00:00:00Z',
    },
    notes: { label: 'Notes' },
    tags: {
      ...{ label: 'Tags', option: '--tags <tags>' },
      about: 'tags, separated by commas; they replace all tags',
    },
    customFields: {
      ...{ label: 'Custom fields', option: '--custom-field <name=value...>' },
      about: 'set a custom field; repeat the option for more fields',
    },
  },
  ...{ filters: ['status', 'type'], search: 'Name, tag or serial number' },
  table: ['id', ['assetTag', 'Tag'], 'name', 'type', 'status', ['assignedToId', 'Assigned to'], 'updatedAt'],
  list: [['assetTag', 'Tag'], 'name', 'type', 'status', ['assignedToId', 'Assigned to', 'user'], 'updatedAt'],
  card: [
    ...(['id', ['assetTag', 'Tag'], 'name', 'type', 'status', 'serialNumber', 'manufacturer', 'model'] as const),
    ...(['location', 'assignedToId', 'notes', 'purchaseDate', 'purchaseCost'] as const),
    ['warrantyExpiresAt', 'Warranty expires', 'time'],
    { title: 'Tags', cell: ({ tags }) => tags.join(', ') },
    ...([['customFields', '', 'entries'], 'createdAt', 'updatedAt'] as const),
  ],
  lead: 'The assets of this workspace, newest first.',
  verbs: {
    list: { examples: ['', '--type LAPTOP --status IN_STOCK', '--q laptop'] },
    create: {
      examples: [
        '--name "Spare laptop" --asset-tag LT-0318 --type LAPTOP',
        '--name "Jonas\' phone" --asset-tag MB-0007 --type MOBILE --assigned-to jonas@acme.example',
      ],
    },
    update: {
      details: 'Use --custom-field site= to remove the custom field site.',
      examples: ['11 --assigned-to jonas@acme.example', "11 --assigned-to '' --status MAINTENANCE"],
    },
    deactivate: { summary: 'Retire an asset: set its status to RETIRED and remove its assignee' },
    activate: {
      summary: 'Reactivate an asset: set its status to IN_USE if it is assigned, otherwise to IN_STOCK',
    },
  },
  outcome: ({ status }) => `, with status ${status}`,
  next: () => 'show',
  activation: ({ assignedToId }, verb): AssetPatch =>
    verb === 'deactivate'
      ? { status: 'RETIRED', assignedToId: null }
      : { status: assignedToId === null ? 'IN_STOCK' : 'IN_USE' },
  async load() {
    const [queries, { assetCsv }, { userConverter }, { findFieldTypes, parseFieldTexts }] = await Promise.all([
      import('../resources/assets/queries.ts'),
      import('../resources/assets/import-assets.ts'),
      import('./user-converter.ts'),
      import('../resources/custom-fields/field-text.ts'),
    ]);
    return {
      list: queries.listAssets,
      get: (context, { id }) => queries.getAsset(context, id),
      create: (context, { customFields, ...asset }) =>
        queries.createAsset(context, { ...asset, customFields: CustomFields.nullish().parse(customFields) }),
      update: (context, { id }, patch) => queries.updateAsset(context, id, patch),
      rows: queries.assetRows,
      csv: (use) => use(assetCsv),
      converters: {
        assignedToId: userConverter('assignedToId'),
        tags: converter(
          TagText,
          (_context, tags) => tags,
          (_context, { tags }: Asset) => tags.join(','),
        ),
        customFields: converter(
          CustomFieldPairs,
          async (context, texts) =>
            parseFieldTexts(await findFieldTypes(context, { resource: 'ASSET', active: true }), texts),
          (_context, { customFields }: Asset) => formatPairs(customFields),
        ),
      },
    };
  },
});

function formatPairs(fields: CustomFields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}
