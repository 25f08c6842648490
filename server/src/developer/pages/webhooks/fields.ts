import { EventType, events, NewWebhook, type Webhook, type WebhookFilter } from '@itsm-api/contract';
import * as z from 'zod';
import { checkFilter, enumeratedFields } from '../../../resources/webhooks/filter.ts';
import { FilterText, filterText } from '../../../resources/webhooks/filter-text.ts';
import { errorsOf } from '../../../shared/validation.ts';
import type { FormState } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { checkboxes, optional, several, textArea, textField } from '../../ui/form-fields.ts';
import { folded, html, type SafeHtml } from '../../ui/html.ts';

const { url, secret, filter, events: subscribed } = NewWebhook.shape;

type WebhookInput = Pick<z.output<typeof NewWebhook>, 'url' | 'events' | 'filter'>;

/** The prefix of the names of checkboxes that select values of a filter, such as `filter.priority`. */
const prefix = 'filter.';

/**
 * Returns a function that returns the schema of a form with the fields of a webhook. The schema applies all rules of a
 * webhook, so that the page shows all errors at once.
 * @param others the schemas of the other fields
 */
export function webhookSchema<Others extends z.ZodRawShape>(others: Others) {
  return ({ context: { targets } }: UserContext): z.ZodType<WebhookInput & z.output<z.ZodObject<Others>>> => {
    const fields = z.object({
      url: url.superRefine((value, { addIssue }) => {
        for (const { message } of errorsOf(() => targets.checkUrl(value))) addIssue({ code: 'custom', message });
      }),
      events: several(subscribed),
      filter: z
        .object({ text: FilterText, chosen: z.record(z.string(), z.array(z.string())) })
        .transform(addChoices)
        .pipe(filter),
    });
    const checked = fields.extend(others).superRefine(
      (values, { addIssue }) => {
        for (const { path, message } of errorsOf(() => checkFilter(values as WebhookInput))) {
          addIssue({ code: 'custom', path: path.split('.'), message });
        }
      },
      { when: ({ issues }) => issues.every(({ path: [field] = [] }) => field !== 'events' && field !== 'filter') },
    );
    return z.preprocess(collectChoices, checked as z.ZodType) as z.ZodType<
      WebhookInput & z.output<z.ZodObject<Others>>
    >;
  };
}

function collectChoices({ filter: text = '', ...values }: Record<string, unknown>): Record<string, unknown> {
  const isChoice = ([name]: [string, unknown]) => name.startsWith(prefix);
  const entries = Object.entries(values);
  const chosen = entries.filter(isChoice).map(([name, value]) => [name.slice(prefix.length), [value].flat()]);
  const others = Object.fromEntries(entries.filter((entry) => !isChoice(entry)));
  return { ...others, filter: { text, chosen: Object.fromEntries(chosen) } };
}

/** Adds the chosen values to the filter in the text. If there is no filter, returns null. */
function addChoices({ text, chosen }: { text: unknown; chosen: Record<string, string[]> }): unknown {
  const filter = { ...(text as Record<string, unknown> | null) };
  for (const [field, values] of Object.entries(chosen)) {
    filter[field] = [...new Set([filter[field] ?? [], values].flat())];
  }
  return text === null && Object.keys(filter).length === 0 ? null : filter;
}

/** The schema of the signing secret. If the field is empty, the server generates a secret. */
export const SecretField = optional(secret);

/** Renders the form fields of a webhook. @param webhook the initial values; omitted for a new webhook */
export function webhookFields(
  sent: FormState | undefined,
  webhook?: Pick<Webhook, 'url' | 'events' | 'filter'>,
): SafeHtml {
  const options = EventType.options.map((value) => ({ value, label: `${value}: ${events[value].when}` }));
  const { chosen, others } = splitFilter(webhook?.filter ?? {});
  return html`${textField(sent, {
    ...{ name: 'url', label: 'URL', type: 'url', required: true, placeholder: 'https://hooks.example.com/itsm' },
    ...{ value: webhook?.url, hint: 'The server sends each event to this URL with POST.' },
  })}
${checkboxes(sent, { name: 'events', label: 'Events', options, values: webhook?.events ?? [] })}
${folded(
  'Filter by values',
  Object.keys(chosen).length > 0 || Object.keys(sent?.values ?? {}).some((name) => name.startsWith(prefix)),
  html`<p class="hint">Send only events where each field has, or had before the change, one of the selected values.</p>
<div class="values">${Object.entries(enumeratedFields).map(([field, values]) =>
    checkboxes(sent, {
      ...{ name: `${prefix}${field}`, label: field, values: chosen[field] ?? [] },
      options: values.map((value) => ({ value, label: value })),
    }),
  )}</div>`,
)}
${textArea(sent, {
  ...{ name: 'filter', label: 'Other fields to filter by (optional)', rows: 3 },
  value: filterText(Object.keys(others).length === 0 ? null : others),
  hint: html`One field per line, such as <code>assigneeId=3,4</code> or <code>customFields.site=berlin</code>.`,
})}`;
}

/** Splits a filter into the fields that checkboxes can show, and the others. */
function splitFilter(filter: WebhookFilter): { chosen: Record<string, string[]>; others: WebhookFilter } {
  const isChosen = ([field, values]: [string, WebhookFilter[string]]) =>
    values.every((value) => enumeratedFields[field]?.includes(String(value)));
  const entries = Object.entries(filter);
  return {
    chosen: Object.fromEntries(entries.filter(isChosen)) as Record<string, string[]>,
    others: Object.fromEntries(entries.filter((entry) => !isChosen(entry))),
  };
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
