import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { ApiResult } from './api.ts';
import type { FilterResult } from './filters.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** Writes `docs/performance.md` and its chart; what changed and why is taken from `changes.md`. */
export async function writeReport(result: ApiResult): Promise<void> {
  await mkdir(docs, { recursive: true });
  await writeFile(new URL('performance.svg', docs), chart(result));
  // What figures don't say.
  const changes = await readFile(new URL('changes.md', import.meta.url), 'utf8');
  await writeFile(new URL('performance.md', docs), `${markdown(result)}\n${changes}`);
}

/** The figures for a terminal. */
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

/** Lists by one filter and by the two pairs that are asked for most; of all others the slowest. */
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

/** A table that is Markdown too; the first row is its head. */
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

Made by \`pnpm bench\`; what it measures and how stands in [test/bench](../test/bench/README.md).

${tickets.toLocaleString('en')} tickets, half of them in one tenant, whose requests these are. ${machine}; PostgreSQL
and the load generator run beside the server. 16 connections, each sending its next request when the last is answered.

${pathTable(result)}
_Server_ and _PostgreSQL_ are the CPU time that each used per request. The last three columns are ratios of requests per
second, in rounds of the same run. _Bare pg_ is the same SQL on named statements under bare \`node:http\`, without key,
validation, limits or total. The _plain stack_ is Fastify over Prisma's \`findMany\` and \`count\`, without key or
validation; — where it answered nothing in time. _Secured pg_ is what is left of bare pg's when it asks as the API does,
under row-level security and with the tenant in each statement: the price of that wall.

The tenant may have every connection (\`FAIR_USE_SHARE=1\`), but for the row that says otherwise: there it has the share
that it has by default.

![Requests per second beside the two rungs](performance.svg)

How long one request takes when it is the only one:

${filterTable(result)}
Finding and following, likewise. A page of changes has up to a hundred tickets, as the first row has; cursors are those
from the middle of the tickets, and from the end.

${findingTable(result)}`;
}

const series = [
  { name: 'to bare pg', ratio: 'ratioToBarePg', color: '#2563eb' },
  { name: 'to the plain stack', ratio: 'ratioToPlainStack', color: '#16a34a' },
] as const;

/** Draws the requests per second of the API as a multiple of each rung's, path by path. */
function chart({ paths }: ApiResult): string {
  const [left, top, row, bar] = [220, 64, 40, 14];
  const height = top + paths.length * row;
  // From 0.1 to 10, of which each power of ten takes the same width.
  const xOf = (value: number) => left + (Math.log10(Math.min(10, Math.max(0.1, value))) + 1) * 300;
  const text = (x: number, y: number, content: string, anchor = 'start') =>
    `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}">${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
  const square = (x: number, color: string) => `<rect x="${x}" y="30" width="12" height="12" fill="${color}"/>`;
  const lines = [
    '<rect width="900" height="100%" fill="#ffffff"/>',
    text(left, 20, "Requests per second as a multiple of the rungs' (log scale)"),
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
