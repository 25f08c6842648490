import { DeliveryState, EventType, integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import { DeliveryFilter, findDeliveries } from '../../../resources/deliveries/queries.ts';
import { listWebhooks, type TrackedWebhook } from '../../../resources/webhooks/queries.ts';
import { page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { filterField, UncountedPageNumber } from '../../ui/filtered-list.ts';
import { type Option, optional, submit } from '../../ui/form-fields.ts';
import { html, linkButton, type SafeHtml, uncountedPager } from '../../ui/html.ts';
import { parseTimeRange, timeRangeFields, timeRangeQuery } from '../../ui/time-range.ts';
import { deliveryTable, isPending, pendingReload } from './delivery-table.ts';

const perPage = 50;

const Query = z.strictObject({
  subscription: optional(integerFromText()),
  event: optional(DeliveryFilter.shape.event.unwrap()),
  state: optional(DeliveryState),
  ...timeRangeQuery,
  page: UncountedPageNumber,
});
type Query = z.output<typeof Query>;

/** The page that lists deliveries, with filters. */
export const deliveries = page({
  path: '/developer/deliveries',
  menu: 'Deliveries',
  roles: ['ADMIN', 'AGENT'],
  query: Query,
  async show({ visit, query, address }) {
    const { page, since, until, ...named } = query;
    const madeBy = getOwnerFilter(visit);
    const extent = { skip: (page - 1) * perPage, take: perPage, madeBy };
    const { data, hasMore } = await findDeliveries(
      visit.context,
      { ...named, ...parseTimeRange({ since, until }, visit) },
      extent,
    );
    const webhooks = await listWebhooks(visit.context, { page: 1, perPage: 100 }, { inactive: true, madeBy });
    const filtered = Object.entries(query).some(([name, value]) => name !== 'page' && value !== undefined);
    const list = deliveryTable(visit, data, {
      names: createNameRenderer(visit, webhooks.data),
      empty: filtered
        ? html`<p>No deliveries match your filters.</p><p><a href="/developer/deliveries">Show all deliveries</a></p>`
        : html`<p>No deliveries yet. Each event that a webhook subscribes to creates a delivery.</p>
<p>${linkButton('/docs/guides/manage-webhooks', 'Learn how to create a webhook')}</p>`,
    });
    return {
      title: 'Deliveries',
      reload: data.some(isPending) ? pendingReload : undefined,
      body: html`<p class="lead">Events sent to webhooks, newest first. Deliveries are kept for 30 days after they are settled.</p>
${filters(query, webhooks.data, visit)}<div id="found" data-watched>${list}${uncountedPager({ page, hasMore }, address)}</div>`,
    };
  },
});

/**
 * Returns the filter for the deliveries that the user may see. For agents, who see only the deliveries of their own
 * webhooks, returns the user's ID. For administrators, who see all deliveries, returns undefined.
 */
export function getOwnerFilter({ user, context }: UserContext): bigint | undefined {
  return user.account.role === 'ADMIN' ? undefined : context.userId;
}

function filters(query: Query, webhooks: readonly TrackedWebhook[], visit: UserContext): SafeHtml {
  const options = (named: readonly Option[], chosen: string | number | undefined) => {
    const isListed = chosen === undefined || named.some(({ value }) => value === String(chosen));
    return [...named, ...(isListed ? [] : [{ value: String(chosen), label: String(chosen) }])];
  };
  const each = (value: string): Option => ({ value, label: value.toLowerCase() });
  const subscriptions = webhooks.map(({ id, url }) => ({ value: String(id), label: `${id}: ${shortenUrl(url)}` }));
  const { subscription, event, state } = query;
  return html`<form class="filters" method="get" action="/developer/deliveries" data-live="found" role="search">
${filterField('subscription', 'Webhook', subscription, options(subscriptions, subscription))}
${filterField('event', 'Event', event, options(EventType.options.map(each), event))}
${filterField('state', 'Status', state, options(DeliveryState.options.map(each), state))}
${timeRangeFields(query, visit)}
${submit('Filter', 'plain')}</form>`;
}

/** Returns a function that renders the name of a webhook. For administrators, the name links to the webhook's page. */
function createNameRenderer({ user }: UserContext, webhooks: readonly TrackedWebhook[]) {
  const names = new Map(webhooks.map(({ id, url }) => [id, shortenUrl(url)]));
  return (id: number) => {
    const name = names.get(id) ?? `webhook ${id}`;
    return user.account.role === 'ADMIN' ? html`<a href="/developer/webhooks/${id}">${name}</a>` : name;
  };
}

/** Shortens a URL to its host and path, with at most 32 characters. */
export function shortenUrl(url: string): string {
  const { host, pathname } = new URL(url);
  const text = host + (pathname === '/' ? '' : pathname);
  return text.length > 32 ? `${text.slice(0, 31)}…` : text;
}
