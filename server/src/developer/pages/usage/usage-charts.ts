import { type Group, groups } from '@itsm-api/contract';
import type { EndpointLatency, UsageCounts } from '../../../resources/usage/queries.ts';
import { keyedEndpoints, type Outcome, type RejectedOutcome, rejectedOutcomes } from '../../../usage/dimensions.ts';
import type { Bars, Chart } from '../../ui/bar-chart.ts';
import { createAxisFormatter } from '../../ui/format-time.ts';

/** The series in the chart of requests by status. */
const statusSeries: { name: string; color: string; of: readonly Outcome[] }[] = [
  { name: 'Successful (2xx)', color: '#2563eb', of: ['SUCCESSFUL'] },
  { name: 'Not modified (3xx)', color: '#0891b2', of: ['REDIRECTION'] },
  { name: 'Client errors (4xx)', color: '#d97706', of: ['CLIENT_ERROR'] },
  { name: 'Rejected by a limit (429)', color: '#9333ea', of: rejectedOutcomes },
  { name: 'Server errors (5xx)', color: '#dc2626', of: ['SERVER_ERROR'] },
];

const limits: Record<RejectedOutcome, { name: string; color: string }> = {
  GLOBAL_LIMIT: { name: 'Limit for all endpoints', color: '#9333ea' },
  GROUP_LIMIT: { name: 'Limit for the endpoint group', color: '#d97706' },
  CONCURRENCY_LIMIT: { name: 'Concurrency limit', color: '#0891b2' },
};

const groupColors: Record<Group, string> = {
  tickets: '#2563eb',
  assets: '#d97706',
  projects: '#16a34a',
  users: '#9333ea',
  webhooks: '#0891b2',
  kb: '#db2777',
};

/**
 * Returns the chart of requests by status.
 * @param zone the time zone of the axis labels
 */
export function statusChart({ steps, byOutcome }: UsageCounts, zone: string | null): Chart {
  const bars = statusSeries.map(({ name, color, of }) => ({
    name,
    color,
    values: steps.map((_, step) => of.reduce((sum, outcome) => sum + (byOutcome.get(outcome)?.[step] ?? 0), 0)),
  }));
  return columns(steps, zone, bars);
}

/** Returns the chart of requests by endpoint group. */
export function groupsChart({ steps, byGroup }: UsageCounts, zone: string | null): Chart {
  const bars = groups.map((group) => ({ name: group, color: groupColors[group], values: byGroup.get(group) ?? [] }));
  return columns(steps, zone, bars);
}

/** Returns the chart of rejected requests by limit. */
export function rejectionsChart({ steps, byOutcome }: UsageCounts, zone: string | null): Chart {
  const bars = rejectedOutcomes.map((outcome) => ({ ...limits[outcome], values: byOutcome.get(outcome) ?? [] }));
  return columns(steps, zone, bars);
}

const endpointNames = new Map(keyedEndpoints.map(({ id, call }) => [id, call]));

/** Returns the chart of the slowest endpoints. */
export function latencyChart(endpoints: readonly EndpointLatency[]): Chart {
  return {
    form: 'rows',
    labels: endpoints.map(({ endpoint }) => endpointNames.get(endpoint) ?? endpoint),
    unit: 'ms',
    bars: [
      { name: 'p50 (50% of requests)', color: '#60a5fa', values: endpoints.map(({ p50 }) => round(p50)) },
      { name: 'p95 (95% of requests)', color: '#2563eb', values: endpoints.map(({ p95 }) => round(p95)) },
    ],
  };
}

/** Rounds to two significant digits, which is the precision of the latency histogram. */
function round(milliseconds: number): number {
  return Number(milliseconds.toPrecision(2));
}

/** Returns a column chart. Omits series without values. */
function columns(steps: Date[], zone: string | null, bars: Bars[]): Chart {
  const labels = steps.map(createAxisFormatter(zone, { days: steps.length > 60 }));
  return { form: 'columns', labels, bars: bars.filter(({ values }) => values.some((value) => value > 0)) };
}
