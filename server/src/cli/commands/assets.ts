import { AssetStatus, AssetType } from '@itsm-api/contract';
import { assetColumns } from '../../resources/assets/columns.ts';
import { common, noun, type Parameter } from '../lib/command.ts';
import { exportVerb, importVerb, templateVerb } from '../lib/file-verbs.ts';
import { clearing } from '../lib/update.ts';

const [types, statuses] = [AssetType.options, AssetStatus.options];
const id = { flags: '<id>', about: 'ID of the asset', values: 'assets' } as const;

const name = { flags: '--name <name>' };
const type = { flags: '--type <type>', about: types.join(', '), values: types };
const fields = [
  { flags: '--serial-number <number>' },
  {
    flags: '--status <status>',
    about: `${statuses.join(', ')} (default: IN_USE if assigned, otherwise IN_STOCK)`,
    values: statuses,
  },
  { flags: '--manufacturer <name>' },
  { flags: '--model <name>' },
  { flags: '--location <place>' },
  { flags: '--assigned-to <user>', about: 'email address or ID of the user', values: 'users' },
  { flags: '--purchase-date <date>', about: 'date such as 2026-11-20' },
  { flags: '--purchase-cost <cost>', about: 'decimal number such as 1499.00' },
  { flags: '--warranty-expires-at <moment>', about: 'timestamp such as 2028-03-14T00:00:00Z' },
  { flags: '--notes <text>' },
  { flags: '--tags <tags>', about: 'tags, separated by commas; they replace all tags' },
  { flags: '--custom-field <name=value...>', about: 'set a custom field; repeat the option for more fields' },
] satisfies Parameter[];

export const assets = noun({
  verbs: {
    list: {
      summary: 'List the assets of a tenant, newest first',
      options: [
        common.tenant,
        { flags: '--status <status>', about: `only ${statuses.join(', ')}`, values: statuses },
        { flags: '--type <type>', about: `only ${types.join(', ')}`, values: types },
        common.q,
        common.limit,
        common.utc,
      ],
      examples: [
        'assets list --tenant Acme',
        'assets list --tenant Acme --type LAPTOP --status IN_STOCK',
        'assets list --tenant Acme --q laptop',
      ],
    },
    show: {
      summary: 'Show an asset',
      arguments: [id],
      options: [common.tenant, common.utc],
      examples: ['assets show 11 --tenant Acme'],
    },
    create: {
      summary: 'Create an asset',
      options: [
        common.tenant,
        { ...name, required: true },
        { flags: '--asset-tag <tag>', about: 'asset tag, unique in the tenant', required: true },
        { ...type, required: true },
        ...fields,
      ],
      examples: [
        'assets create --tenant Acme --name "Spare laptop" --asset-tag LT-0318 --type LAPTOP',
        'assets create --tenant Acme --name "Jonas\' phone" --asset-tag MB-0007 --type MOBILE --assigned-to jonas@acme.example',
      ],
    },
    update: {
      summary: 'Update an asset',
      details: `${clearing} Use --custom-field site= to remove the custom field site.`,
      arguments: [id],
      options: [common.tenant, name, type, ...fields],
      examples: [
        'assets update 11 --tenant Acme --assigned-to jonas@acme.example',
        "assets update 11 --tenant Acme --assigned-to '' --status MAINTENANCE",
      ],
    },
    deactivate: {
      summary: 'Retire an asset: set its status to RETIRED and remove its assignee',
      arguments: [id],
      options: [common.tenant],
      examples: ['assets deactivate 11 --tenant Acme'],
    },
    activate: {
      summary: 'Reactivate an asset: set its status to IN_USE if it is assigned, otherwise to IN_STOCK',
      arguments: [id],
      options: [common.tenant],
      examples: ['assets activate 11 --tenant Acme'],
    },
    import: importVerb(assetColumns),
    template: templateVerb(assetColumns),
    export: exportVerb('assets', { csv: true }),
  },
  actions: () => import('../actions/assets.ts'),
  withoutDatabase: () => import('../actions/templates/assets.ts'),
});
