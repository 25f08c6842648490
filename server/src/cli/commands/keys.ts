import { Scope, scopes } from '@itsm-api/contract';
import { keyStatuses } from '../../auth/api-keys/key-status.ts';
import { common, noun, type Verb } from '../lib/command.ts';

const scopesHelp = ['Scopes:', ...Object.entries(scopes).map(([name, what]) => `  ${name.padEnd(17)}${what}`)].join(
  '\n',
);

const id = { flags: '<id>', about: 'id of the key, as `keys list` shows it', values: 'keys' } as const;
const states = Object.keys(keyStatuses);
const scopeValues = ['all', ...Scope.options];

const revoke: Verb = {
  summary: 'Revoke an API key: it stops working at once, and for good',
  arguments: [id],
  examples: ['keys revoke 7'],
};

export const keys = noun({
  verbs: {
    list: {
      summary: 'List the API keys of a tenant, newest first, also those that work no more',
      options: [
        common.tenant,
        { flags: '--state <state>', about: `only ${states.join(', ')}`, values: states },
        common.limit,
        common.utc,
      ],
      examples: ['keys list --tenant Acme', 'keys list --tenant Acme --state expiring'],
    },
    show: {
      summary: 'Show an API key: everything but the key itself',
      arguments: [id],
      options: [common.utc],
      examples: ['keys show 7'],
    },
    create: {
      summary: 'Create an API key and print it, alone, on stdout: the one time that it is shown',
      details: scopesHelp,
      options: [
        common.tenant,
        { flags: '--user <email>', about: 'in whose name the key acts', required: true, values: 'users' },
        { flags: '--name <name>', about: 'what the key is for', required: true },
        {
          flags: '--scopes <scopes>',
          about: 'what the key may do: scopes, separated by commas, or all',
          required: true,
          values: scopeValues,
        },
        { flags: '--expires-in-days <days>', about: 'days until it stops working (default: never)' },
      ],
      examples: [
        'keys create --tenant Acme --user ada@acme.example --name ci --scopes tickets:read,tickets:write',
        'keys create --tenant Acme --user ada@acme.example --name trial --scopes all --expires-in-days 30',
      ],
    },
    update: {
      summary: 'Change what an API key is called, what it may do and how long it works',
      details: scopesHelp,
      arguments: [id],
      options: [
        { flags: '--name <name>', about: 'what the key is for' },
        { flags: '--scopes <scopes>', about: 'what the key may do: all of it, or all', values: scopeValues },
        { flags: '--expires-in-days <days>', about: "days from now until it stops working; '' for never" },
      ],
      examples: ['keys update 7 --scopes tickets:read', 'keys update 7 --expires-in-days 30'],
    },
    rotate: {
      summary: 'Make a key that takes the place of another, and print it, alone, on stdout',
      details:
        'It has the same name, user, scopes and length of life. The other one works for some hours beside it, in which ' +
        'whatever uses it is given the new one. Subscriptions that skip what their own key did skip what the new one does.',
      arguments: [id],
      options: [
        {
          flags: '--overlap-hours <hours>',
          about: 'for how long the other one still works, 0 to 720; with 0 it is revoked at once',
          fallback: '24',
        },
      ],
      examples: ['keys rotate 7', 'keys rotate 7 --overlap-hours 0'],
    },
    revoke,
    deactivate: {
      ...revoke,
      summary: 'The same as revoke: a key works or is gone for good',
      examples: ['keys deactivate 7'],
    },
  },
  actions: () => import('../actions/keys.ts'),
});
