import { AssetStatus, AssetType } from '@itsm-api/contract';
import { assetColumns } from '../../resources/assets/columns.ts';
import { common, noun, type Parameter } from '../lib/command.ts';
import { exportVerb, importVerb, templateVerb } from '../lib/file-verbs.ts';
import { clearing } from '../lib/update.ts';

const [types, statuses] = [AssetType.options, AssetStatus.options];
const id = { flags: '<id>', about: 'id of the asset', values: 'assets' } as const;

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
      examples: ['assets show 311 --tenant Acme'],
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
    },
    deactivate: {
      summary: 'Take an asset out of use: its status becomes RETIRED, and it is assigned to nobody',
      arguments: [id],
      options: [common.tenant],
      examples: ['assets deactivate 311 --tenant Acme'],
    },
    activate: {
      summary: 'Take an asset back: its status becomes IN_STOCK, or IN_USE where it is assigned',
      arguments: [id],
      options: [common.tenant],
      examples: ['assets activate 311 --tenant Acme'],
    },
    import: importVerb(assetColumns),
    template: templateVerb(assetColumns),
    export: exportVerb('assets', { csv: true }),
  },
  actions: () => import('../actions/assets.ts'),
  withoutDatabase: () => import('../actions/asset-template.ts'),
});
