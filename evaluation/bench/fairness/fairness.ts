import { setTimeout as sleep } from 'node:timers/promises';
import { newKey } from '@itsm-api/server/auth/api-keys/key-format.ts';
import pg from 'pg';
import { openEmbedded } from '../../../server/src/embedded-postgres/embedded.ts';
import { migrateDatabase } from '../../../server/src/process/ensure-schema.ts';
import { median } from '../../../test/support/percentiles.ts';
import { addKeys, type Data, loadData } from '../api/data.ts';
import { type Measured, startServer } from '../api/servers.ts';
import { type ClientJob, type ClientResult, runClient } from './client.ts';
import { type ExpensiveList, findExpensiveLists } from './lists.ts';

export interface FairnessOptions {
  /**
   * The number of tickets of the greedy tenant, which causes the load. All other tenants together have the same number
   * of tickets.
   */
  tickets: number;
  rounds: number;
  /** The duration of each measurement in a round, in seconds. */
  seconds: number;
  dataDir: string;
  /** The loads to measure. By default, the benchmark measures all loads. */
  only: string[] | undefined;
  /** The folder for CPU profiles of the server. */
  profile: string | undefined;
  onProgress: (text: string) => void;
}

/**
 * The other tenant's latency for `GET /tickets/{id}` during a load, in milliseconds. p50 and p99 are medians of the
 * rounds.
 */
interface Beside {
  load: string;
  p50: number;
  p99: number;
  p99Runs: number[];
  /** The p99 latency under load divided by the p99 latency without load. */
  ratio: number;
  /** True if the p99 latency is at most 50 ms, or at most three times the p99 latency without load. */
  holds: boolean;
  /** The number of the other tenant's failed requests in all rounds, by status. No request may fail. */
  failed: Record<string, number>;
  /** The number of responses to the greedy tenant's requests in all rounds, by status. */
  loadResponses: Record<string, number>;
}

export interface FairnessResult {
  tickets: number;
  /** The slow lists that the greedy tenant requests. */
  lists: ExpensiveList[];
  /**
   * The response status and latency of a request with 500,000 values in its body, measured without other load. Null if
   * the run excludes the load `bodies`.
   */
  largeBody: { status: string; ms: number } | null;
  beside: Beside[];
}

/** The id of the other tenant in the data that `api/data.ts` loads. */
const otherTenant = 2;

const allowedRatio = 3;
const alwaysAllowedMs = 50;
const largeBodyAllowedMs = 100;
const alone = 'alone';

interface Fairness {
  server: Measured;
  greedy: Data;
  lists: ExpensiveList[];
  /** The requests that the other tenant sends at a constant rate. */
  other: Omit<ClientJob, 'seconds'>;
}

/** Measures the latency of one tenant while another tenant causes load (evaluation/bench/README.md). */
export async function benchFairness(options: FairnessOptions): Promise<{ table: string; result: FairnessResult }> {
  const { tickets, only, dataDir, profile, onProgress } = options;
  const database = await openEmbedded({
    dataDir,
    holder: { type: 'command' },
    settings: { shared_buffers: '2GB', max_wal_size: '8GB' },
  });
  let server: Measured | undefined;
  try {
    await migrateDatabase(database.url);
    const greedy = await loadData(database.url, 2 * tickets, onProgress);
    const nodeOptions = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    server = await startServer('apiDefaultShare', database.url, { env: { STATEMENT_TIMEOUT_MS: '' }, nodeOptions });
    const needsLists = only === undefined || only.includes('lists');
    if (needsLists) onProgress('searching for the slowest lists');
    const lists = needsLists ? await findExpensiveLists(server.url, greedy.keys[0] ?? '') : [];
    for (const { path, ms } of lists) onProgress(`  ${ms} ms: ${path}`);
    await addLargeTickets(database.url, tickets);
    const other = { url: server.url, connections: 64, perSecond: 100, requests: await readsOf(database.url) };
    const result = await measure({ server, greedy, lists, other }, options);
    return { table: format(result), result };
  } finally {
    await server?.stop();
    await database.stop();
  }
}

/**
 * Returns the number of the page that contains the 100 large tickets. The requests for slow lists don't include this
 * page, because they use only the first, middle and last pages.
 */
const largePage = (tickets: number) => Math.round((0.7 * tickets) / 100);

/**
 * Updates one page of the greedy tenant's tickets. Sets descriptions that are almost as long as the maximum of 65,535
 * bytes.
 */
async function addLargeTickets(databaseUrl: string, tickets: number): Promise<void> {
  const before = tickets - 100 * largePage(tickets);
  await withClient(databaseUrl, (client) =>
    client.query(
      `UPDATE tickets SET description = (SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 1900) n)
       WHERE tenant_id = 1 AND ordinal > ${before} AND ordinal <= ${before} + 100`,
    ),
  );
}

/** Returns requests for single tickets of the other tenant. Creates the API keys for these requests. */
async function readsOf(databaseUrl: string): Promise<ClientJob['requests']> {
  return withClient(databaseUrl, async (client) => {
    const keys = await addKeys(client, otherTenant);
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM tickets WHERE tenant_id = $1 ORDER BY ordinal LIMIT 1000',
      [otherTenant],
    );
    return rows.map(({ id }) => ({ method: 'GET' as const, path: `/tickets/${id}`, keys }));
  });
}

async function withClient<Result>(databaseUrl: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function measure(
  fairness: Fairness,
  { tickets, only, rounds, seconds, onProgress }: FairnessOptions,
): Promise<FairnessResult> {
  const { server, lists, other } = fairness;
  const loads = loadsOf(fairness, tickets).filter(({ name }) => only === undefined || only.includes(name));
  const measured = new Map<string, { other: ClientResult; load: ClientResult | undefined }[]>();
  // Warms up the server. V8 compiles the code, and PostgreSQL prepares its query plans.
  await runClient({ ...other, seconds: 5 });
  for (const load of loads) await runClient({ ...load, url: server.url, seconds: 3 });
  const largeBody = await measureLargeBody(loads, server.url);

  for (let round = 1; round <= rounds; round++) {
    for (const load of [undefined, ...loads]) {
      const loading = load && runClient({ ...load, url: server.url, seconds: seconds + 2 });
      await sleep(1000);
      const run = { other: await runClient({ ...other, seconds }), load: await loading };
      const name = load?.name ?? alone;
      measured.set(name, [...(measured.get(name) ?? []), run]);
      onProgress(`round ${round} of ${rounds}, ${name}: ${JSON.stringify(run)}`);
    }
  }
  const p99Alone = median((measured.get(alone) ?? []).map(({ other }) => other.p99));
  const beside = [...measured].map(([load, runs]): Beside => {
    const p99 = median(runs.map(({ other }) => other.p99));
    return {
      load,
      p50: rounded(median(runs.map(({ other }) => other.p50))),
      p99: rounded(p99),
      p99Runs: runs.map(({ other }) => rounded(other.p99)),
      ratio: rounded(p99 / p99Alone),
      holds: p99 <= Math.max(alwaysAllowedMs, allowedRatio * p99Alone),
      failed: withoutSuccesses(sum(runs.map(({ other }) => other.statuses))),
      loadResponses: sum(runs.map(({ load }) => load?.statuses ?? {})),
    };
  });
  return { tickets, lists, largeBody, beside };
}

interface Load extends Omit<ClientJob, 'url' | 'seconds'> {
  name: 'lists' | 'large-lists' | 'bodies' | 'keys';
}

/** Returns the loads that run while the other tenant sends requests. */
function loadsOf({ greedy: { keys }, lists }: Fairness, tickets: number): Load[] {
  const get = (path: string) => ({ method: 'GET' as const, path, keys });
  const body = `{"watcherUserIds":[${'0,'.repeat(499_999)}0]}`;
  const unknownKeys = Array.from({ length: 20_000 }, newKey);
  return [
    { name: 'lists', connections: 16, requests: lists.map(({ path }) => get(path)) },
    { name: 'large-lists', connections: 16, requests: [get(`/tickets?perPage=100&page=${largePage(tickets)}`)] },
    { name: 'bodies', connections: 1, requests: [{ method: 'POST', path: '/tickets', keys, body }] },
    { name: 'keys', connections: 64, perSecond: 500, requests: [{ ...get('/tickets'), keys: unknownKeys }] },
  ];
}

async function measureLargeBody(loads: Load[], url: string): Promise<FairnessResult['largeBody']> {
  const load = loads.find(({ name }) => name === 'bodies');
  if (load === undefined) return null;
  const { statuses, p50 } = await runClient({ ...load, url, seconds: 2 });
  return { status: Object.keys(statuses).join(), ms: rounded(p50) };
}

function sum(counts: Record<string, number>[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const [name, count] of counts.flatMap(Object.entries)) all[name] = (all[name] ?? 0) + count;
  return all;
}

function withoutSuccesses(statuses: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(statuses).filter(([status]) => status !== '200'));
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

const described: Record<string, string> = {
  lists: 'expensive lists, 16 connections',
  'large-lists': 'lists of 6 MB, 16 connections',
  bodies: '1 MB bodies of 500,000 values',
  keys: '500 unknown keys/s',
};

function format({ tickets, lists, largeBody, beside }: FairnessResult): string {
  const lines = [
    `GET /tickets/{id} of one tenant during the load of another, with ${tickets.toLocaleString('en')} tickets of the greedy tenant`,
    '',
    row(['Load', 'p50 ms', 'p99 ms', '× alone', 'in limit', 'p99 of the rounds']),
    ...beside.map(({ load, p50, p99, ratio, holds, p99Runs }) =>
      row([described[load] ?? load, String(p50), String(p99), String(ratio), holds ? 'yes' : 'NO', p99Runs.join(' ')]),
    ),
    '',
    ...beside.flatMap(({ load, failed, loadResponses }) => [
      `${described[load] ?? load}: ${JSON.stringify(loadResponses)}; failed requests of the other tenant: ${JSON.stringify(failed)}`,
    ]),
    '',
    ...lists.map(({ path, ms }) => `${String(ms).padStart(8)} ms  ${path}`),
  ];
  if (largeBody !== null) {
    const { status, ms } = largeBody;
    lines.push('', `A body of 500,000 values: ${status} in ${ms} ms (at most ${largeBodyAllowedMs})`);
  }
  return `${lines.join('\n')}\n`;
}

function row([name = '', ...cells]: string[]): string {
  return `${name.padEnd(34)}${cells.map((cell) => `  ${cell.padStart(10)}`).join('')}`;
}
