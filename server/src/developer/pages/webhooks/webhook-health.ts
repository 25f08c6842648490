import type { TrackedWebhook } from '../../../resources/webhooks/queries.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { badge, html, type SafeHtml } from '../../ui/html.ts';

const kinds = { HEALTHY: 'good', RETRYING: 'warn', CIRCUIT_OPEN: 'warn', PAUSED: 'bad', INACTIVE: 'plain' } as const;

/** Renders a webhook's health, the reason for it, and the time of the next attempt. */
export function renderHealth({ time }: UserContext, { health, healthReason, nextAttemptAt }: TrackedWebhook): SafeHtml {
  return html`${badge(health, kinds[health])}${healthReason === null ? null : html` ${healthReason}`}${
    nextAttemptAt === null ? null : html` Next attempt ${time(nextAttemptAt)}.`
  }`;
}
