import { EventType, events, NewWebhook, type Webhook } from '@itsm-api/contract';
import * as z from 'zod';
import { FilterText, filterText } from '../../../resources/webhooks/filter-text.ts';
import type { FormState } from '../../framework/page.ts';
import { checkboxes, optional, several, textArea, textField } from '../../ui/form-fields.ts';
import { html, type SafeHtml } from '../../ui/html.ts';

const { url, secret, filter } = NewWebhook.shape;

/** The schema of the forms that create or change a webhook. */
export const WebhookFields = z.object({
  url,
  events: several(NewWebhook.shape.events),
  filter: FilterText.pipe(filter),
});
/** The schema of the signing secret. If the field is empty, the server generates a secret. */
export const SecretField = optional(secret);

/** Renders the form fields of a webhook. @param webhook the initial values; omitted for a new webhook */
export function webhookFields(
  sent: FormState | undefined,
  webhook?: Pick<Webhook, 'url' | 'events' | 'filter'>,
): SafeHtml {
  const options = EventType.options.map((value) => ({ value, label: `${value}: ${events[value].when}` }));
  return html`${textField(sent, {
    ...{ name: 'url', label: 'URL', type: 'url', required: true, placeholder: 'https://hooks.example.com/itsm' },
    ...{ value: webhook?.url, hint: 'The server sends each event to this URL with POST.' },
  })}
${checkboxes(sent, { name: 'events', label: 'Events', options, values: webhook?.events ?? [] })}
${textArea(sent, {
  ...{ name: 'filter', label: 'Filter (optional)', value: filterText(webhook?.filter ?? null), rows: 3 },
  hint: html`Send only events where each field has, or had before the change, one of its values. One field per line, such as <code>priority=HIGH,CRITICAL</code>.`,
})}`;
}

export function secretField(sent: FormState | undefined): SafeHtml {
  const hint = 'Signs each delivery. Leave it empty to generate one.';
  return textField(sent, {
    name: 'secret',
    label: 'Signing secret',
    type: 'password',
    autocomplete: 'new-password',
    hint,
  });
}
