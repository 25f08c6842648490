import { mkdir, writeFile } from 'node:fs/promises';
import * as echarts from 'echarts';
import type { ApiResult } from './api.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** Writes `docs/performance.md` and its chart. */
export async function writeReport(result: ApiResult): Promise<void> {
  await mkdir(docs, { recursive: true });
  await writeFile(new URL('performance.svg', docs), chart(result));
  await writeFile(new URL('performance.md', docs), markdown(result));
}

/** The figures, aligned for a terminal and readable as Markdown. */
export function tableOf({ paths }: ApiResult): string {
  const heads = [
    'path',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'CPU µs, server',
    'CPU µs, PostgreSQL',
    '× bare pg',
    '× plain stack',
  ];
  const rows = paths.map(({ path, rps, p50Ms, p99Ms, cpuUs, ratioToBarePg, ratioToPlainStack }) =>
    [path, rps, p50Ms, p99Ms, cpuUs.process, cpuUs.postgres, ratioToBarePg, ratioToPlainStack].map(String),
  );
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return `${[heads, rule, ...rows].map(line).join('\n')}\n`;
}

function markdown(result: ApiResult): string {
  const { machine, tickets } = result;
  return `# Performance

Made by \`pnpm bench\`; what it measures and how stands in [test/bench](../test/bench/README.md).

${tickets.toLocaleString('en')} tickets, half of them in one tenant, whose requests these are. ${machine}, with PostgreSQL and
the load generator beside the server. 16 connections, each sending its next request when the last is answered.

${tableOf(result)}
The last two columns are ratios of requests per second, in rounds of the same run. *Bare pg* is the same SQL on named statements under
bare \`node:http\`, without key, validation, limits or total. The *plain stack* is Fastify over Prisma's \`findMany\` and
\`count\`, without key or validation.

![Requests per second beside the two rungs](performance.svg)
`;
}

/** Requests per second of the API as a share of each rung's, path by path. */
function chart({ paths }: ApiResult): string {
  const names = paths.map(({ path }) => path).reverse();
  const series = (name: string, ratio: 'ratioToBarePg' | 'ratioToPlainStack') => ({
    name,
    type: 'bar' as const,
    data: paths.map((path) => path[ratio]).reverse(),
    label: { show: true, position: 'right' as const },
  });
  const image = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 480 });
  image.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: {
      text: "Requests per second as a multiple of the rungs' (log scale)",
      left: 'center',
      textStyle: { fontSize: 14 },
    },
    legend: { bottom: 0 },
    grid: { left: 190, right: 60, top: 40, bottom: 60 },
    xAxis: { type: 'log', min: 0.1 },
    yAxis: { type: 'category', data: names },
    series: [series('to bare pg', 'ratioToBarePg'), series('to the plain stack', 'ratioToPlainStack')],
  });
  const svg = image.renderToSVGString();
  image.dispose();
  return `${svg}\n`;
}
