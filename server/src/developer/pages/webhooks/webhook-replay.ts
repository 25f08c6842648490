import { integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import { getReplay, type ReplayProgress } from '../../../resources/webhooks/webhook-replays.ts';
import { maxDeliveriesCounted } from '../../../webhooks/maintenance/replay.ts';
import { page } from '../../framework/page.ts';
import { facts, html, linkButton, type SafeHtml } from '../../ui/html.ts';

/** The page that shows the progress of a replay. */
export const webhookReplay = page({
  path: '/developer/webhooks/:id/replays/:replay',
  roles: ['ADMIN'],
  params: z.object({ id: integerFromText(), replay: integerFromText() }),
  async show({ visit, params: { id, replay } }) {
    const found = await getReplay(visit.context, id, replay);
    const { since, requestedAt, finishedAt } = found;
    return {
      title: 'Replay',
      reload: finishedAt === null ? 1 : undefined,
      body: html`<div id="progress" data-watched>${renderProgressBar(found)}<p role="status">${describeProgress(found)}</p></div>
${facts({ 'Created since': visit.time(since), Requested: visit.time(requestedAt) })}
<div class="actions">${linkButton(`/developer/deliveries?subscription=${id}`, 'Deliveries of this webhook')}
${linkButton(`/developer/webhooks/${id}`, 'Back to the webhook')}</div>`,
    };
  },
});

/** Describes the progress of a replay in a sentence. */
export function describeProgress({ matching, sent, finishedAt }: ReplayProgress): string {
  if (finishedAt !== null)
    return sent === 0 ? 'No failed deliveries to replay.' : `${countDeliveries(sent)} queued again.`;
  if (matching === null) return 'Counting failed deliveries.';
  return isCapped(matching)
    ? `${sent} of ${matching} or more deliveries queued again.`
    : `${sent} of ${countDeliveries(matching)} queued again.`;
}

function countDeliveries(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

/** Returns true if the count reached `maxDeliveriesCounted`. In that case, more deliveries may match. */
function isCapped(matching: number): boolean {
  return matching >= maxDeliveriesCounted;
}

function renderProgressBar({ matching, sent, finishedAt }: ReplayProgress): SafeHtml {
  const label = html`aria-label="Progress of the replay"`;
  if (finishedAt !== null) return html`<progress max="1" value="1" ${label}></progress>`;
  if (matching === null || isCapped(matching)) return html`<progress ${label}></progress>`;
  return html`<progress max="${Math.max(matching, 1)}" value="${sent}" ${label}></progress>`;
}
