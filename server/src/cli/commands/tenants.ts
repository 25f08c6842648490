import { common, noun } from '../lib/command.ts';
import { clearing } from '../lib/update.ts';

const tenant = { flags: '<tenant>', about: 'name or ID of the tenant', values: 'tenants' } as const;

export const tenants = noun({
  verbs: {
    list: {
      summary: 'List all tenants, sorted by name',
      options: [common.utc],
      examples: ['tenants list', 'tenants list --json'],
    },
    show: {
      summary: 'Show a tenant and the number of its users, keys, tickets and other resources',
      arguments: [tenant],
      options: [common.utc],
      examples: ['tenants show Acme'],
    },
    create: {
      summary: 'Create a tenant and its first user, an administrator',
      details:
        'With --with-key, the command also creates an API key with all scopes for the administrator, and prints it on ' +
        'stdout. Only this command shows the key.',
      options: [
        { flags: '--name <name>', about: 'unique name, ignoring case, that is not only digits', required: true },
        { flags: '--admin-email <email>', about: 'email address of the administrator', required: true },
        { flags: '--admin-name <name>', about: 'name of the administrator (default: the email address before the @)' },
        { flags: '--with-key', about: 'also create an API key for the administrator' },
      ],
      examples: [
        'tenants create --name Acme --admin-email ada@acme.example --admin-name "Ada Okafor"',
        'tenants create --name Acme --admin-email ada@acme.example --with-key',
      ],
    },
    update: {
      summary: 'Rename a tenant, or change its targets, or its rules for API keys, custom fields or changes',
      details:
        'A resolution target is the time from the creation of a ticket until it is due. A first response target is ' +
        'the time until the first response is due. With business hours, only open time counts. Existing tickets keep ' +
        'their dates until their priority changes or a pause ends. If a request sets `dueAt`, the resolution target no ' +
        'longer applies to the ticket. The ' +
        'rules for API keys apply to new and rotated keys. A maximum lifetime also requires an expiry. In the strict mode, ' +
        'the server rejects custom fields without a definition. With the policy for changes, work on a CHANGE can start ' +
        'only if it is approved and within its planned window. ' +
        clearing.replace('notes', 'target-low').replace('field', 'target'),
      arguments: [tenant],
      options: [
        { flags: '--name <name>', about: 'new name of the tenant' },
        ...['critical', 'high', 'medium', 'low'].map((priority) => ({
          flags: `--target-${priority} <minutes>`,
          about: `resolution target of ${priority.toUpperCase()} tickets in minutes, from 1 to 525600`,
        })),
        ...['critical', 'high', 'medium', 'low'].map((priority) => ({
          flags: `--first-response-${priority} <minutes>`,
          about: `first response target of ${priority.toUpperCase()} tickets in minutes, from 1 to 525600`,
        })),
        { flags: '--max-key-days <days>', about: 'maximum lifetime of API keys in days, from 1 to 3650' },
        {
          flags: '--require-key-expiry <required>',
          about: 'true or false: whether API keys must have an expiry',
          values: ['true', 'false'],
        },
        {
          flags: '--strict-fields <strict>',
          about: 'true or false: whether custom fields need a definition',
          values: ['true', 'false'],
        },
        {
          flags: '--change-policy <on>',
          about: 'true or false: whether changes need an approval and a window',
          values: ['true', 'false'],
        },
      ],
      examples: [
        'tenants update Acme --name "Acme Corporation"',
        'tenants update Acme --target-critical 240 --target-high 480',
        "tenants update Acme --target-low ''",
        'tenants update Acme --max-key-days 365',
        'tenants update Acme --strict-fields true --change-policy true',
      ],
    },
    deactivate: {
      summary: 'Deactivate a tenant: its API keys stop working immediately, and it receives no webhooks',
      arguments: [tenant],
      examples: ['tenants deactivate Acme', 'tenants deactivate 12'],
    },
    activate: {
      summary: 'Reactivate a tenant: its API keys work again',
      arguments: [tenant],
      examples: ['tenants activate Acme'],
    },
    maintenance: {
      summary: 'Start or end the maintenance of a tenant, during which its data does not change',
      details:
        'During maintenance, the API, the MCP server and the developer area respond with 503 `SERVICE_UNAVAILABLE` and ' +
        '`Retry-After: 30` to requests of the tenant. With `read-only`, GET and HEAD requests of the API and reading tools of the ' +
        'MCP server still work. Workers send it no webhooks, scheduled jobs skip it, and commands that change its data ' +
        'fail. After the end, workers send the pending deliveries.',
      arguments: [tenant, { flags: '<state>', about: 'on, read-only or off', values: ['on', 'read-only', 'off'] }],
      examples: ['tenants maintenance Acme on', 'tenants maintenance Acme read-only', 'tenants maintenance Acme off'],
    },
    export: {
      summary: 'Export all data of a tenant to a new folder, for a backup or a move to another cell',
      details:
        'To move the tenant, start its maintenance first. Without maintenance, the export is only a backup. The folder ' +
        'contains personal data and password hashes, so only the current user can read it. The first key of ' +
        'WEBHOOK_SECRET_KEY signs the export. The command prints the SHA-256 of manifest.json, which identifies the export.',
      arguments: [tenant, { flags: '<folder>', about: 'folder to create' }],
      examples: ['tenants export Acme acme-backup'],
    },
    import: {
      summary: 'Import an exported tenant into this installation, with the same IDs',
      details:
        'Both installations must run the same release. WEBHOOK_SECRET_KEY must contain the keys of the other installation. ' +
        'With --manifest-sha256, the command needs no keys, and accepts only the export with this hash. Webhooks whose ' +
        'secrets no key decrypts then get random secrets and become inactive. ' +
        'If the command fails or is interrupted, delete the incomplete tenant with `tenants delete`, and import it again.',
      arguments: [{ flags: '<folder>', about: 'folder that `tenants export` created' }],
      options: [
        {
          flags: '--manifest-sha256 <hash>',
          about: 'SHA-256 that `tenants export` printed; replaces the signature of the export',
        },
      ],
      examples: [
        'tenants import acme-move',
        'tenants import acme-move --manifest-sha256 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
      ],
    },
    delete: {
      summary: 'Delete a tenant in maintenance, with all its data',
      details:
        "You can't undo this. To confirm, enter the name of the tenant. The command waits until all running requests have " +
        'ended. If it is interrupted, run it again. ' +
        'The name of the tenant and the number of its rows remain in the table `deleted_tenants`.',
      arguments: [tenant],
      options: [
        {
          flags: '--moved <folder>',
          about: 'folder of the imported export; deletes nothing if the data differs from it',
        },
        common.yes,
      ],
      examples: ['tenants delete Acme --moved acme-move'],
    },
  },
  actions: () => import('../actions/tenants.ts'),
});
