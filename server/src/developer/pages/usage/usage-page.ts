import { Id, integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import { getKey } from '../../../auth/api-keys/api-keys.ts';
import {
  countUsage,
  findKeyNames,
  keysNearLimits,
  type NamedKey,
  type NearLimit,
  type Range,
  ranges,
  slowestEndpoints,
  type UsageCounts,
  type UsageOf,
} from '../../../resources/usage/queries.ts';
import { serializeId } from '../../../shared/serialize.ts';
import { nearPercent, type Outcome, rejectedOutcomes } from '../../../usage/dimensions.ts';
import { page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { barChart, type Chart } from '../../ui/bar-chart.ts';
import { optional, selectField, submit } from '../../ui/form-fields.ts';
import { badge, emptyState, facts, html, linkButton, type SafeHtml, section, table, withQuery } from '../../ui/html.ts';
import { groupsChart, latencyChart, rejectionsChart, statusChart } from './usage-charts.ts';

const here = '/developer/usage';
const roles = ['ADMIN', 'AGENT'] as const;

const rangeNames: Record<Range, string> = { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days' };
const stepNames: Record<Range, string> = { '1h': 'minute', '24h': 'hour', '7d': 'hour' };

/** The query parameters of the usage page. */
const Shown = z.strictObject({
  range: z.enum(Object.keys(ranges) as [Range, ...Range[]]).default('24h'),
  key: optional(integerFromText(Id)),
});
type Shown = z.output<typeof Shown>;

type CountsChart = (counts: UsageCounts, zone: string | null) => Chart;

/** The page that shows the usage of API keys. Agents see only the usage of their own keys. */
export const usage = page({
  path: here,
  menu: 'Usage',
  roles,
  query: Shown,
  async show({ visit, query }) {
    const keys = await listVisibleKeys(visit);
    const filter = await getUsageFilter(visit, query, keys);
    const { context } = visit;
    const counts = await countUsage(context, filter);
    const slowest = await slowestEndpoints(context, filter);
    const near = await keysNearLimits(context, filter);
    const parts =
      counts.byOutcome.size === 0
        ? [renderEmpty(keys)]
        : [
            renderTotals(counts),
            ...renderCharts({ visit, query, counts }),
            renderEndpoints(latencyChart(slowest)),
            renderLimits({ visit, query, keys, near }),
          ];
    return {
      title: 'Usage',
      body: html`<p class="lead">API requests with ${isAdmin(visit) ? "the workspace's" : 'your'} API keys. New requests appear within a few seconds.</p>
${filters(query, keys)}<div id="report">${parts}</div>`,
    };
  },
});

export function isAdmin({ user }: UserContext): boolean {
  return user.account.role === 'ADMIN';
}

/** Returns the API keys whose usage and requests the user may see. */
export function listVisibleKeys(visit: UserContext): Promise<NamedKey[]> {
  return findKeyNames(visit.context, { user: isAdmin(visit) ? undefined : visit.context.userId });
}

/**
 * Returns the filter for the selected API keys and time range.
 * @throws ApiError NOT_FOUND if the user may not see the selected key
 */
async function getUsageFilter(visit: UserContext, { range, key }: Shown, keys: NamedKey[]): Promise<UsageOf> {
  if (key !== undefined) {
    const owner = isAdmin(visit) ? {} : { user: serializeId(visit.context.userId) };
    const { id } = await getKey(visit.context, key, owner);
    return { range, keyIds: [BigInt(id)] };
  }
  return isAdmin(visit) ? { range } : { range, keyIds: keys.map(({ id }) => BigInt(id)) };
}

function filters({ range, key }: Shown, keys: NamedKey[]): SafeHtml {
  const all = { value: '', label: 'All API keys' };
  return html`<form method="get" class="filters" data-live="report">
${selectField(undefined, {
  name: 'range',
  label: 'Time range',
  value: range,
  options: Object.entries(rangeNames).map(([value, label]) => ({ value, label })),
})}
${selectField(undefined, {
  name: 'key',
  label: 'API key',
  value: key,
  options: [all, ...keys.map((each) => ({ value: String(each.id), label: formatKeyName(each) }))],
})}
${submit('Show', 'plain')}</form>`;
}

export function formatKeyName({ name, lastFour }: NamedKey): string {
  return `${name} (…${lastFour})`;
}

function renderEmpty(keys: NamedKey[]): SafeHtml {
  if (keys.length === 0) return emptyState(noKey);
  return emptyState(
    html`<p>No requests in this time range. Choose a longer range, or send your first request.</p>${linkButton('/docs/guides/first-request', 'Send your first request')}`,
  );
}

const noKey = html`<p>No API keys yet. Create one to see its requests here.</p>
${linkButton('/developer/keys/new', 'Create API key', 'main')}`;

function renderTotals({ byOutcome }: UsageCounts): SafeHtml {
  const count = (...outcomes: Outcome[]) =>
    outcomes.reduce((sum, outcome) => sum + addUp(byOutcome.get(outcome) ?? []), 0);
  const all = count(...byOutcome.keys());
  const part = (some: number) => (some === 0 ? '0' : `${formatNumber(some)} (${formatPercent(some, all)})`);
  const numbers = facts({
    Requests: formatNumber(all),
    Successful: part(count('SUCCESSFUL', 'REDIRECTION')),
    'Client errors': part(count('CLIENT_ERROR')),
    'Rejected by a limit': part(count(...rejectedOutcomes)),
    'Server errors': part(count('SERVER_ERROR')),
  });
  return html`<div class="numbers">${numbers}</div>`;
}

interface Report {
  visit: UserContext;
  query: Shown;
  counts: UsageCounts;
}

/** Renders the charts of requests over time. */
function renderCharts({ visit, query, counts }: Report): SafeHtml[] {
  const zone = visit.user.account.timeZone;
  const step = stepNames[query.range];
  const parts: [string, CountsChart][] = [
    [`Requests per ${step}, by status`, statusChart],
    [`Requests per ${step}, by endpoint group`, groupsChart],
    [`Rejected requests per ${step}, by limit`, rejectionsChart],
  ];
  return parts.map(([title, chartOf]) => {
    const chart = chartOf(counts, zone);
    if (chart.bars.length === 0) return section(title, html`<p>No requests were rejected by a limit.</p>`);
    return section(title, [figure(title, chart), chartTable(title, chart, { visit, query, counts })]);
  });
}

function figure(title: string, chart: Chart): SafeHtml {
  return barChart(chart, `${title}. The table below lists the values.`);
}

/** Renders the values of a chart as a table. Omits time steps without requests. */
function chartTable(title: string, { bars }: Chart, { visit, query, counts }: Report): SafeHtml {
  const rows = counts.steps.flatMap((step, position) => {
    const values = bars.map(({ values }) => values[position] ?? 0);
    return addUp(values) === 0 ? [] : [[visit.time(step.toISOString()), ...values.map(formatNumber)]];
  });
  const start = `Start of the ${stepNames[query.range]}`;
  return asTable(table(title, [start, ...bars.map(({ name }) => name)], rows, 'No data.'));
}

function asTable(shown: SafeHtml): SafeHtml {
  return html`<details class="figures"><summary>Show as table</summary>${shown}</details>`;
}

function renderEndpoints(chart: Chart): SafeHtml {
  const title = 'Slowest endpoints';
  if (chart.labels.length === 0) return section(title, html`<p>No latency data in this time range.</p>`);
  const rows = chart.labels.map((endpoint, position) => [
    html`<code>${endpoint}</code>`,
    ...chart.bars.map(({ values }) => `${formatNumber(values[position] ?? 0)} ms`),
  ]);
  return section(title, [
    figure(title, chart),
    asTable(table(title, ['Endpoint', ...chart.bars.map(({ name }) => name)], rows, 'No data.')),
  ]);
}

interface Limits {
  visit: UserContext;
  query: Shown;
  keys: NamedKey[];
  near: NearLimit[];
}

function renderLimits({ visit, query, keys, near }: Limits): SafeHtml {
  const title = 'API keys near a limit';
  const names = new Map(keys.map((key) => [key.id, formatKeyName(key)]));
  const rows = near.map(({ keyId, limit, peak, rejected, lastAt }) => [
    html`<a href="${withQuery(here, { range: query.range, key: keyId })}">${names.get(keyId) ?? `API key ${keyId}`}</a>`,
    limit === 'global' ? 'all endpoints' : `${limit} endpoints`,
    peak >= 100 ? badge('100 %', 'bad') : badge(`${peak} %`, 'warn'),
    formatNumber(rejected),
    visit.time(lastAt.toISOString()),
  ]);
  const none = `No API key used ${nearPercent} % or more of a limit.`;
  return section(title, [
    html`<p>Each API key has a limit for all endpoints and a limit for each endpoint group. <a href="/docs/guides/rate-limits">About rate limits</a></p>`,
    table(
      title,
      ['API key', 'Limit', 'Peak usage', 'Rejected', `Last ${stepNames[query.range]} near the limit`],
      rows,
      none,
    ),
  ]);
}

function addUp(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function formatNumber(value: number): string {
  return value.toLocaleString('en');
}

function formatPercent(some: number, all: number): string {
  const percent = (some / all) * 100;
  return percent < 1 ? 'below 1 %' : `${Math.floor(percent)} %`;
}
