import { Scope, scopes } from '@itsm-api/contract';
import { keyStatuses } from '../../auth/api-keys/key-status.ts';
import { common, noun, type Verb } from '../lib/command.ts';

const scopesHelp = [
  'Scopes:',
  ...Object.entries(scopes).map(([name, description]) => `  ${name.padEnd(17)}${description}`),
].join('\n');

const id = { flags: '<id>', about: 'ID of the key, from `keys list`', values: 'keys' } as const;
const tenant = {
  ...common.tenant,
  about: 'name or ID of the tenant, if several tenants have a key with this ID',
  required: false,
} as const;
const allowedNetworks = {
  flags: '--allowed-networks <networks>',
  about: 'IP addresses and CIDR ranges from which the key works, separated by commas',
} as const;
const states = Object.keys(keyStatuses);
const scopeValues = ['all', ...Scope.options];

const revoke: Verb = {
  summary: 'Revoke an API key immediately and permanently',
  arguments: [id],
  options: [tenant],
  examples: ['keys revoke 7'],
};

export const keys = noun({
  verbs: {
    list: {
      summary: 'List the API keys of a tenant, newest first, including revoked and expired keys',
      details: 'Keys with the status `expiring` expire within 30 days.',
      options: [
        common.tenant,
        { flags: '--state <state>', about: `only keys with this status: ${states.join(', ')}`, values: states },
        common.limit,
        common.utc,
      ],
      examples: ['keys list --tenant Acme', 'keys list --tenant Acme --state expiring'],
    },
    show: {
      summary: 'Show an API key without its value',
      arguments: [id],
      options: [tenant, common.utc],
      examples: ['keys show 7'],
    },
    create: {
      summary: 'Create an API key and print it on stdout',
      details: `Only this command shows the key. You can't display it later.\n\n${scopesHelp}`,
      options: [
        common.tenant,
        {
          flags: '--user <email>',
          about: 'email address of the user that the key acts for',
          required: true,
          values: 'users',
        },
        { flags: '--name <name>', about: 'purpose of the key', required: true },
        {
          flags: '--scopes <scopes>',
          about: 'scopes of the key, separated by commas, or all',
          required: true,
          values: scopeValues,
        },
        { flags: '--expires-in-days <days>', about: 'days until the key expires (default: never)' },
        { ...allowedNetworks, about: `${allowedNetworks.about} (default: all)` },
        { flags: '--import', about: 'create a key for an import, which expires within 30 days' },
        { flags: '--proposing', about: 'create a key that can only propose changes, for an agent' },
      ],
      examples: [
        'keys create --tenant Acme --user ada@acme.example --name ci --scopes tickets:read,tickets:write',
        'keys create --tenant Acme --user ada@acme.example --name trial --scopes all --expires-in-days 30',
        'keys create --tenant Acme --user ci@acme.example --name ci --scopes tickets:read --allowed-networks 192.0.2.0/24',
        'keys create --tenant Acme --user ada@acme.example --name zendesk --scopes all --expires-in-days 7 --import',
      ],
    },
    update: {
      summary: 'Update the name, scopes, expiry or allowed networks of an API key',
      details: scopesHelp,
      arguments: [id],
      options: [
        tenant,
        { flags: '--name <name>', about: 'purpose of the key' },
        {
          flags: '--scopes <scopes>',
          about: 'all scopes of the key, separated by commas, or all',
          values: scopeValues,
        },
        { flags: '--expires-in-days <days>', about: "days from now until the key expires; '' for never" },
        { ...allowedNetworks, about: `${allowedNetworks.about}; '' for all` },
      ],
      examples: [
        'keys update 7 --scopes tickets:read',
        'keys update 7 --expires-in-days 30',
        'keys update 7 --allowed-networks 192.0.2.0/24,2001:db8::/32',
      ],
    },
    rotate: {
      summary: 'Create a replacement for an API key and print it on stdout',
      details:
        'The new key has the same name, user, scopes, allowed networks and lifetime. If the tenant has a maximum ' +
        'lifetime, the new key lasts at most that long. The old key works until the overlap ends: configure ' +
        'your clients with the new key before then. Subscriptions that skip changes made with the old key also skip ' +
        'changes made with the new key.',
      arguments: [id],
      options: [
        tenant,
        {
          flags: '--overlap-hours <hours>',
          about: 'hours until the old key stops working, 0 to 720; 0 revokes it immediately',
          fallback: '24',
        },
      ],
      examples: ['keys rotate 7', 'keys rotate 7 --overlap-hours 0'],
    },
    revoke,
    deactivate: {
      ...revoke,
      summary: 'Revoke an API key immediately and permanently (alias of revoke)',
      examples: ['keys deactivate 7'],
    },
  },
  actions: () => import('../actions/keys.ts'),
});
