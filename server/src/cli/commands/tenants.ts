import { common, noun } from '../command.ts';

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
    move: {
      summary: 'Move a tenant and all that it has to the database of another cell',
      details:
        'Until it is there nothing can be written in it: requests that write are answered 429, those that read are served. ' +
        'Then tell the proxy that its address leads to the other cell (docs/operations.md, "Cells"): until it does, all ' +
        'requests are answered 429. A call that was interrupted is ended by another one. Where the other cell is lost for ' +
        'good, --call-off has the tenant written here again.',
      arguments: [tenant],
      options: [
        { flags: '--to <url>', about: 'DATABASE_URL of the other cell; - reads it from standard input', secret: true },
        { flags: '--call-off', about: 'take back a move to a cell that is lost for good' },
        { ...common.yes, about: 'do not ask before calling off' },
      ],
      examples: ['tenants move Acme --to - < cell-2.url', 'tenants move Acme --call-off'],
    },
  },
  actions: () => import('../actions/tenants.ts'),
});
