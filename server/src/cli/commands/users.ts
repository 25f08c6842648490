import { UserRole } from '@itsm-api/contract';
import { common, noun, type Parameter } from '../lib/command.ts';
import { exportVerb } from '../lib/file-verbs.ts';
import { clearing } from '../lib/update.ts';

const user = { flags: '<user>', about: 'e-mail address or id of the user', values: 'users' } as const;

const fields = [
  { flags: '--job-title <title>' },
  { flags: '--department <department>' },
  { flags: '--phone <phone>' },
  { flags: '--time-zone <zone>', about: 'IANA name such as Europe/Berlin' },
] satisfies Parameter[];
const name = { flags: '--name <name>', about: 'name of the person' };
const email = { flags: '--email <email>', about: 'e-mail address, unique in the tenant' };
const keepKeys = { flags: '--keep-keys', about: 'do not revoke the API keys of the user' };
const revoking =
  'Unless `--keep-keys` is given, the API keys of the user are revoked and printed. In a terminal the command asks first.';
const role = { flags: '--role <role>', about: UserRole.options.join(', '), values: UserRole.options };

export const users = noun({
  verbs: {
    list: {
      summary: 'List the users of a tenant, newest first',
      options: [
        common.tenant,
        { flags: '--role <role>', about: `only ${UserRole.options.join(', ')}`, values: UserRole.options },
        common.q,
        common.limit,
        common.utc,
      ],
      examples: [
        'users list --tenant Acme',
        'users list --tenant Acme --role ADMIN',
        'users list --tenant Acme --q weber',
      ],
    },
    show: {
      summary: 'Show a user',
      arguments: [user],
      options: [common.tenant, common.utc],
      examples: ['users show jonas@acme.example --tenant Acme'],
    },
    create: {
      summary: 'Create a user',
      options: [
        common.tenant,
        { ...name, required: true },
        { ...email, required: true },
        { ...role, required: true },
        ...fields,
      ],
      examples: [
        'users create --tenant Acme --name "Jonas Weber" --email jonas@acme.example --role AGENT --department IT',
      ],
    },
    update: {
      summary: 'Change a user',
      details: `${clearing}\n\nA role with fewer rights revokes API keys. ${revoking}`,
      arguments: [user],
      options: [common.tenant, name, email, role, ...fields, keepKeys],
      examples: [
        'users update jonas@acme.example --tenant Acme --role ADMIN',
        'users update jonas@acme.example --tenant Acme --role REQUESTER --keep-keys',
        "users update 7 --tenant Acme --phone ''",
      ],
    },
    deactivate: {
      summary: 'Deactivate a user: revoke their API keys, sign them out, and no longer allow assigning to them',
      details: `${revoking} Keys that are kept work again when the user is activated.`,
      arguments: [user],
      options: [common.tenant, keepKeys],
      examples: [
        'users deactivate jonas@acme.example --tenant Acme',
        'users deactivate jonas@acme.example --tenant Acme --keep-keys',
      ],
    },
    activate: {
      summary: 'Activate a user again: the API keys that were kept work again',
      arguments: [user],
      options: [common.tenant],
      examples: ['users activate jonas@acme.example --tenant Acme'],
    },
    invite: {
      summary: 'Make a link that lets a user into the developer area, to choose how to sign in',
      details: 'It is for PUBLIC_URL, works once and for a week, and is for a user who is ADMIN or AGENT.',
      arguments: [user],
      options: [common.tenant],
      examples: ['users invite jonas@acme.example --tenant Acme'],
    },
    export: exportVerb('users'),
  },
  actions: () => import('../actions/users.ts'),
});
