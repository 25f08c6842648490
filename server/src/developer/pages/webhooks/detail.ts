import { type Delivery, integerFromText, secretOverlapHours, WebhookReplay } from '@itsm-api/contract';
import * as z from 'zod';
import { findDeliveries, getDelivery, sendTestEvent } from '../../../resources/deliveries/queries.ts';
import { filterText } from '../../../resources/webhooks/filter-text.ts';
import { getWebhook, type TrackedWebhook } from '../../../resources/webhooks/queries.ts';
import { activateWebhook, deleteWebhook, updateWebhook } from '../../../resources/webhooks/webhook-management.ts';
import { listReplays, replayWebhook } from '../../../resources/webhooks/webhook-replays.ts';
import { detailsOf, validationError } from '../../../shared/validation.ts';
import { newSecret } from '../../../webhooks/secrets/new-secret.ts';
import { formatLocalTime, getZoneName, LocalTime, parseLocalTime } from '../../framework/local-datetime.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type FormState, form, type PageRequest, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { checkboxes, foldedForm, optional, renderForm, submit, textField } from '../../ui/form-fields.ts';
import { code, facts, folded, html, linkButton, notice, type SafeHtml, section } from '../../ui/html.ts';
import { deliveryTable, isPending, pendingReload } from '../deliveries/delivery-table.ts';
import { renderResult } from '../deliveries/detail.ts';
import { SecretField, secretField, webhookFields, webhookSchema } from './fields.ts';
import { renderHealth } from './webhook-health.ts';
import { describeProgress } from './webhook-replay.ts';

const Params = z.object({ id: integerFromText() });
/** The query parameters of the page. `test` is the ID of the delivery that contains a test event. */
const Query = z.strictObject({ test: optional(integerFromText()) });
/** A new signing secret, which the page shows only once. */
const Flash = z.object({ secret: z.string() });

const ChangedFields = webhookSchema({ etag: Etag });

const shownDeliveries = 10;
const shownReplays = 5;
const dayMs = 86_400_000;

type WebhookRequest = PageRequest<UserContext, z.output<typeof Params>, z.output<typeof Query>>;

/** The page of a webhook, with its health, its deliveries, and the forms that change it. */
export const webhook = page({
  path: '/developer/webhooks/:id',
  roles: ['ADMIN'],
  params: Params,
  query: Query,
  async show(request) {
    const { visit, params, query } = request;
    const webhook = await getWebhook(visit.context, params.id);
    const secret = Flash.safeParse(visit.flash).data?.secret;
    const test = query.test === undefined ? undefined : await getTestResult(visit, query.test);
    const part = (title: string, name: string, body: SafeHtml) => folded(title, request.sent[name] !== undefined, body);
    const { data: last } = await findDeliveries(visit.context, { subscription: webhook.id }, { take: shownDeliveries });
    return {
      title: `Webhook to ${new URL(webhook.url).host}`,
      reload: test?.isPending ? 1 : last.some(isPending) ? pendingReload : undefined,
      shownOnce: secret !== undefined,
      body: html`<p class="lead">${webhook.url}</p>
${secret === undefined ? null : newSecretNotice(secret)}${test?.outcome}
<div id="health" data-watched>${health(visit, webhook)}</div>
${webhook.active ? controls(request, webhook) : reactivation(request)}
${section('Deliveries', lastDeliveries(visit, webhook, last))}
${
  webhook.active
    ? html`${part('Replay failed deliveries', 'replay', await replays(request))}
${foldedForm(request, 'Edit webhook', 'change', (sent) => html`${etagField(webhook)}${webhookFields(sent, webhook)}${submit('Save', 'plain')}`)}${part('Rotate signing secret', 'secret', rotation(request))}${foldedForm(request, 'Deactivate webhook', 'delete', deletionFields)}`
    : null
}`,
    };
  },
  forms: {
    test: form({
      params: Params,
      fields: z.object({}),
      audit: 'webhook.tested',
      async run({ visit, params: { id } }) {
        const test = await sendTestEvent(visit.context, id);
        return { redirect: `${toPath(id)}?test=${test.id}`, subject: `webhook ${id}`, target: { type: 'webhook', id } };
      },
    }),
    pause: form({ params: Params, fields: z.object({}), audit: 'webhook.changed', run: setPaused(true) }),
    resume: form({ params: Params, fields: z.object({}), audit: 'webhook.changed', run: setPaused(false) }),
    change: form({
      params: Params,
      fields: ChangedFields,
      audit: 'webhook.changed',
      async run({ visit, params: { id }, fields: { etag, ...patch } }) {
        await changeIfUnchanged(visit.context, etag, (context) => updateWebhook(context, id, patch));
        return { redirect: toPath(id), subject: `webhook ${id}` };
      },
    }),
    secret: form({
      params: Params,
      fields: z.object({ secret: SecretField }),
      audit: 'webhook.changed',
      async run({ visit, params: { id }, fields }) {
        const secret = fields.secret ?? newSecret();
        await updateWebhook(visit.context, id, { secret });
        const flash = fields.secret === undefined ? { flash: { secret } } : {};
        return { redirect: toPath(id), confirmation: `Webhook secret changed: webhook ${id}`, ...flash };
      },
    }),
    replay: form({
      params: Params,
      fields: z.object({ since: LocalTime }),
      audit: 'webhook.replayed',
      async run({ visit, params: { id }, fields }) {
        const since = parseLocalTime(fields.since, visit.user.account.timeZone).toISOString();
        const { data, error } = WebhookReplay.safeParse({ since });
        if (data === undefined) throw validationError(detailsOf(error.issues, 'is unknown'));
        const replay = await replayWebhook(visit.context, id, data);
        return {
          redirect: `${toPath(id)}/replays/${replay.id}`,
          subject: `webhook ${id}, failed since ${since}`,
          target: { type: 'webhook', id },
          changes: { since: { from: null, to: since } },
        };
      },
    }),
    delete: form({
      params: Params,
      fields: z.object({ sure: z.literal('yes', 'must be selected. Deactivation cancels pending deliveries.') }),
      audit: 'webhook.deleted',
      async run({ visit, params: { id } }) {
        await deleteWebhook(visit.context, id);
        const confirmation = 'Webhook deactivated. Pending deliveries were cancelled.';
        return { redirect: '/developer/webhooks', subject: `webhook ${id}`, confirmation };
      },
    }),
    activate: form({
      params: Params,
      fields: z.object({}),
      audit: 'webhook.activated',
      async run({ visit, params: { id } }) {
        await activateWebhook(visit.context, id);
        return { redirect: toPath(id), subject: `webhook ${id}` };
      },
    }),
  },
});

function toPath(id: number): string {
  return `/developer/webhooks/${id}`;
}

function setPaused(paused: boolean) {
  return async ({ visit, params: { id } }: PageRequest<UserContext, z.output<typeof Params>>) => {
    await updateWebhook(visit.context, id, { paused });
    return { redirect: toPath(id), confirmation: `Webhook ${paused ? 'paused' : 'resumed'}: webhook ${id}` };
  };
}

function newSecretNotice(secret: string): SafeHtml {
  return notice(html`<p><b>Copy the signing secret now. You can't view it again.</b> Your endpoint
<a href="/docs/guides/verify-signatures">verifies deliveries</a> with it.</p>${code(secret, 'Signing secret')}`);
}

/** Renders the result of a test event, with a link to its delivery. */
async function getTestResult(visit: UserContext, id: number): Promise<{ outcome: SafeHtml; isPending: boolean }> {
  const { attempts, state } = await getDelivery(visit.context, id);
  const last = attempts.at(-1);
  const link = html`<a href="/developer/deliveries/${id}">View the test event</a>`;
  const result = last === undefined ? html`Sending.` : html`${renderResult(last)} in ${last.durationMs} ms.`;
  const answer = last?.answer ? code(last.answer.slice(0, 1000), 'Response') : null;
  const kind = state === 'DELIVERED' ? 'good' : 'warn';
  const outcome = notice(html`<p><b>Test event:</b> ${result} ${link}</p>${answer}`, kind);
  return {
    outcome: html`<div id="test" data-watched>${outcome}</div>`,
    isPending: last === undefined && state === 'PENDING',
  };
}

function health(visit: UserContext, webhook: TrackedWebhook): SafeHtml {
  const { events, filter, skipOwn, lastSuccessAt, lastFailureAt, pausedAt, createdAt } = webhook;
  return facts({
    Health: renderHealth(visit, webhook),
    'Paused since': pausedAt === null ? null : visit.time(pausedAt),
    'Last success': visit.time(lastSuccessAt),
    'Last failure': visit.time(lastFailureAt),
    Events: html`${events.map((event) => html`<code>${event}</code> `)}`,
    Filter: filter === null ? null : html`<code>${filterText(filter)}</code>`,
    Excluded: skipOwn ? 'Events caused by the API key that created this webhook' : null,
    Created: visit.time(createdAt),
  });
}

/** Renders the buttons that send a test event and that pause or resume the webhook. */
function controls(request: WebhookRequest, { health }: TrackedWebhook): SafeHtml {
  const isHeldBack = health === 'PAUSED' || health === 'CIRCUIT_OPEN';
  return html`<div class="actions">${renderForm(request, 'test', () => submit('Send test event', 'plain'))}
${isHeldBack ? renderForm(request, 'resume', () => submit(health === 'PAUSED' ? 'Resume' : 'Retry now', 'plain')) : null}
${health === 'PAUSED' ? null : renderForm(request, 'pause', () => submit('Pause', 'plain'))}</div>`;
}

function reactivation(request: WebhookRequest): SafeHtml {
  return html`${notice('This webhook was deactivated. Pending deliveries were cancelled.', 'warn')}
<div class="actions">${renderForm(request, 'activate', () => submit('Activate', 'plain'))}</div>`;
}

function lastDeliveries(visit: UserContext, { id }: TrackedWebhook, found: readonly Delivery[]): SafeHtml {
  const more = linkButton(`/developer/deliveries?subscription=${id}`, 'All deliveries of this webhook');
  return html`<div id="deliveries" data-watched>${deliveryTable(visit, found, { empty: 'No deliveries yet. To see one, send a test event.' })}</div>
${found.length === 0 ? null : html`<p>${more}</p>`}`;
}

/** Renders the replay form and the progress of recent replays. */
async function replays(request: WebhookRequest): Promise<SafeHtml> {
  const { visit, params } = request;
  const { timeZone } = visit.user.account;
  const recent = await listReplays(visit.context, params.id, shownReplays);
  const dayAgo = new Date(visit.context.now().getTime() - dayMs);
  const field = {
    name: 'since',
    label: `Created since (${getZoneName(timeZone)})`,
    type: 'datetime-local',
    required: true,
    value: formatLocalTime(dayAgo, timeZone).slice(0, 16),
  } as const;
  const items = recent.map(
    (replay) =>
      html`<li><a href="${toPath(params.id)}/replays/${replay.id}">${visit.time(replay.requestedAt)}</a>: ${describeProgress(replay)}</li>`,
  );
  return html`<p>Sends exhausted deliveries again, oldest first. Each keeps its <code>webhook-id</code>.</p>
${renderForm(request, 'replay', (sent) => html`${textField(sent, field)}${submit('Replay', 'plain')}`)}
${items.length === 0 ? null : html`<ul>${items}</ul>`}`;
}

function rotation(request: WebhookRequest): SafeHtml {
  return html`<p>The previous secret also signs deliveries for ${secretOverlapHours} hours, in <code>webhook-signature</code>.</p>
${renderForm(request, 'secret', (sent) => html`${secretField(sent)}${submit('Rotate secret', 'plain')}`)}`;
}

function deletionFields(sent: FormState | undefined): SafeHtml {
  const label = 'Yes, deactivate this webhook. It stops receiving events, and pending deliveries are cancelled.';
  const box = { name: 'sure', label: 'Confirmation', options: [{ value: 'yes', label }] };
  return html`${checkboxes(sent, box)}${submit('Deactivate webhook', 'danger')}`;
}
