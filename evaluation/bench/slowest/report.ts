import { type Percentiles, percentiles } from '../../../test/support/percentiles.ts';
import { describeRun, writeSection } from '../performance-page.ts';
import type { Beside } from './beside.ts';
import { limits, type Ranked } from './measure.ts';

/** The result of the search. */
export interface SlowestResult extends Summary {
  tickets: number;
  seed: number;
  /** All measured requests, the slowest first. */
  ranking: Ranked[];
}

interface Summary {
  all: Percentiles;
  /** The percentiles of each kind of request, with the number of requests. */
  kinds: Record<string, Percentiles & { count: number }>;
  /** The number of responses with each status. */
  statuses: Record<string, number>;
}

const listed = 10;

export function summarize(ranking: Ranked[]): Summary {
  const of = (some: Ranked[]) => percentiles(some.map(({ ms }) => ms));
  const byKind = Object.groupBy(ranking, ({ kind }) => kind);
  const byStatus = Object.groupBy(ranking, ({ status }) => status);
  return {
    all: of(ranking),
    kinds: Object.fromEntries(
      Object.entries(byKind).map(([kind, some]) => [kind, { ...of(some), count: some.length }]),
    ),
    statuses: Object.fromEntries(Object.entries(byStatus).map(([status, some]) => [status, some?.length ?? 0])),
  };
}

/** Returns true if all latencies are within the limits, and each request succeeded. */
export function isGood({ all, statuses }: Summary): boolean {
  const isFast = all.p50 <= limits.p50 && all.p99 <= limits.p99 && all.max <= limits.max;
  return isFast && Object.keys(statuses).every((status) => status === '200');
}

/** Writes the section of the page about performance. */
export function writeResult(result: SlowestResult): Promise<void> {
  return writeSection(
    'Slowest requests',
    `\`pnpm bench slowest\` draws requests from the contract, and sends them one at a time
([method](../evaluation/bench/README.md#slowest-requests)). The database contains ${result.tickets.toLocaleString('en')} tickets
with skewed values. This run was ${describeRun()}:

${tableOf(result)}`,
  );
}

/** Formats the distribution and the ranking as Markdown. */
export function tableOf({ ranking, all, kinds }: SlowestResult): string {
  const row = (name: string, count: number, { p50, p95, p99, max }: Percentiles) =>
    `| ${[name, count, ...[p50, p95, p99, max].map(toMs)].join(' | ')} |`;
  const slowest = ranking.slice(0, listed).map(({ request, ms, cpuMs, found, isCapped }) => {
    const total = found === undefined ? '' : `${found}${isCapped ? ' and more' : ''}`;
    return `| ${[toMs(ms), toMs(cpuMs), total].join(' | ')} | \`${decodeURI(request).replace(/cursor=.*/, 'cursor=…')}\` |`;
  });
  return [
    '| requests | count | p50 ms | p95 ms | p99 ms | max ms |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    row('all', ranking.length, all),
    ...Object.entries(kinds).map(([kind, figures]) => row(kind, figures.count, figures)),
    '',
    '| ms | CPU ms | found | request |',
    '| ---: | ---: | ---: | --- |',
    ...slowest,
    '',
  ].join('\n');
}

/** Formats the latencies of another tenant during the slowest requests. */
export function besideTable(beside: Beside[]): string {
  const rows = beside.map(({ hasRateLimits, reads, p99Alone, p99, ratio, statuses }) =>
    [
      hasRateLimits ? 'default' : 'off',
      reads,
      toMs(p99Alone),
      toMs(p99),
      ratio.toFixed(1),
      JSON.stringify(statuses),
    ].join(' | '),
  );
  const head = ['rate limits | requests | p99 alone | p99 | ratio | responses', '--- | --- | ---: | ---: | ---: | ---'];
  return `${[...head, ...rows].map((row) => `| ${row} |`).join('\n')}\n`;
}

function toMs(ms: number): string {
  return ms < 10 ? ms.toFixed(1) : ms.toFixed(0);
}
