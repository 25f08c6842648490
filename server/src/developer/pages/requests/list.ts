import { docsOf, ErrorCode, Id, integerFromText, text } from '@itsm-api/contract';
import * as z from 'zod';
import {
  countRequests,
  findRequests,
  type LoggedRequest,
  listRequests,
  RequestFilter,
  RequestPosition,
} from '../../../resources/requests/queries.ts';
import type { NamedKey } from '../../../resources/usage/queries.ts';
import { loggedErrorCodes } from '../../../usage/logged-error-codes.ts';
import { page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { filterField } from '../../ui/filtered-list.ts';
import { optional, submit, textField } from '../../ui/form-fields.ts';
import { badge, type Cell, facts, html, linkButton, type SafeHtml, table, withQuery } from '../../ui/html.ts';
import { parseTimeRange, timeRangeFields, timeRangeQuery } from '../../ui/time-range.ts';
import { formatKeyName, isAdmin, listVisibleKeys } from '../usage/usage-page.ts';

const here = '/developer/requests';
const perPage = 50;

const Query = z.strictObject({
  requestId: optional(text(1, 100)),
  key: optional(integerFromText(Id)),
  error: optional(RequestFilter.shape.error.unwrap()),
  ...timeRangeQuery,
  after: optional(RequestPosition),
});
type Query = z.output<typeof Query>;

/** The page that shows the request log. Agents see only the requests of their own API keys. */
export const requests = page({
  path: here,
  menu: 'Request log',
  roles: ['ADMIN', 'AGENT'],
  query: Query,
  async show({ visit, query, address }) {
    const { requestId } = query;
    const { context } = visit;
    const keys = await listVisibleKeys(visit);
    const keyIds = isAdmin(visit) ? undefined : keys.map(({ id }) => id);
    const { key, error } = query;
    const filter = { key, error, ...parseTimeRange(query, visit) } satisfies RequestFilter;
    const { data, next } =
      requestId === undefined
        ? await listRequests(context, filter, { take: perPage, after: query.after, keyIds })
        : { data: await findRequests(context, requestId, { keyIds }), next: undefined };
    const counts = isAdmin(visit) && requestId === undefined ? await countRequests(context, filter) : undefined;
    const rows = data.map((request) => renderRow(request, visit, keys));
    return {
      title: 'Request log',
      body: html`<p class="lead">Requests with ${isAdmin(visit) ? "the workspace's" : 'your'} API keys, newest first. New requests appear within a few seconds.</p>
${filters(query, keys, visit)}<div id="found">${
        counts &&
        html`<div class="numbers">${facts({
          Successful: counts.successes.toLocaleString('en'),
          Failed: counts.errors.toLocaleString('en'),
          'Rejected by a limit': counts.rateLimited.toLocaleString('en'),
        })}</div>
<p class="hint">These numbers count all requests of the workspace in this time range. The log keeps only some requests of each minute, and none that a limit rejected (429).</p>`
      }
${table('Requests', ['Time', 'Request', 'Status', 'Latency', 'API key', 'Address'], rows, renderEmpty(query))}
${pagination(query, next, address)}</div>`,
    };
  },
});

function renderRow(request: LoggedRequest, { time }: UserContext, keys: readonly NamedKey[]): Cell[] {
  const { at, requestId, keyId, method, path, status, errorCode, milliseconds, address } = request;
  const key = keys.find(({ id }) => id === keyId);
  return [
    time(at),
    html`<code>${method} ${path}</code><br><a class="agent" href="${here}?requestId=${requestId}">${requestId}</a>`,
    html`${badge(String(status), status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')}${errorCode && renderCode(errorCode)}`,
    `${milliseconds.toLocaleString('en')} ms`,
    html`<a href="/developer/keys/${keyId}">${key === undefined ? `API key ${keyId}` : formatKeyName(key)}</a>`,
    address,
  ];
}

/** Renders an error code. If the documentation explains the code, renders a link. */
function renderCode(code: string): SafeHtml {
  const { data } = ErrorCode.safeParse(code);
  return html`<br>${data === undefined ? html`<code>${code}</code>` : html`<a href="${docsOf(data)}"><code>${code}</code></a>`}`;
}

function filters(query: Query, keys: NamedKey[], visit: UserContext): SafeHtml {
  const { requestId, key, error } = query;
  const keyOptions = keys.map((each) => ({ value: String(each.id), label: formatKeyName(each) }));
  return html`<form class="filters" method="get" action="${here}" data-live="found" role="search">
${textField(undefined, { name: 'requestId', label: 'Request id', type: 'search', value: requestId })}
${filterField('key', 'API key', key, keyOptions)}
${filterField('error', 'Error', error, [{ value: 'any', label: 'All errors' }, ...loggedErrorCodes])}
${timeRangeFields(query, visit)}
${submit('Filter', 'plain')}</form>`;
}

function renderEmpty(query: Query): SafeHtml {
  const all = html`<p><a href="${here}">Show all requests</a></p>`;
  if (query.requestId !== undefined) {
    return html`<p>The log has no request with this id.</p>
<p>A request is missing if it is too old, if a limit rejected it (429), if its API key was invalid, if its path is unknown, or if the workspace had too many requests in the same minute.</p>${all}`;
  }
  return Object.keys(query).length > 0
    ? html`<p>No requests match your filters.</p>${all}`
    : html`<p>No requests yet. Each request with an API key appears here.</p>
<p>${linkButton('/docs/guides/first-request', 'Send your first request')}</p>`;
}

function pagination({ after }: Query, next: string | undefined, address: string): SafeHtml | null {
  if (after === undefined && next === undefined) return null;
  return html`<nav class="pager" aria-label="Pages">
${after === undefined ? html`<span>Newest</span>` : html`<a href="${withQuery(address, { after: undefined })}">Newest</a>`}
${next === undefined ? html`<span>Older</span>` : html`<a href="${withQuery(address, { after: next })}" rel="next">Older</a>`}</nav>`;
}
