import type { Delivery, DeliveryState } from '@itsm-api/contract';
import type { UserContext } from '../../framework/request-context.ts';
import { badge, type Cell, html, type SafeHtml, table } from '../../ui/html.ts';

const kinds = { PENDING: 'warn', DELIVERED: 'good', EXHAUSTED: 'bad', CANCELLED: 'plain' } as const;

export function stateBadge(state: DeliveryState): SafeHtml {
  return badge(state.toLowerCase(), kinds[state]);
}

/**
 * Renders the time of the next attempt, or `due` if that time has passed. A due delivery waits until a worker sends it.
 */
export function nextAttempt({ time, context }: UserContext, at: string): Cell {
  return Date.parse(at) <= context.now().getTime() ? 'due' : time(at);
}

/** The interval in seconds at which pages with pending deliveries refresh. */
export const pendingReload = 10;

export function isPending({ state }: Pick<Delivery, 'state'>): boolean {
  return state === 'PENDING';
}

interface Options {
  empty: Cell;
  /** Renders the name of a webhook. If this function is undefined, the table has no webhook column. */
  names?: (webhookId: number) => Cell;
}

/** Renders a table of deliveries. */
export function deliveryTable(
  visit: UserContext,
  deliveries: readonly Delivery[],
  { empty, names }: Options,
): SafeHtml {
  const rows = deliveries.map(({ id, webhookId, event, eventId, state, attemptCount, createdAt, nextAttemptAt }) => [
    html`<a href="/developer/deliveries/${id}" aria-label="Delivery ${id}">${id}</a>`,
    html`${stateBadge(state)}${nextAttemptAt === null ? null : html`<br><span class="next">next ${nextAttempt(visit, nextAttemptAt)}</span>`}`,
    html`<code>${event}</code>${eventId.startsWith('evt_test_') ? html` ${badge('test')}` : null}`,
    ...(names === undefined ? [] : [names(webhookId)]),
    attemptCount,
    visit.time(createdAt),
  ]);
  const to = names === undefined ? [] : ['Webhook'];
  return table('Deliveries', ['Delivery', 'Status', 'Event', ...to, 'Attempts', 'Created'], rows, empty);
}
