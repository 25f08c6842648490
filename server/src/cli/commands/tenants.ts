import { common, noun } from '../lib/command.ts';

const tenant = { flags: '<tenant>', about: 'name or id of the tenant', values: 'tenants' } as const;

export const tenants = noun({
  verbs: {
    list: {
      summary: 'List all tenants, by name',
      options: [common.utc],
      examples: ['tenants list', 'tenants list --json'],
    },
    show: {
      summary: 'Show a tenant, and how much it has',
      arguments: [tenant],
      options: [common.utc],
      examples: ['tenants show Acme'],
    },
    create: {
      summary: 'Create a tenant and its first user, an administrator',
      details:
        'With --with-key it also makes a key with all scopes for them, and prints it, alone, on stdout: the one time that ' +
        'it is shown.',
      options: [
        { flags: '--name <name>', about: 'unique in whatever case, and not all digits', required: true },
        { flags: '--admin-email <email>', about: 'e-mail address of the administrator', required: true },
        { flags: '--admin-name <name>', about: 'name of the administrator (default: what precedes the @)' },
        { flags: '--with-key', about: 'make a key for the administrator, too' },
      ],
      examples: [
        'tenants create --name Acme --admin-email ada@acme.example --admin-name "Ada Okafor"',
        'tenants create --name Acme --admin-email ada@acme.example --with-key',
      ],
    },
    update: {
      summary: 'Change the name of a tenant',
      arguments: [tenant],
      options: [{ flags: '--name <name>', about: 'the new name' }],
      examples: ['tenants update Acme --name "Acme Corporation"'],
    },
    deactivate: {
      summary: 'Deactivate a tenant: its keys stop working at once, and it receives no webhooks',
      arguments: [tenant],
      examples: ['tenants deactivate Acme', 'tenants deactivate 12'],
    },
    activate: {
      summary: 'Activate a tenant again: its keys work again',
      arguments: [tenant],
      examples: ['tenants activate Acme'],
    },
  },
  actions: () => import('../actions/tenants.ts'),
});
