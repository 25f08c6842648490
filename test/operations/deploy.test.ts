import { readFile } from 'node:fs/promises';
import { pathPrefix } from '@itsm-api/contract';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { steadyPort } from '../support/postgres-server.ts';
import { type ServerProcess, spawnServer } from '../support/server-process.ts';
import { type Scraped, scraped } from './scraped.ts';

/* Checks that the alerts and the dashboard use only metrics that a running server exports. */
const root = new URL('../../', import.meta.url);
const readText = (name: string) => readFile(new URL(name, root), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

/** The metrics that Prometheus itself adds to each scrape target. */
const prometheusMetrics = new Set(['up']);
const targetLabels = ['job', 'instance'];

let database: TestDatabase;
let server: ServerProcess;
let operations: string;
let metrics: Scraped;
let rules: Rule[];
let panels: Panel[];

beforeAll(async () => {
  database = await cloneDatabase();
  const [port, operationsPort] = [await steadyPort(), await steadyPort()];
  server = spawnServer({
    DATABASE_URL: database.url,
    WEBHOOK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    DRAIN_SECONDS: '0',
    CELL: '7',
    PORT: String(port),
    OPERATIONS_PORT: String(operationsPort),
  });
  await server.ready;
  operations = `http://127.0.0.1:${operationsPort}`;
  await fetch(`http://127.0.0.1:${port}${pathPrefix}/ping`);
  metrics = scraped(await (await fetch(`${operations}/metrics`)).text());
  rules = parse(await readText('deploy/prometheus-alerts.yaml')).groups.flatMap(
    (group: { rules: Rule[] }) => group.rules,
  );
  panels = JSON.parse(await readText('deploy/grafana-dashboard.json')).panels;
});
afterAll(async () => {
  server.child.kill('SIGTERM');
  await server.exited;
  await database.drop();
});

/**
 * Returns the metrics in a PromQL expression, each with the labels in its filters and in all groupings of the
 * expression.
 * @throws if the expression is not valid PromQL
 */
function readExpression(expr: string): { metric: string; labels: string[] }[] {
  const text = expr.replaceAll('$__rate_interval', '5m');
  const found: { metric: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  parser.parse(text).iterate({
    enter({ name, type, from, to, node }) {
      if (type.isError) throw new Error(`Not PromQL at ${from}: ${expr}`);
      const word = text.slice(from, to);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') found.push({ metric: word, labels: [] });
      if (name !== 'LabelName') return;
      if (node.parent?.name === 'GroupingLabels') grouping.push(word);
      else found.at(-1)?.labels.push(word);
    },
  });
  if (found.length === 0) throw new Error(`Names no metric: ${expr}`);
  return found.map(({ metric, labels }) => ({ metric, labels: [...labels, ...grouping] }));
}

/** Returns an error for each metric or label that an expression uses but the server doesn't export. */
function findMismatches(expr: string): string[] {
  return readExpression(expr).flatMap(({ metric, labels }) => {
    if (prometheusMetrics.has(metric)) return [];
    const base = metric.replace(/_(bucket|sum|count)$/, '');
    if (!metrics.types.has(metric) && metrics.types.get(base) !== 'histogram')
      return [`there is no ${metric}: ${expr}`];
    // A histogram without observations has no series, so its labels are unknown.
    const known = metrics.values(metric).length === 0 ? undefined : metrics.labelsOf(metric);
    const unknown = labels.filter((label) => known?.has(label) === false && !targetLabels.includes(label));
    return unknown.map((label) => `${metric} has no label ${label}: ${expr}`);
  });
}

it('reports unknown metrics, unknown labels and syntax errors in PromQL expressions', () => {
  expect(findMismatches('sum(itsm_deliveries_due)')).toEqual([]);
  expect(findMismatches('sum(rate(itsm_http_request_total[5m]))')).toHaveLength(1);
  expect(findMismatches('itsm_deliveries_total{result="failed"}')).toHaveLength(1);
  expect(() => findMismatches('sum(itsm_deliveries_due')).toThrow('Not PromQL');
});

it('has a valid query and a runbook link in each alert', async () => {
  const headings = [...(await readText('docs/operations/monitor-and-repair.md')).matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
  );
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr, labels, annotations } of rules) {
    expect(findMismatches(expr), alert).toEqual([]);
    expect(['page', 'ticket'], alert).toContain(labels.severity);
    const [page, anchor] = annotations.runbook.split('#');
    expect(page, alert).toBe('docs/operations/monitor-and-repair.md');
    expect(headings, alert).toContain(anchor);
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

it('uses every exported metric in the dashboard or an alert', () => {
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(shown.length).toBeGreaterThan(15);
  expect(shown.flatMap(findMismatches)).toEqual([]);
  // Each metric that starts with `itsm_` must occur in at least one alert or panel.
  const used = new Set(
    [...shown, ...rules.map(({ expr }) => expr)].flatMap((expr) => readExpression(expr).map(({ metric }) => metric)),
  );
  const ours = [...metrics.types].filter(([name]) => name.startsWith('itsm_'));
  const unused = ours.filter(([name, type]) => !used.has(type === 'histogram' ? `${name}_bucket` : name));
  expect(unused).toEqual([]);
});

it('names the cell or the process in each alert', () => {
  for (const { alert, annotations } of rules) {
    expect(annotations.summary, alert).toMatch(/\{\{ \$labels\.(cell|instance) \}\}/);
  }
});

it('exports metrics about the process, its database and its health checks, with the cell', async () => {
  const cell = { cell: '7' };
  for (const check of ['database', 'migrations', 'keyListener', 'rateLimitStore', 'wakeListener', 'workerLoops']) {
    expect(metrics.value('itsm_check_ok', { check, ...cell }), check).toBeDefined();
  }
  expect(metrics.value('itsm_check_ok', { check: 'database', ...cell })).toBe(1);
  expect(metrics.value('nodejs_eventloop_lag_p99_seconds', cell)).toBeGreaterThan(0);
  expect(metrics.value('itsm_deliveries_due', cell)).toBe(0);
  const ping = { method: 'GET', route: `${pathPrefix}/ping`, status: '200' };
  expect(metrics.value('itsm_http_requests_total', { ...ping, ...cell })).toBe(1);
  expect(await (await fetch(`${operations}/tenants`)).json()).toEqual({
    minutes: 5,
    requests: [],
    connectionMs: [],
    deliveries: [],
  });
});
