import { Scope } from '@itsm-api/contract';
import * as z from 'zod';
import { createKey, NewKey } from '../../../auth/api-keys/api-keys.ts';
import { form, page } from '../../framework/page.ts';
import { checkbox, checked, renderForm, selectField, several, submit, textField } from '../../ui/form-fields.ts';
import { html } from '../../ui/html.ts';
import { allowedEndpoints, scopeTable } from '../../ui/scope-table.ts';

const lives = { 30: '30 days', 60: '60 days', 90: '90 days', 365: '1 year', never: 'No expiration' };

/** The lifetimes that users can select for a new API key. */
export const lifeOptions = Object.entries(lives).map(([value, label]) => ({ value, label }));

/** Converts the selected lifetime of an API key to a number of days. Returns null if the key never expires. */
export const Life = z
  .enum(Object.keys(lives), { error: 'must be 30, 60, 90 or 365 days, or no expiration' })
  .transform((life) => (life === 'never' ? null : Number(life)));

/** The page that creates an API key. */
export const newKey = page({
  path: '/developer/keys/new',
  roles: ['ADMIN'],
  show: async (request) => ({
    title: 'Create API key',
    body: html`<p class="lead">The API key acts for you, ${request.visit.user.account.email}: its changes are made in your name. It
stops working when your account is deactivated.</p><div class="pair">
${renderForm(
  request,
  'create',
  (sent) => html`
${textField(sent, { name: 'name', label: 'Name', hint: 'The program that uses the key, such as "nightly export".', required: true })}
${selectField(sent, { name: 'life', label: 'Expiration', value: '90', options: lifeOptions })}
${scopeTable(sent, { label: 'Scopes', offered: Scope.options, chosen: [] })}
${checkbox(
  'isImport',
  'yes',
  html`For an import, with an expiration of 30 days. The key can set the original times and authors of new
tickets and comments, and emits no webhook events.`,
  sent?.values.isImport !== undefined,
)}
${submit('Create API key')}`,
)}
${allowedEndpoints(Scope.options)}</div>`,
  }),
  forms: {
    create: form({
      fields: z
        .strictObject({
          name: NewKey.shape.name,
          scopes: several(NewKey.shape.scopes),
          life: Life,
          isImport: checked,
        })
        .refine(({ life, isImport }) => !isImport || life === 30, {
          path: ['life'],
          error: 'must be 30 days, because the key is for an import',
        }),
      audit: 'key.created',
      async run({ visit: { context, user }, fields: { life, ...fields } }) {
        const given = { ...fields, user: user.account.email, ...(life !== null && { expiresInDays: life }) };
        const { key, id, name } = await createKey(context, given);
        return {
          subject: fields.isImport ? `${name} (import)` : name,
          redirect: `/developer/keys/${id}`,
          flash: { key, id },
        };
      },
    }),
  },
});
