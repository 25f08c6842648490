import { integerFromText, pathPrefix } from '@itsm-api/contract';
import * as z from 'zod';
import {
  getKey,
  type Key,
  KeyRotation,
  NewKey,
  narrowKey,
  revokeKey,
  rotateKey,
  successorsOf,
  updateKey,
} from '../../../auth/api-keys/api-keys.ts';
import { getKeyPolicy, type KeyPolicy } from '../../../auth/api-keys/key-policy.ts';
import { checkGrant, grantableScopes } from '../../../auth/api-keys/key-rights.ts';
import { keyStatuses } from '../../../auth/api-keys/key-status.ts';
import type { Context } from '../../../resources/shared/context.ts';
import { requestsByKey } from '../../../resources/usage/queries.ts';
import { invalidField } from '../../../shared/errors.ts';
import { type FormState, form, type PageRequest, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { foldedForm, renderForm, selectField, several, submit, textArea, textField } from '../../ui/form-fields.ts';
import { code, facts, folded, html, type SafeHtml } from '../../ui/html.ts';
import { allowedEndpoints, scopeTable } from '../../ui/scope-table.ts';
import { sparkLine } from '../../ui/spark-line.ts';
import { getOwnKeysFilter, stateBadge, summarizeScopes } from './list.ts';
import { initialLifetime, Lifetime, lifetimeOptions, networksField } from './new-key.ts';

const Params = z.strictObject({ id: integerFromText() });
type KeyRequest = PageRequest<UserContext, z.output<typeof Params>>;

/**
 * The ID and the text of a new API key. A form stores them after it creates or rotates the key, and the page shows them
 * once.
 */
const ShownOnce = z.object({ id: z.int(), key: z.string() });

/** The page of an API key, with the forms that change or revoke it. Agents can rotate and revoke their own keys. */
export const oneKey = page({
  path: '/developer/keys/:id',
  roles: ['ADMIN', 'AGENT'],
  params: Params,
  async show(request) {
    const { visit, params } = request;
    const key = await getKey(visit.context, params.id, getOwnKeysFilter(visit));
    const requests = await requestsByKey(visit.context, { hours: 24, keyIds: [key.id] });
    const successors = await successorsOf(visit.context, key.id);
    const shown = ShownOnce.safeParse(visit.flash).data;
    return {
      title: key.name,
      body: html`<p><a href="/developer/keys">All API keys</a></p>
${shown?.id === key.id ? renderNewKey(shown.key, visit.site.origin) : null}
${renderFacts(key, { requests: requests.get(key.id), successors }, visit)}
${renderForms(request, key, await getKeyPolicy(visit.context.db))}`,
    };
  },
  forms: {
    rename: changeForm(z.strictObject({ name: NewKey.shape.name }), updateKey),
    end: changeForm(z.strictObject({ expiresInDays: Lifetime }), updateKey),
    networks: changeForm(z.strictObject({ allowedNetworks: NewKey.shape.allowedNetworks.unwrap() }), updateKey),
    narrow: changeForm(z.strictObject({ scopes: several(NewKey.shape.scopes) }), (context, id, { scopes }) =>
      narrowKey(context, id, scopes),
    ),
    rotate: form({
      params: Params,
      fields: KeyRotation,
      audit: 'key.rotated',
      async run({ visit, params, fields }) {
        const { context, user } = visit;
        checkGrant(user.account, await getKey(context, params.id, getOwnKeysFilter(visit)));
        const { key, id, name } = await rotateKey(context, params.id, fields);
        return { subject: name, redirect: `/developer/keys/${id}`, flash: { key, id } };
      },
    }),
    revoke: form({
      params: Params,
      fields: z.strictObject({ confirmation: z.string() }),
      audit: 'key.revoked',
      async run({ visit, params: { id }, fields: { confirmation } }) {
        const { context } = visit;
        const { name } = await getKey(context, id, getOwnKeysFilter(visit));
        if (normalizeSpace(confirmation) !== normalizeSpace(name)) {
          throw invalidField('VALIDATION_ERROR', 'confirmation', `must be the name of the key: ${name}`);
        }
        return toResult(await revokeKey(context, id));
      },
    }),
  },
});

/** Defines a form with which administrators change a key. */
function changeForm<Fields>(
  fields: z.ZodType<Fields>,
  change: (context: Context, id: number, fields: Fields) => Promise<Key>,
) {
  return form({
    params: Params,
    fields,
    audit: 'key.changed',
    roles: ['ADMIN'],
    run: async ({ visit: { context }, params: { id }, fields }) => toResult(await change(context, id, fields)),
  });
}

/**
 * Replaces line breaks and repeated spaces with one space, because a single-line text field can't contain line breaks.
 */
function normalizeSpace(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

function toResult({ id, name }: Key) {
  return { subject: name, redirect: `/developer/keys/${id}` };
}

/** Renders a new API key and examples that use it. The page shows the key only once. */
function renderNewKey(key: string, origin: string): SafeHtml {
  const curl = `curl -H 'Authorization: Bearer ${key}' \\\n  ${origin}${pathPrefix}/me`;
  const client = `const client = new ItsmClient({\n  baseUrl: '${origin}',\n  apiKey: '${key}',\n});`;
  const agents = agentSettings(key, origin);
  return html`<section class="notice good" aria-labelledby="shown-once">
<h2 id="shown-once">Your API key</h2>
<p>Copy the key now and store it in a safe place. You can't view it again.</p>
${code(key, 'API key')}
<p>Send a first request:</p>${code(curl, 'First request with curl')}
<p>Use the <a href="/docs/client">client library</a>:</p>${code(client, 'Client library with this API key')}
<p>Connect an AI agent:</p>
${agents.map(([name, text]) => html`<p>${name}</p>${code(text, name)}`)}
<p>The scopes of the API key limit what the agent can do. <a href="/docs/guides/agents">About agents</a></p>
</section>`;
}

/**
 * Returns the settings that users paste into AI agents (docs/guides/agents.md). Settings in a file that users may share
 * don't contain the API key.
 */
function agentSettings(key: string, origin: string): [program: string, settings: string][] {
  const url = `${origin}/mcp`;
  const inputs = [{ type: 'promptString', id: 'itsm-key', description: 'ITSM API key', password: true }];
  const headers = (from: string) => ({ Authorization: `Bearer \${${from}}` });
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    ['Claude Code', `claude mcp add --transport http itsm ${url} \\\n  --header "Authorization: Bearer ${key}"`],
    [
      'VS Code: .vscode/mcp.json, prompts for the API key',
      json({ inputs, servers: { itsm: { type: 'http', url, headers: headers('input:itsm-key') } } }),
    ],
    [
      'Cursor: .cursor/mcp.json, reads the API key from the environment variable ITSM_KEY',
      json({ mcpServers: { itsm: { url, headers: headers('env:ITSM_KEY') } } }),
    ],
  ];
}

interface KeyActivity {
  /** The number of requests in each of the last 24 hours. */
  requests: readonly number[] | undefined;
  /** The IDs of the API keys that replaced this key. */
  successors: readonly number[];
}

function renderFacts(key: Key, { requests, successors }: KeyActivity, { time }: UserContext): SafeHtml {
  const networks = key.allowedNetworks.map((network) => html`<code>${network}</code> `);
  return facts({
    Status: html`${stateBadge(key.state)} ${keyStatuses[key.state]}`,
    Key: html`<code>…${key.lastFour}</code>`,
    Scopes: summarizeScopes(key),
    Import: key.isImport ? 'Can set original times and authors, and emits no webhook events' : null,
    User: key.user,
    'Allowed networks': networks.length === 0 ? 'All' : html`${networks}`,
    Created: time(key.createdAt),
    [key.revokedAt === null ? 'Expires' : 'Revoked']: time(key.revokedAt ?? key.expiresAt, 'No expiry'),
    'Last used': html`${time(key.lastUsedAt, 'never')}${key.lastUsedAddress && html` from ${key.lastUsedAddress}`}`,
    'Requests in 24 h': html`${sparkLine(requests)} <a href="/developer/usage?key=${key.id}">Usage</a>`,
    Replaces: key.rotatedFrom === null ? null : keyLink(key.rotatedFrom),
    'Replaced by': successors.length === 0 ? null : html`${successors.map((id) => html`${keyLink(id)} `)}`,
  });
}

function keyLink(id: number): SafeHtml {
  return html`<a href="/developer/keys/${id}">key ${id}</a>`;
}

/** Renders the forms that change or revoke an API key, or only its scopes if the key is revoked. */
function renderForms(request: KeyRequest, key: Key, policy: KeyPolicy): SafeHtml[] {
  const { role } = request.visit.user.account;
  const isAlive = key.state === 'active' || key.state === 'expiring';
  const isRotatable = isAlive && key.scopes.every((scope) => grantableScopes(role).includes(scope));
  const hint = 'You can only remove scopes. To add scopes, create another API key.';
  const scopes = folded('Scopes', false, allowedEndpoints(key.scopes));
  if (key.state === 'revoked') return [scopes];
  const last = [
    ...(isRotatable ? [foldedForm(request, 'Rotate', 'rotate', rotateFields)] : []),
    foldedForm(request, 'Revoke', 'revoke', (sent) => revokeFields(sent, key)),
  ];
  if (role !== 'ADMIN') return [scopes, ...last];
  const narrow = renderForm(
    request,
    'narrow',
    (sent) =>
      html`${scopeTable(sent, { label: 'Scopes to keep', hint, offered: key.scopes, chosen: key.scopes })}
${submit('Remove the other scopes', 'plain')}`,
  );
  return [
    foldedForm(
      request,
      'Name',
      'rename',
      (sent) =>
        html`${textField(sent, { name: 'name', label: 'Name', value: key.name, required: true })}
${submit('Rename', 'plain')}`,
    ),
    foldedForm(
      request,
      'Expiry',
      'end',
      (sent) =>
        html`${selectField(sent, {
          ...{ name: 'expiresInDays', label: 'Expiry, counted from now', value: initialLifetime(policy) },
          options: lifetimeOptions(policy),
        })}
${submit('Set expiry', 'plain')}`,
    ),
    foldedForm(
      request,
      'Allowed networks',
      'networks',
      (sent) =>
        html`${textArea(sent, { ...networksField, value: key.allowedNetworks.join('\n') })}
${submit('Set networks', 'plain')}`,
    ),
    folded(
      'Scopes',
      request.sent.narrow !== undefined,
      html`<div class="pair">${narrow}${allowedEndpoints(key.scopes)}</div>`,
    ),
    ...last,
  ];
}

function rotateFields(sent: FormState | undefined): SafeHtml {
  const hint = 'How long the old API key keeps working: 0 to 720 hours. With 0, it stops working immediately.';
  return html`<p>Creates a new API key with the same name, scopes, networks and lifetime, which replaces this one.</p>
${textField(sent, { name: 'overlapHours', label: 'Overlap in hours', hint, type: 'number', value: 24 })}
${submit('Rotate', 'plain')}`;
}

function revokeFields(sent: FormState | undefined, { name }: Key): SafeHtml {
  const hint = `Type ${name} to confirm.`;
  return html`<p>The API key stops working within a second. You can't undo this.</p>
${textField(sent, { name: 'confirmation', label: 'Name of the key', hint, required: true })}
${submit('Revoke', 'danger')}`;
}
