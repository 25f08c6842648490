import { integerFromText, pathPrefix, Scope, scopes } from '@itsm-api/contract';
import * as z from 'zod';
import {
  createKey,
  getKey,
  type Key,
  KeyPatch,
  KeyRotation,
  listKeys,
  NewKey,
  revokeKey,
  rotateKey,
  updateKey,
} from '../identity/keys.ts';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import { common, type Noun, type Verb } from './command.ts';
import { action } from './run.ts';
import { updateInput } from './update.ts';
import { state, type View } from './view.ts';

const scopeList = z
  .string()
  .transform((text) => (text.trim() === 'all' ? [...Scope.options] : text.split(',').map((scope) => scope.trim())))
  .pipe(NewKey.shape.scopes);

const scopesHelp = ['Scopes:', ...Object.entries(scopes).map(([name, what]) => `  ${name.padEnd(17)}${what}`)].join(
  '\n',
);

const id = { flags: '<id>', about: 'id of the key, as `keys list` shows it', values: 'keys' } as const;
const Named = z.strictObject({ id: integerFromText() });
const scopeValues = ['all', ...Scope.options];

const revoke: Verb = {
  summary: 'Revoke an API key: it stops working at once, and for good',
  arguments: [id],
  examples: ['keys revoke 7'],
  run: action({
    input: Named,
    work: ({ prisma }, { id }) => revokeKey(prisma, { id }),
    format: (key, view) => `Key ${key.id}, "${key.name}" of ${key.user}, ${ending(key, view)}.`,
  }),
};

export const keys: Noun = {
  verbs: {
    list: {
      summary: 'List the API keys of a tenant, newest first, also those that work no more',
      options: [common.tenant, common.utc],
      examples: ['keys list --tenant Acme'],
      run: action({
        input: z.strictObject({ tenant: z.string() }),
        work: async (runtime, { tenant }) => listKeys(await tenantContext(runtime, tenant)),
        format: (found, view) =>
          view.table(
            ['ID', 'NAME', 'KEY', 'USER', 'SCOPES', 'LAST USED', 'STATE', 'UNTIL'],
            found.map((key) => [
              ...[key.id, key.name, `…${key.lastFour}`, key.user, scopesOf(key)],
              view.time(key.lastUsedAt, 'never'),
              state(stateOf(key)),
              view.time(key.revokedAt ?? key.expiresAt, 'no end'),
            ]),
          ),
      }),
    },
    show: {
      summary: 'Show an API key: everything but the key itself',
      arguments: [id],
      options: [common.utc],
      examples: ['keys show 7'],
      run: action({
        input: Named,
        work: ({ prisma }, { id }) => getKey(prisma, { id }),
        format: (key, { card, time }) =>
          card({
            ...{ id: key.id, name: key.name, key: `…${key.lastFour}`, user: key.user },
            scopes: scopesOf(key),
            state: state(stateOf(key)),
            until: time(key.revokedAt ?? key.expiresAt, 'no end'),
            'last used': time(key.lastUsedAt, 'never'),
            'rotated from': key.rotatedFrom,
            created: time(key.createdAt),
          }),
      }),
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
      run: action({
        input: NewKey.extend({ tenant: z.string(), scopes: scopeList }),
        work: async (runtime, { tenant, ...key }) => createKey(await activeTenantContext(runtime, tenant), key),
        hint: (key) => `Key ${key.id}, "${key.name}", acts for ${key.user}. ${shownOnce}`,
        format: ({ key }) => key,
        next: () => [tryKey],
      }),
    },
    update: {
      summary: 'Change what an API key is called, what it may do and how long it works',
      details: scopesHelp,
      arguments: [id],
      options: [
        { flags: '--name <name>', about: 'what the key is for' },
        { flags: '--scopes <scopes>', about: 'what the key may do: all of it, or all', values: scopeValues },
        { flags: '--expires-in-days <days>', about: 'days from now until it stops working' },
      ],
      examples: ['keys update 7 --scopes tickets:read', 'keys update 7 --expires-in-days 30'],
      run: action({
        input: updateInput(Named.shape, { ...KeyPatch.shape, scopes: scopeList.optional() }),
        work: ({ prisma }, { id, ...patch }) => updateKey(prisma, { id }, patch),
        format: (key, view) =>
          `Key ${key.id}, "${key.name}" of ${key.user}, has the scopes ${scopesOf(key)} and ${ending(key, view)}.`,
      }),
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
      run: action({
        input: KeyRotation.extend(Named.shape),
        work: ({ prisma }, { id, ...rotation }) => rotateKey(prisma, { id }, rotation),
        format: ({ key }) => key,
        hint: ({ previous, id, name }) =>
          `Key ${id}, "${name}", takes the place of key ${previous.id}, which ` +
          `${previous.revokedAt === null ? `works until ${previous.expiresAt}` : 'works no more'}. ${shownOnce}`,
        next: ({ previous }) => [tryKey, ...(previous.revokedAt === null ? [`keys revoke ${previous.id}`] : [])],
      }),
    },
    revoke,
    deactivate: { ...revoke, summary: 'The same as revoke: a key works or is gone for good' },
  },
};

const shownOnce = 'It is shown this once: keep it in a safe place.';
const tryKey = `$ curl -H "Authorization: Bearer $ITSM_KEY" http://127.0.0.1:3000${pathPrefix}/me`;

function scopesOf({ scopes }: Key): string {
  return scopes.length === Scope.options.length ? 'all' : scopes.join(',');
}

function stateOf({ revokedAt, expiresAt }: Key): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'works';
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : 'expiring';
}

function ending(key: Key, { time }: View): string {
  if (key.revokedAt !== null) return `was revoked ${time(key.revokedAt)}`;
  if (key.expiresAt === null) return 'never expires';
  return `${stateOf(key) === 'expired' ? 'expired' : 'expires'} ${time(key.expiresAt)}`;
}
