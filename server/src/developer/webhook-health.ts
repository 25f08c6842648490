import type { TrackedWebhook } from '../resources/webhooks/queries.ts';
import { badge, html, type SafeHtml } from './html.ts';
import type { UserVisit } from './visit.ts';

const kinds = { healthy: 'good', retrying: 'warn', resting: 'warn', paused: 'bad', inactive: 'plain' } as const;

/** How a subscription does: a word, why, and when it is tried next. */
export function healthOf({ time }: UserVisit, { health }: TrackedWebhook): SafeHtml {
  const { state, because, until } = health;
  return html`${badge(state, kinds[state])}${because === null ? null : html` ${because}`}${
    until === null ? null : html` Tried next ${time(until)}.`
  }`;
}
