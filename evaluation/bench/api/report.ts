import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { ApiResult } from './api.ts';
import type { FilterResult } from './filters.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** The first heading of the part of `docs/performance.md` that isn't generated. */
const keptHeading = '## Effect of tenant isolation';

/** Writes `docs/performance.md` and its chart. Keeps the text of the page from the section on tenant isolation on. */
export async function writeReport(result: ApiResult): Promise<void> {
  await mkdir(docs, { recursive: true });
  await writeFile(new URL('performance.svg', docs), chart(result));
  const page = new URL('performance.md', docs);
  const [, kept = ''] = (await readFile(page, 'utf8')).split(`\n${keptHeading}\n`);
  await writeFile(page, `${markdown(result)}\n${keptHeading}\n${kept}`);
}

/** Formats the results for a terminal. */
export function tablesOf(result: ApiResult): string {
  return `${pathTable(result)}\n${filterTable(result)}\n${findingTable(result)}`;
}

function pathTable({ paths }: ApiResult): string {
  const heads = [
    'path',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'server µs',
    'PostgreSQL µs',
    '× bare pg',
    '× plain stack',
    'secured pg',
  ];
  const rows = paths.map(({ path, rps, p50Ms, p99Ms, cpuUs, ...ratios }) => [
    ...[path, String(rps), p50Ms.toFixed(1), p99Ms.toFixed(1), String(cpuUs.process), String(cpuUs.postgres)],
    ...[ratios.ratioToBarePg, ratios.ratioToPlainStack, ratios.ratioOfSecuredPg].map(
      (ratio) => ratio?.toFixed(2) ?? '—',
    ),
  ]);
  return aligned([heads, ...rows]);
}

/**
 * Formats the latency of filtered lists. Shows all lists that use a single filter or one of two common pairs of
 * filters, and the slowest of the other lists.
 */
function filterTable({ filters }: ApiResult): string {
  const isNamed = ({ query }: FilterResult) => {
    const names = [...new URLSearchParams(query).keys()].filter((name) => name !== 'page').sort();
    return names.length === 1 || ['assigneeId status', 'priority status'].includes(names.join(' '));
  };
  const others = filters.filter((each) => !isNamed(each)).sort((a, b) => b.p99Ms - a.p99Ms);
  const row = (label: string, { p50Ms, p99Ms }: FilterResult) => [label, p50Ms.toFixed(1), p99Ms.toFixed(1)];
  return aligned([
    ['list by', 'p50 ms', 'p99 ms'],
    ...filters.filter(isNamed).map((each) => row(each.query, each)),
    ...others.slice(0, 1).map((each) => row(`slowest of ${others.length} others: ${each.query}`, each)),
  ]);
}

function findingTable({ finding }: ApiResult): string {
  return aligned([
    ['GET', 'found', 'p50 ms', 'p99 ms'],
    ...finding.map(({ request, found = '', p50Ms, p99Ms }) => [request, found, p50Ms.toFixed(1), p99Ms.toFixed(1)]),
  ]);
}

/** Formats an aligned Markdown table. The first row is the header. */
function aligned(rows: string[][]): string {
  const [heads = [], ...others] = rows;
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return `${[heads, rule, ...others].map(line).join('\n')}\n`;
}

function markdown(result: ApiResult): string {
  const { machine, tickets } = result;
  return `# Performance

\`pnpm bench\` generates this page. [evaluation/bench](../evaluation/bench/README.md) describes what the benchmark
measures.

The database contains ${tickets.toLocaleString('en')} tickets. Half of the tickets belong to one tenant, which sends all
requests. The run used ${machine}. PostgreSQL and the load generator ran on the same machine. The load generator had 16
connections. Each connection sent the next request when it had received a response.

${pathTable(result)}
The columns _server_ and _PostgreSQL_ contain the CPU time per request. The last three columns are ratios of throughputs
in the same run:

- _× bare pg_: the throughput of the API, divided by the throughput of a \`node:http\` server without API keys,
  validation, limits or totals. Both servers send the same SQL in prepared statements.
- _× plain stack_: the throughput of the API, divided by the throughput of a Fastify server without API keys or
  validation. The Fastify server uses Prisma's \`findMany\` and \`count\`. "—" means that requests timed out.
- _secured pg_: the throughput of bare pg with row-level security, divided by the throughput of bare pg without
  row-level security.

In this benchmark, the tenant may use every connection (\`TENANT_CONCURRENCY_SHARE=1\`). Only the row "a quarter of the
connections" shows results with the default share.

![Throughput compared with the two reference servers](performance.svg)

The following table shows the latency of a single request without other load:

${filterTable(result)}
The following table shows the latency of search and change feeds without other load. A page of changes has up to 100
rows. The first cursor points to the middle of the tickets, and the second cursor points to the end.

${findingTable(result)}`;
}

const series = [
  { name: 'to bare pg', ratio: 'ratioToBarePg', color: '#2563eb' },
  { name: 'to the plain stack', ratio: 'ratioToPlainStack', color: '#16a34a' },
] as const;

/** Draws a chart of the API's throughput per path, relative to the throughput of the reference servers. */
function chart({ paths }: ApiResult): string {
  const [left, top, row, bar] = [220, 64, 40, 14];
  const height = top + paths.length * row;
  // The x-axis has a logarithmic scale from 0.1 to 10.
  const xOf = (value: number) => left + (Math.log10(Math.min(10, Math.max(0.1, value))) + 1) * 300;
  const text = (x: number, y: number, content: string, anchor = 'start') =>
    `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}">${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
  const square = (x: number, color: string) => `<rect x="${x}" y="30" width="12" height="12" fill="${color}"/>`;
  const lines = [
    '<rect width="900" height="100%" fill="#ffffff"/>',
    text(left, 20, 'Throughput as a multiple of the reference servers (log scale)'),
    ...series.map(
      ({ name, color }, index) => square(left + index * 160, color) + text(left + 18 + index * 160, 41, name),
    ),
    ...[0.1, 1, 10].map(
      (mark) =>
        `<path d="M${xOf(mark)} ${top - 4}V${height}" stroke="#cbd5e1"/>${text(xOf(mark), top - 8, `${mark}`, 'middle')}`,
    ),
    ...paths.flatMap((path, place) => [
      text(left - 10, top + place * row + 18, path.path, 'end'),
      ...series.flatMap(({ ratio, color }, index) => {
        const [value, y] = [path[ratio], top + place * row + index * (bar + 2)];
        if (value === null) return [];
        const width = (xOf(value) - left).toFixed(1);
        return `<rect x="${left}" y="${y}" width="${width}" height="${bar}" fill="${color}"/>${text(xOf(value) + 6, y + 11, `${value}`)}`;
      }),
    ]),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 ${height + 8}" font-family="sans-serif" font-size="12">
${lines.join('\n')}
</svg>
`;
}
