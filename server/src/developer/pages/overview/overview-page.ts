import { maxActiveWebhooks } from '@itsm-api/contract';
import { countValidKeys, maxAgentKeys } from '../../../auth/api-keys/api-keys.ts';
import { listKeys } from '../../../auth/api-keys/key-list.ts';
import { listApprovals } from '../../../resources/tickets/approvals/queries.ts';
import { getStoredBytes } from '../../../resources/tickets/attachments/queries.ts';
import { getTicket } from '../../../resources/tickets/queries.ts';
import { findKeyNames, keysNearLimits } from '../../../resources/usage/queries.ts';
import { countActiveWebhooks, listWebhooks } from '../../../resources/webhooks/queries.ts';
import { page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { formatSize } from '../../ui/format-size.ts';
import { badge, html, linkButton, notice, type SafeHtml } from '../../ui/html.ts';
import { getOwnerFilter, shortenUrl } from '../deliveries/list.ts';
import { getOwnKeysFilter } from '../keys/list.ts';
import { formatKeyName, isAdmin, listVisibleKeys } from '../usage/usage-page.ts';
import { renderHealth } from '../webhooks/webhook-health.ts';

/** The path of the page that opens after the sign-in. */
export const overviewPath = '/developer/overview';

/** The maximum number of items that a card lists. */
const maxShown = 5;

/** A card of the overview, which lists the items of one kind that need attention. */
interface Card {
  title: string;
  /** The number of items. */
  count: number;
  /** The items to show, at most `maxShown`. */
  items: SafeHtml[];
  /** The text of a card without items. */
  none: string;
  /** The path and the text of the link to all objects of this kind. */
  more: [path: string, text: string];
}

/**
 * The page that opens after the sign-in and shows what needs attention. Agents see only their own API keys and the
 * webhooks that were created with them.
 */
export const overview = page({
  path: overviewPath,
  menu: 'Overview',
  roles: ['ADMIN', 'AGENT'],
  async show({ visit }) {
    const cards = [
      await findWaitingApprovals(visit),
      await findFailingWebhooks(visit),
      await findExpiringKeys(visit),
      await findLimitedKeys(visit),
    ];
    const quotas = isAdmin(visit) ? await getWorkspaceQuotas(visit) : await getAgentQuotas(visit);
    const fullQuotas = quotas.filter(({ used, max }) => used >= max * attentionShare).length;
    const count = cards.reduce((sum, card) => sum + card.count, fullQuotas);
    const actions = [
      linkButton('/developer/keys/new', 'Create API key', 'main'),
      ...(isAdmin(visit)
        ? [linkButton('/developer/webhooks/new', 'Create webhook'), linkButton('/developer/users/new', 'Invite a user')]
        : []),
    ];
    return {
      title: 'Overview',
      body: html`${
        count === 0
          ? notice('Nothing needs attention.')
          : notice(count === 1 ? '1 item needs attention.' : `${count} items need attention.`, 'warn')
      }
<p class="actions">${actions}</p>
<div class="cards">${cards.map(renderCard)}${renderQuotas(quotas, fullQuotas)}</div>`,
    };
  },
});

function renderCard({ title, count, items, none, more: [path, text] }: Card): SafeHtml {
  const others = count - items.length;
  return html`<section class="card"><h2>${title} ${renderCount(count)}</h2>
${
  items.length === 0
    ? html`<p class="none">${none}</p>`
    : html`<ul>${items.map((item) => html`<li>${item}</li>`)}${others > 0 ? html`<li>and ${others} more</li>` : null}</ul>`
}
<p class="more"><a href="${path}">${text}</a></p></section>`;
}

/** Renders a badge with the number of items. */
function renderCount(count: number): SafeHtml {
  return count === 0 ? badge('OK', 'good') : badge(String(count), 'warn');
}

/** Finds the changes that wait for the decision of the signed-in user. */
async function findWaitingApprovals({ context, time }: UserContext): Promise<Card> {
  const waiting = { approverId: ['me' as const], decision: ['PENDING' as const] };
  const { data, meta } = await listApprovals(context, { page: 1, perPage: maxShown, ...waiting });
  const items = data.map(async ({ id, ticketId, createdAt }) => {
    const { ticketNumber, title } = await getTicket(context, ticketId);
    return html`<a href="/developer/approvals/${id}">${ticketNumber}: ${title}</a> <small>requested ${time(createdAt)}</small>`;
  });
  return {
    title: 'Changes that wait for your decision',
    count: meta.totalCount,
    items: await Promise.all(items),
    none: 'No change waits for your decision.',
    more: ['/developer/approvals', 'Show my approvals'],
  };
}

async function findFailingWebhooks(visit: UserContext): Promise<Card> {
  const { data, meta } = await listWebhooks(
    visit.context,
    { page: 1, perPage: maxShown },
    { failing: true, madeBy: getOwnerFilter(visit) },
  );
  // Agents can't open the pages of webhooks, but they can see the deliveries.
  const toPath = (id: number) =>
    isAdmin(visit) ? `/developer/webhooks/${id}` : `/developer/deliveries?subscription=${id}`;
  return {
    title: 'Failing webhooks',
    count: meta.totalCount,
    items: data.map(
      (webhook) =>
        html`<a href="${toPath(webhook.id)}">${shortenUrl(webhook.url)}</a> <small>${renderHealth(visit, webhook)}</small>`,
    ),
    none: 'No failing webhooks.',
    more: isAdmin(visit) ? ['/developer/webhooks', 'Show webhooks'] : ['/developer/deliveries', 'Show deliveries'],
  };
}

async function findExpiringKeys(visit: UserContext): Promise<Card> {
  const { context, time } = visit;
  const filter = { state: 'expiring', sort: 'expires', ...getOwnKeysFilter(visit) } as const;
  const { data, meta } = await listKeys(context, { ...filter, page: 1, perPage: maxShown });
  return {
    title: 'API keys that expire within 30 days',
    count: meta.totalCount,
    items: data.map(
      (key) =>
        html`<a href="/developer/keys/${key.id}">${formatKeyName(key)}</a> <small>${time(key.expiresAt)}${isAdmin(visit) ? html`, for ${key.user}` : null}</small>`,
    ),
    none: 'No API key expires within 30 days.',
    more: ['/developer/keys?state=expiring&sort=expires', 'Show expiring API keys'],
  };
}

/** Finds the API keys that reached a rate limit in the last 24 hours. */
async function findLimitedKeys(visit: UserContext): Promise<Card> {
  const { context, time } = visit;
  const own = isAdmin(visit) ? {} : { keyIds: (await listVisibleKeys(visit)).map(({ id }) => BigInt(id)) };
  const near = await keysNearLimits(context, { range: '24h', ...own });
  const reached = near.filter(({ peak }) => peak >= 100);
  const shown = reached.slice(0, maxShown);
  const named = await findKeyNames(context, { ids: shown.map(({ keyId }) => keyId) });
  const names = new Map(named.map((key) => [key.id, formatKeyName(key)]));
  return {
    title: 'Rate limits reached in the last 24 hours',
    count: reached.length,
    items: shown.map(({ keyId, limit, rejected, lastAt }) => {
      const rejections = `${rejected.toLocaleString('en')} ${rejected === 1 ? 'request' : 'requests'} rejected`;
      const which = limit === 'global' ? 'all endpoints' : `${limit} endpoints`;
      return html`<a href="/developer/usage?range=24h&key=${keyId}">${names.get(keyId) ?? `API key ${keyId}`}</a>
 <small>Limit for ${which}: ${rejections}, most recently in the hour from ${time(lastAt.toISOString())}</small>`;
    }),
    none: 'No API key reached a rate limit.',
    more: ['/developer/usage', 'Show usage'],
  };
}

/** A quota, and how much of it is used. The numbers are counts or bytes. */
interface Quota {
  name: string;
  used: number;
  max: number;
  format(value: number): string;
}

/** A quota needs attention if this share of it is used. */
const attentionShare = 0.8;

const formatCount = (value: number) => value.toLocaleString('en');

async function getWorkspaceQuotas({ context }: UserContext): Promise<Quota[]> {
  const { quotaBytes } = context.attachmentLimits;
  return [
    { name: 'Attachments', used: await getStoredBytes(context), max: quotaBytes, format: formatSize },
    {
      name: 'Active webhooks',
      used: await countActiveWebhooks(context),
      max: maxActiveWebhooks,
      format: formatCount,
    },
  ];
}

async function getAgentQuotas({ context }: UserContext): Promise<Quota[]> {
  const used = await countValidKeys(context, context.userId);
  return [{ name: 'Valid API keys', used, max: maxAgentKeys, format: formatCount }];
}

function renderQuotas(quotas: Quota[], full: number): SafeHtml {
  const items = quotas.map(({ name, used, max, format }) => {
    const percent = max === 0 ? 100 : Math.min(100, Math.floor((used / max) * 100));
    return html`<li>${name} <small>${format(used)} of ${format(max)}</small>
<meter min="0" max="100" high="${attentionShare * 100 - 1}" optimum="0" value="${percent}" aria-label="${name}">${percent} %</meter></li>`;
  });
  return html`<section class="card"><h2>Quotas ${renderCount(full)}</h2><ul>${items}</ul></section>`;
}
