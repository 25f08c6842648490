import { integerFromText, pathPrefix, Scope } from '@itsm-api/contract';
import * as z from 'zod';
import {
  createKey,
  getKey,
  type Key,
  KeyPatch,
  KeyRotation,
  NewKey,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../auth/api-keys/api-keys.ts';
import { KeyQuery, listKeys } from '../../auth/api-keys/key-list.ts';
import { activeTenantContext, keyContext, tenantContext } from '../../resources/tenants/queries.ts';
import { firstOf, Limit, moreHint } from '../lib/listing.ts';
import { type Output, statusLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { updateInput } from '../lib/update.ts';

const scopeList = z
  .string()
  .transform((text) => (text.trim() === 'all' ? [...Scope.options] : text.split(',').map((scope) => scope.trim())))
  .pipe(NewKey.shape.scopes);

const Named = z.strictObject({ id: integerFromText(), tenant: z.string().optional() });
const shownOnce = "Store the key in a safe place. You can't display it again.";
const tryKeyCommands = ({ publicUrl }: { publicUrl: string }) => [
  '$ export ITSM_KEY=…',
  `$ curl -H "Authorization: Bearer $ITSM_KEY" ${publicUrl}${pathPrefix}/me`,
];

export const list = action({
  input: z.strictObject({ tenant: z.string(), state: KeyQuery.shape.state, limit: Limit }),
  work: async (runtime, { tenant, state, limit }) => {
    const context = await tenantContext(runtime, tenant);
    return firstOf(limit, (page) => listKeys(context, { ...page, state }));
  },
  format: (found, output) =>
    output.table(
      ['ID', 'NAME', 'KEY', 'USER', 'SCOPES', 'LAST USED', 'STATUS', 'UNTIL'],
      found.map((key) => [
        ...[key.id, key.name, `…${key.lastFour}`, key.user, formatScopes(key)],
        output.time(key.lastUsedAt, 'never'),
        statusLabel(key.state),
        output.time(key.revokedAt ?? key.expiresAt, 'never expires'),
      ]),
    ),
  hint: moreHint,
});

export const show = action({
  input: Named,
  work: async (runtime, { id, tenant }) => getKey(await keyContext(runtime, id, tenant), id),
  format: (key, { card, time }) =>
    card({
      ...{ id: key.id, name: key.name, key: `…${key.lastFour}`, user: key.user },
      scopes: formatScopes(key),
      import: key.isImport ? 'yes' : null,
      'allowed networks': key.allowedNetworks.join(',') || 'all',
      status: statusLabel(key.state),
      until: time(key.revokedAt ?? key.expiresAt, 'never expires'),
      'last used': time(key.lastUsedAt, 'never'),
      'last used from': key.lastUsedAddress,
      'rotated from': key.rotatedFrom,
      created: time(key.createdAt),
    }),
});

export const create = action({
  input: NewKey.omit({ isImport: true, isProposing: true }).extend({
    tenant: z.string(),
    scopes: scopeList,
    import: z.boolean().optional(),
    proposing: z.boolean().optional(),
  }),
  work: async (runtime, { tenant, import: isImport, proposing: isProposing, ...key }) =>
    createKey(await activeTenantContext(runtime, tenant), { ...key, isImport, isProposing }),
  hint: (key) => `Created the API key ${key.id} "${key.name}", which acts for ${key.user}. ${shownOnce}`,
  format: ({ key }) => key,
  next: (_result, _input, runtime) => tryKeyCommands(runtime),
});

export const update = action({
  input: updateInput(Named.shape, { ...KeyPatch.shape, scopes: scopeList.optional() }),
  work: async (runtime, { id, tenant, ...patch }) => updateKey(await keyContext(runtime, id, tenant), id, patch),
  format: (key, output) =>
    `The API key ${key.id} "${key.name}" of ${key.user} has the scopes ${formatScopes(key)} and ${formatExpiry(key, output)}.`,
});

export const rotate = action({
  input: KeyRotation.extend(Named.shape),
  work: async (runtime, { id, tenant, ...rotation }) => rotateKey(await keyContext(runtime, id, tenant), id, rotation),
  format: ({ key }) => key,
  hint: ({ previous, id, name }) =>
    `The API key ${id} "${name}" replaces key ${previous.id}, which ` +
    `${previous.revokedAt === null ? `works until ${previous.expiresAt}` : 'is revoked'}. ${shownOnce}`,
  next: ({ previous }, _, runtime) => [
    ...tryKeyCommands(runtime),
    ...(previous.revokedAt === null ? [`keys revoke ${previous.id}`] : []),
  ],
});

export const revoke = action({
  input: Named,
  work: async (runtime, { id, tenant }) => revokeKey(await keyContext(runtime, id, tenant), id),
  format: (key, output) => `The API key ${key.id} "${key.name}" of ${key.user} ${formatExpiry(key, output)}.`,
});
export { revoke as deactivate };

function formatScopes({ scopes, isProposing }: Key): string {
  const listed = scopes.length === Scope.options.length ? 'all' : scopes.join(',');
  return isProposing ? `${listed} (only proposes)` : listed;
}

function formatExpiry(key: Key, { time }: Output): string {
  if (key.revokedAt !== null) return `was revoked ${time(key.revokedAt)}`;
  if (key.expiresAt === null) return 'never expires';
  return `${key.state === 'expired' ? 'expired' : 'expires'} ${time(key.expiresAt)}`;
}
