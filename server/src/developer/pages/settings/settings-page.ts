import * as z from 'zod';
import { getKeyPolicy, KeyPolicy, setKeyPolicy } from '../../../auth/api-keys/key-policy.ts';
import { getStrictMode, setStrictMode } from '../../../resources/custom-fields/strict-mode.ts';
import { getChangePolicy, setChangePolicy } from '../../../resources/tickets/change-policy.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import { checkbox, checked, emptyAsNull, renderForm, submit, textField } from '../../ui/form-fields.ts';
import { html, section } from '../../ui/html.ts';

const path = '/developer/settings';

/** The page on which an administrator changes the settings of the workspace. */
export const settings = page({
  path,
  menu: 'Settings',
  roles: ['ADMIN'],
  async show(request) {
    const policy = await getKeyPolicy(request.visit.context.db);
    const policyFields = (sent: FormState | undefined) =>
      html`${textField(sent, {
        name: 'maxLifetimeDays',
        label: 'Maximum lifetime (days)',
        hint: 'From 1 to 3650. If empty, there is no limit. A maximum lifetime also requires an expiry.',
        type: 'number',
        value: policy.maxLifetimeDays,
      })}
${checkbox('expiryRequired', 'yes', 'API keys must have an expiry', sent ? 'expiryRequired' in sent.values : policy.expiryRequired)}
${submit('Save')}`;
    const policySection = section(
      'API keys',
      html`<p>These rules apply to new and rotated API keys, and to a later expiry of existing keys.</p>
${renderForm(request, 'keys', policyFields)}`,
    );
    const isStrict = await getStrictMode(request.visit.context.db);
    const strictFields = (sent: FormState | undefined) =>
      html`${checkbox('isStrict', 'yes', 'Reject custom fields without a definition', sent ? 'isStrict' in sent.values : isStrict)}
${submit('Save')}`;
    const fieldSection = section(
      'Custom fields',
      html`<p>This rule applies to new values. Requests can still remove fields without a definition.</p>
${renderForm(request, 'fields', strictFields)}`,
    );
    const isOn = await getChangePolicy(request.visit.context.db);
    const changeFields = (sent: FormState | undefined) =>
      html`${checkbox('isOn', 'yes', 'Require an approval and a planned window', sent ? 'isOn' in sent.values : isOn)}
${submit('Save')}`;
    const changeSection = section(
      'Changes',
      html`<p>Work on a change can start only if it is approved, and within its planned window. Administrators can override
 this policy on the page of the ticket. The policy doesn't apply to import keys.</p>
${renderForm(request, 'changes', changeFields)}`,
    );
    return { title: 'Settings', body: html`${policySection}${fieldSection}${changeSection}` };
  },
  forms: {
    changes: form({
      fields: z.strictObject({ isOn: checked }),
      audit: 'settings.updated',
      async run({ visit, fields }) {
        await setChangePolicy(visit.context, fields.isOn);
        return { redirect: path, subject: 'policy for changes' };
      },
    }),
    fields: form({
      fields: z.strictObject({ isStrict: checked }),
      audit: 'settings.updated',
      async run({ visit, fields }) {
        await setStrictMode(visit.context, fields.isStrict);
        return { redirect: path, subject: 'rule for custom fields' };
      },
    }),
    keys: form({
      fields: z.strictObject({
        maxLifetimeDays: emptyAsNull(KeyPolicy.shape.maxLifetimeDays),
        expiryRequired: checked,
      }),
      audit: 'settings.updated',
      async run({ visit, fields }) {
        await setKeyPolicy(visit.context, fields);
        return { redirect: path, subject: 'rules for API keys' };
      },
    }),
  },
});
