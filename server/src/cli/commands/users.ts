import { UserKind, UserRole } from '@itsm-api/contract';
import { common, noun, type Parameter } from '../lib/command.ts';
import { exportVerb } from '../lib/file-verbs.ts';
import { clearing } from '../lib/update.ts';

const user = { flags: '<user>', about: 'email address or ID of the user', values: 'users' } as const;

const fields = [
  { flags: '--job-title <title>' },
  { flags: '--department <department>' },
  { flags: '--phone <phone>' },
  { flags: '--time-zone <zone>', about: 'IANA time zone such as Europe/Berlin' },
] satisfies Parameter[];
const name = { flags: '--name <name>', about: 'name of the user' };
const email = { flags: '--email <email>', about: 'email address, unique in the tenant' };
const keepKeys = { flags: '--keep-keys', about: "don't revoke the API keys of the user" };
const revoking =
  'Unless you use `--keep-keys`, the command revokes the API keys of the user and prints their names. In a terminal, it ' +
  'asks for confirmation first.';
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
      summary: 'Create a user or a service account',
      details:
        "A service account is a user for programs. It has the role AGENT and can't sign in. Its email address is the " +
        'contact for the program.',
      options: [
        common.tenant,
        { ...name, required: true },
        { ...email, required: true },
        { ...role, required: true },
        { flags: '--kind <kind>', about: `${UserKind.options.join(', ')} (default: PERSON)`, values: UserKind.options },
        ...fields,
      ],
      examples: [
        'users create --tenant Acme --name "Nightly export" --email it@acme.example --role AGENT --kind SERVICE',
        'users create --tenant Acme --name "Jonas Weber" --email jonas@acme.example --role AGENT --department IT',
      ],
    },
    update: {
      summary: 'Update a user',
      details: `${clearing.replace('notes', 'phone')}\n\nA role with fewer permissions revokes API keys. ${revoking}`,
      arguments: [user],
      options: [common.tenant, name, email, role, ...fields, keepKeys],
      examples: [
        'users update jonas@acme.example --tenant Acme --role ADMIN',
        'users update jonas@acme.example --tenant Acme --role REQUESTER --keep-keys',
        "users update 3 --tenant Acme --phone ''",
      ],
    },
    deactivate: {
      summary: 'Deactivate a user: revoke their API keys and end their sessions',
      details: `You can't assign work to inactive users. ${revoking} Keys that you keep work again after \`users activate\`.`,
      arguments: [user],
      options: [common.tenant, keepKeys],
      examples: [
        'users deactivate jonas@acme.example --tenant Acme',
        'users deactivate jonas@acme.example --tenant Acme --keep-keys',
      ],
    },
    activate: {
      summary: 'Reactivate a user: API keys that were not revoked work again',
      arguments: [user],
      options: [common.tenant],
      examples: ['users activate jonas@acme.example --tenant Acme'],
    },
    invite: {
      summary: 'Create an invitation link to the developer area',
      details:
        'The user opens the link and chooses how to sign in. The link starts with PUBLIC_URL, works once, and expires after 7 ' +
        'days. The user must have the role ADMIN or AGENT.',
      arguments: [user],
      options: [common.tenant],
      examples: ['users invite jonas@acme.example --tenant Acme'],
    },
    erase: {
      summary: 'Erase the personal data of a user, and list the tickets and comments that contain their name',
      details:
        'Replaces the name and the email address. Deletes the other personal fields, the passkeys, password, sessions and ' +
        "invitations. Deactivates the user and revokes the API keys. You can't undo this. The command doesn't change " +
        'tickets and comments. It lists those that contain the name or the email address, so that you can redact them.',
      arguments: [user],
      options: [common.tenant, common.yes],
      examples: ['users erase jonas@acme.example --tenant Acme', 'users erase 3 --tenant Acme --yes --json'],
    },
    export: exportVerb('users'),
  },
  actions: () => import('../actions/users.ts'),
});
