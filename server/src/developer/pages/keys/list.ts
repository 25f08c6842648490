import { Scope } from '@itsm-api/contract';
import type { Key } from '../../../auth/api-keys/api-keys.ts';
import { countKeys, KeyQuery, keyUsers, listKeys } from '../../../auth/api-keys/key-list.ts';
import { type KeyStatus, keyStatuses } from '../../../auth/api-keys/key-status.ts';
import { requestsByKey } from '../../../resources/usage/queries.ts';
import { page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { filterField } from '../../ui/filtered-list.ts';
import { textField, withoutBlanks } from '../../ui/form-fields.ts';
import { badge, html, linkButton, notice, pager, type SafeHtml, table, withQuery } from '../../ui/html.ts';
import { sparkLine } from '../../ui/spark-line.ts';

/** The page that lists API keys. Agents see only their own API keys. */
export const keys = page({
  path: '/developer/keys',
  menu: 'API keys',
  roles: ['ADMIN', 'AGENT'],
  query: withoutBlanks(KeyQuery),
  show: async ({ visit, query, address }) => {
    const { context } = visit;
    const isAdmin = visit.user.account.role === 'ADMIN';
    const { data, meta } = await listKeys(context, { ...query, ...getOwnKeysFilter(visit) });
    const users = isAdmin ? await keyUsers(context) : [];
    const expiring = await countKeys(context, { state: 'expiring', ...getOwnKeysFilter(visit) });
    const requests = await requestsByKey(context, { hours: 24, keyIds: data.map(({ id }) => id) });
    const rows = data.map((key) => [
      html`<a href="/developer/keys/${key.id}">${key.name}</a><small><code>…${key.lastFour}</code></small>`,
      stateBadge(key.state),
      summarizeScopes(key),
      sparkLine(requests.get(key.id)),
      visit.time(key.lastUsedAt, 'never'),
      html`${visit.time(key.createdAt)}<small>for ${key.user}</small>`,
      visit.time(key.revokedAt ?? key.expiresAt, 'No expiry'),
    ]);
    const isFiltered = [query.q, query.state, query.scope, query.user].some((value) => value !== undefined);
    return {
      title: 'API keys',
      body: html`<p class="lead">Programs call the API with an API key. A key acts for its user, within its scopes.</p>
<p class="actions">${linkButton('/developer/keys/new', 'Create API key', 'main')}</p>
${
  expiring > 0
    ? notice(
        html`<p><a href="/developer/keys?state=expiring&sort=expires">${expiring === 1 ? '1 key expires' : `${expiring} keys expire`}
 within 30 days</a>. Rotate each key before it expires.</p>`,
        'warn',
      )
    : null
}
${filters(query, users)}
<div id="found" class="keys">${table('API keys', renderHeaders(query, address), rows, isFiltered ? emptySearch : emptyList)}
${pager(meta, address)}</div>`,
    };
  },
});

/**
 * Returns the filter for the API keys that the user may see. Administrators see all keys, but agents see only their own
 * keys.
 */
export function getOwnKeysFilter({ user: { account } }: UserContext): { user?: number } {
  return account.role === 'ADMIN' ? {} : { user: Number(account.userId) };
}

const kinds = { active: 'good', expiring: 'warn', inactive: 'warn', expired: 'plain', revoked: 'plain' } as const;

export function stateBadge(state: KeyStatus): SafeHtml {
  return badge(state, kinds[state]);
}

/** Returns a summary of an API key's scopes, such as `tickets:read, tickets:write, 2 more`. */
export function summarizeScopes({ scopes, isProposing }: Pick<Key, 'scopes' | 'isProposing'>): string {
  const [first, second, ...more] = scopes;
  const isComplete = scopes.length === Scope.options.length;
  const listed = isComplete ? ['All scopes'] : [first, second, more.length > 0 && `${more.length} more`];
  return [...listed, isProposing && 'only proposes'].filter(Boolean).join(', ');
}

function filters(query: KeyQuery, users: readonly { id: number; email: string }[]): SafeHtml {
  const owners = users.map(({ id, email }) => ({ value: String(id), label: email }));
  const sort = query.sort && html`<input type="hidden" name="sort" value="${query.sort}">`;
  return html`<form class="filters" role="search" aria-label="Filter" data-live="found">${sort}
${textField(undefined, { name: 'q', label: 'Name or last 4 characters', type: 'search', value: query.q })}
${filterField('state', 'Status', query.state, Object.keys(keyStatuses))}
${filterField('scope', 'Scope', query.scope, Scope.options)}
${owners.length > 1 ? filterField('user', 'User', query.user, owners) : null}
<button type="submit" class="button plain">Filter</button></form>`;
}

const renderArrow = (path: string, description: string) =>
  html` <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true"><path d="${path}" fill="currentColor"/></svg><span
 class="unseen">, ${description}</span>`;
const sortedUp = renderArrow('M0 7h8L4 1z', 'sorted ascending');
const sortedDown = renderArrow('M0 1h8L4 7z', 'sorted descending');

/** Renders the column headers. A header of a sortable column is a link that changes the sort order. */
function renderHeaders({ sort = '-created' }: KeyQuery, address: string) {
  const sortable = (label: string, name: 'name' | 'used' | 'created' | 'expires', first: '' | '-') => {
    const [up, down] = [name, `-${name}`];
    const other = first === '-' ? up : down;
    const next = sort === `${first}${name}` ? other : `${first}${name}`;
    const arrow = sort === up ? sortedUp : sort === down ? sortedDown : null;
    return html`<a href="${withQuery(address, { sort: next, page: undefined })}">${label}${arrow}</a>`;
  };
  return [
    sortable('Name', 'name', ''),
    ...['Status', 'Scopes', 'Requests in 24 h'],
    sortable('Last used', 'used', '-'),
    sortable('Created', 'created', '-'),
    sortable('Expires', 'expires', ''),
  ];
}

const emptySearch = html`<p>No API keys match your filters.</p><p><a href="/developer/keys">Show all API keys</a></p>`;
const emptyList = html`<p>No API keys yet. Create one to call the API from a program.</p>
<p>${linkButton('/developer/keys/new', 'Create API key', 'main')}</p>`;
