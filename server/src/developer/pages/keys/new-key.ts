import * as z from 'zod';
import { createKey, NewKey } from '../../../auth/api-keys/api-keys.ts';
import { getKeyPolicy, type KeyPolicy, requiresExpiry } from '../../../auth/api-keys/key-policy.ts';
import { checkGrant, grantableScopes } from '../../../auth/api-keys/key-rights.ts';
import { form, page } from '../../framework/page.ts';
import {
  checkbox,
  checked,
  type Option,
  optional,
  renderForm,
  selectField,
  several,
  submit,
  textArea,
  textField,
} from '../../ui/form-fields.ts';
import { html } from '../../ui/html.ts';
import { allowedEndpoints, scopeTable } from '../../ui/scope-table.ts';

/** Returns the lifetimes that users can select for an API key: those that the rules of the workspace allow. */
export function lifetimeOptions(policy: KeyPolicy): Option[] {
  const { maxLifetimeDays: max } = policy;
  const days = [30, 60, 90, 365].filter((days) => max === null || days < max);
  if (max !== null) days.push(max);
  const options = days.map((days) => ({ value: String(days), label: days === 1 ? '1 day' : `${days} days` }));
  return requiresExpiry(policy) ? options : [...options, { value: 'never', label: 'No expiry' }];
}

/** Returns the lifetime that is selected initially: 90 days, or the longest lifetime if that is shorter. */
export function initialLifetime({ maxLifetimeDays: max }: KeyPolicy): number {
  return Math.min(90, max ?? 90);
}

/** The lifetime of an API key in days, or null if the key never expires. */
export const Lifetime = z.preprocess(
  (days) => (days === 'never' ? null : days),
  NewKey.shape.expiresInDays.unwrap().nullable(),
);

export const networksField = {
  name: 'allowedNetworks',
  label: 'Allowed networks',
  hint: 'Up to 20 IP addresses or CIDR ranges, such as 192.0.2.0/24 or 2001:db8::/32, one per line. If empty, the key works from every address.',
  rows: 3,
};

/** The page that creates an API key. Administrators choose the user of the key, agents create keys for themselves. */
export const newKey = page({
  path: '/developer/keys/new',
  roles: ['ADMIN', 'AGENT'],
  query: z.strictObject({ user: optional(NewKey.shape.user) }),
  async show(request) {
    const { visit, query } = request;
    const { role, email } = visit.user.account;
    const policy = await getKeyPolicy(visit.context.db);
    const offered = grantableScopes(role);
    const isAdmin = role === 'ADMIN';
    const hint = 'The email address of the user or service account that the key acts for.';
    const user = { name: 'user', label: 'User', hint, value: query.user ?? email, required: true };
    return {
      title: 'Create API key',
      body: html`<p class="lead">The API key acts for ${isAdmin ? 'its user' : html`you, ${email}`}: its changes are made in
${isAdmin ? "the user's" : 'your'} name. It stops working when ${isAdmin ? 'the user' : 'your account'} is deactivated.</p><div class="pair">
${renderForm(
  request,
  'create',
  (sent) => html`
${textField(sent, { name: 'name', label: 'Name', hint: 'The program that uses the key, such as "nightly export".', required: true })}
${isAdmin ? textField(sent, { ...user, type: 'email' }) : null}
${selectField(sent, { name: 'expiresInDays', label: 'Expiry', value: initialLifetime(policy), options: lifetimeOptions(policy) })}
${scopeTable(sent, { label: 'Scopes', offered, chosen: [] })}
${textArea(sent, networksField)}
${
  isAdmin
    ? checkbox(
        'isImport',
        'yes',
        html`For an import, with an expiry of at most 30 days. The key can set the original times and authors of new
tickets and comments, and emits no webhook events.`,
        sent?.values.isImport !== undefined,
      )
    : null
}
${checkbox(
  'isProposing',
  'yes',
  html`May only propose changes, for an agent. A person accepts or rejects them <a href="/developer/proposals">here</a>.`,
  sent?.values.isProposing !== undefined,
)}
${submit('Create API key')}`,
)}
${allowedEndpoints(offered)}</div>`,
    };
  },
  forms: {
    create: form({
      fields: z.strictObject({
        name: NewKey.shape.name,
        user: NewKey.shape.user.optional(),
        scopes: several(NewKey.shape.scopes),
        expiresInDays: Lifetime,
        allowedNetworks: NewKey.shape.allowedNetworks,
        isImport: checked,
        isProposing: checked,
      }),
      audit: 'key.created',
      async run({ visit: { context, user: signedIn }, fields: { expiresInDays, user, ...fields } }) {
        const { account } = signedIn;
        const given = { ...fields, user: user ?? account.email };
        checkGrant(account, given);
        const { key, id, name } = await createKey(context, {
          ...given,
          ...(expiresInDays !== null && { expiresInDays }),
        });
        return { subject: name, redirect: `/developer/keys/${id}`, flash: { key, id } };
      },
    }),
  },
});
