import * as z from 'zod';
import { sendTestEvent } from '../../../resources/deliveries/queries.ts';
import { listWebhooks } from '../../../resources/webhooks/queries.ts';
import { createWebhook } from '../../../resources/webhooks/webhook-management.ts';
import { form, page } from '../../framework/page.ts';
import { PageNumber } from '../../ui/filtered-list.ts';
import { optional, renderForm, submit } from '../../ui/form-fields.ts';
import { html, linkButton, pager, table } from '../../ui/html.ts';
import { shortenUrl } from '../deliveries/list.ts';
import { SecretField, secretField, webhookFields, webhookSchema } from './fields.ts';
import { renderHealth } from './webhook-health.ts';

const perPage = 50;
const NewFields = webhookSchema({ secret: SecretField });

/** The page that lists webhooks and their health. */
export const webhooks = page({
  path: '/developer/webhooks',
  menu: 'Webhooks',
  roles: ['ADMIN'],
  query: z.strictObject({
    page: PageNumber,
    /** Whether the list includes deactivated webhooks. */
    all: optional(z.literal('yes')),
  }),
  async show({ visit, query, address }) {
    const inactive = query.all !== undefined;
    const { data, meta } = await listWebhooks(visit.context, { page: query.page, perPage }, { inactive });
    const rows = data.map((webhook) => {
      const { id, url, events, lastSuccessAt, lastFailureAt } = webhook;
      return [
        html`<a href="/developer/webhooks/${id}">${shortenUrl(url)}</a>`,
        renderHealth(visit, webhook),
        html`<ul class="plain">${events.map((event) => html`<li><code>${event}</code></li>`)}</ul>`,
        visit.time(lastSuccessAt),
        visit.time(lastFailureAt),
      ];
    });
    const none = html`<p>No webhooks yet. A webhook sends signed events to your URL.</p>
<p>${linkButton('/developer/webhooks/new', 'Create webhook', 'main')}</p>`;
    const empty = meta.totalCount === 0 ? none : 'No webhooks on this page.';
    const create = meta.totalCount > 0 ? linkButton('/developer/webhooks/new', 'Create webhook', 'main') : null;
    const others = inactive
      ? linkButton('/developer/webhooks', 'Hide deactivated webhooks')
      : linkButton('/developer/webhooks?all=yes', 'Show deactivated webhooks');
    return {
      title: 'Webhooks',
      body: html`<p class="lead">The webhooks of this workspace and their health. <a href="/docs/guides/manage-webhooks">About webhooks</a></p>
<div class="actions">${create}${others}</div>
${table('Webhooks', ['URL', 'Health', 'Events', 'Last success', 'Last failure'], rows, empty)}
${meta.totalCount === 0 ? null : pager(meta, address)}`,
    };
  },
});

/** The page that creates a webhook and sends a test event to its URL. */
export const newWebhook = page({
  path: '/developer/webhooks/new',
  roles: ['ADMIN'],
  async show(request) {
    return {
      title: 'Create webhook',
      body: html`<p class="lead">The server sends a test event when you create the webhook and shows the response of your endpoint.</p>
${renderForm(request, 'create', (sent) => html`${webhookFields(sent)}${secretField(sent)}${submit('Create and send test event')}`)}`,
    };
  },
  forms: {
    create: form({
      fields: NewFields,
      audit: 'webhook.created',
      async run({ visit, fields }) {
        const { id, url, secret } = await createWebhook(visit.context, fields);
        const test = await sendTestEvent(visit.context, id);
        return {
          redirect: `/developer/webhooks/${id}?test=${test.id}`,
          subject: `webhook ${id} to ${url}`,
          ...(secret !== undefined && { flash: { secret } }),
        };
      },
    }),
  },
});
