import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import pg from 'pg';
import { percentiles } from '../../test/support/percentiles.ts';
import { loadData } from './api/data.ts';
import { type Measured, startServer } from './api/servers.ts';

/** The latency of a ticket list with two filters, measured with one request at a time. */
interface PairResult {
  query: string;
  found: number;
  /** Whether more than 100,000 tickets match. */
  isCapped: boolean;
  ms: number;
}

interface Options {
  dataDir: string;
  tickets: number;
  onProgress: (text: string) => void;
}

const pairCount = 573;
const maxMs = 500;

/** The values of each filter. Some match more than 100,000 of the 562,000 tickets of the largest tenant. */
const values: Record<string, string[]> = {
  status: ['OPEN', 'OPEN,PENDING,RESOLVED', 'CANCELLED'],
  priority: ['LOW', 'LOW,HIGH', 'CRITICAL'],
  type: ['INCIDENT', 'INCIDENT,CHANGE', 'CHANGE'],
  category: ['NETWORK', 'NETWORK,EMAIL'],
  assigneeId: ['5', '5,6,7', 'none', 'none,5', '999999999'],
  teamId: ['1', '4', 'none', 'none,4', '3,4'],
  requesterId: ['20', '11', '20,11', '4201'],
  parentId: ['2'],
  watcherUserId: ['10', '9', '9,10'],
  categoryConfigId: ['cat-7', 'cat-8'],
  assetId: ['4', '3', '3,4'],
  tag: ['common', 'quarter', 'common,quarter', 'tag-2', 'tag-1'],
  'customFields[mark]': ['big', 'small', 'big,small'],
  createdSince: ['2015-01-01', '2020-04-10', '2020-07-14', '2030-01-01'],
  createdBefore: ['2030-01-01', '2020-04-10', '2020-02-20', '2020-01-02'],
  dueSince: ['2001-01-01', '2015-01-01', '2020-05-01'],
  dueBefore: ['2030-01-01', '2020-05-01', '2020-02-20', '2004-01-01'],
  plannedSince: ['2015-01-01', '2020-05-01'],
  plannedBefore: ['2030-01-01', '2020-05-01'],
  approvalStatus: ['PENDING', 'PENDING,APPROVED', 'NONE'],
  overdue: ['true'],
};

/** Measures ticket lists with random pairs of filters, in a tenant in which many filters match more than 100,000 tickets. */
export async function benchFilterPairs({ dataDir, tickets, onProgress }: Options) {
  const database = await openEmbedded({ dataDir, holder: { type: 'command' } });
  await migrateDatabase(database.url);
  const { keys } = await loadData(database.url, tickets, onProgress, { texts: false });
  onProgress('adding values that many tickets have');
  await addCommonValues(database.url);
  const server = await startServer('api', database.url);
  try {
    const pairs = await measurePairs(server, keys[0] ?? '', onProgress);
    const result = { ...percentiles(pairs.map(({ ms }) => ms)), pairs };
    return { table: tableOf(pairs), result, good: result.max <= maxMs };
  } finally {
    await server.stop();
    // Waits until PostgreSQL has closed the connections of the server.
    await sleep(500);
    await database.stop();
  }
}

/**
 * Sends each request twice, because the first one can read from the disk. Sends slow requests three more times, because
 * other programs of the machine can delay them. Returns the fastest latency.
 */
async function measurePairs(
  { url }: Pick<Measured, 'url'>,
  key: string,
  onProgress: (text: string) => void,
): Promise<PairResult[]> {
  const results: PairResult[] = [];
  for (const [i, query] of choosePairs().entries()) {
    if (i % 50 === 0) onProgress(`pairs of filters: ${i} of ${pairCount}`);
    const send = async () => {
      const startedAt = performance.now();
      const response = await fetch(`${url}/api/public/v1/tickets?${query}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      if (!response.ok) throw new Error(`${query} returned ${response.status}: ${await response.text()}`);
      const { meta } = (await response.json()) as { meta: { totalCount: number; totalCountCapped?: boolean } };
      return {
        query,
        found: meta.totalCount,
        isCapped: meta.totalCountCapped ?? false,
        ms: performance.now() - startedAt,
      };
    };
    const sent = [await send(), await send()];
    if (sent.every(({ ms }) => ms > maxMs)) sent.push(await send(), await send(), await send());
    results.push(sent.reduce((fastest, each) => (each.ms < fastest.ms ? each : fastest)));
  }
  return results;
}

/** Returns the same pairs of values of different filters in each run. */
function choosePairs(): string[] {
  const all = Object.entries(values).flatMap(([name, of]) => of.map((value) => ({ name, value })));
  const pairs = all.flatMap((first, index) =>
    all
      .slice(index + 1)
      .filter(({ name }) => name !== first.name)
      .map((second) => [first, second].map(({ name, value }) => `${name}=${toTime(value)}`).join('&')),
  );
  // A generator of random numbers with a fixed seed (Numerical Recipes).
  let seed = 64;
  const random = () => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return seed / 2 ** 32;
  };
  return Array.from({ length: pairCount }, () => pairs.splice(Math.floor(random() * pairs.length), 1)).flat();
}

function toTime(value: string): string {
  return /^\d{4}-/.test(value) ? `${value}T00:00:00Z` : value;
}

/** Gives many tickets of the largest tenant the same values, and copies the values to the tables of the filters. */
async function addCommonValues(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const pick = (of: string[]) =>
    `(ARRAY[${of.map((value) => `'${value}'`).join()}])[1 + floor(random() * ${of.length})]`;
  const add = (column: string, condition: string, value: string) =>
    `${column} = CASE WHEN ${condition} THEN array_append(${column}, ${value}) ELSE ${column} END`;
  await client.query(`SET session_replication_role = replica;
    INSERT INTO assets (tenant_id, id, name, asset_tag, type, updated_at) VALUES (1, 4, 'Asset 4', 'A4', 'SERVER', now());
    INSERT INTO teams (tenant_id, id, name, name_key, updated_at) VALUES (1, 4, 'Team 4', 'team 4', now());
    INSERT INTO custom_field_definitions (tenant_id, resource, key, type, label, options, filterable, backfilled, updated_at)
      SELECT 1, 'TICKET', 'mark', 'SELECT', 'Mark', json_agg(json_build_object('value', value, 'label', value, 'active', true)),
        true, true, now() FROM unnest(ARRAY['big', 'small']) AS value;
    UPDATE tickets SET
      status = ${pick(['OPEN', 'OPEN', 'OPEN', 'OPEN', 'CLOSED', 'CLOSED', 'CLOSED', 'RESOLVED', 'PENDING', 'CANCELLED'])},
      type = ${pick(['INCIDENT', 'INCIDENT', 'INCIDENT', 'INCIDENT', 'INCIDENT', 'CHANGE', 'CHANGE', 'CHANGE', 'PROBLEM', 'PROBLEM'])},
      priority = ${pick(['MEDIUM', 'MEDIUM', 'MEDIUM', 'MEDIUM', 'MEDIUM', 'LOW', 'LOW', 'LOW', 'HIGH', 'CRITICAL'])},
      category = ${pick(['NETWORK', 'NETWORK', 'NETWORK', 'EMAIL', 'EMAIL', 'OTHER', 'SOFTWARE', 'ACCESS', 'HARDWARE', 'OTHER'])},
      team_id = COALESCE(team_id, CASE WHEN ordinal % 2 = 0 THEN 4 END),
      requester_id = CASE WHEN ordinal % 8 < 3 THEN 20 ELSE requester_id END,
      category_config_id = CASE WHEN ordinal % 3 = 0 THEN 'cat-7' ELSE category_config_id END,
      custom_fields = jsonb_build_object('mark', CASE WHEN ordinal % 10 < 6 THEN 'big' ELSE 'small' END),
      tags = array_cat(tags, CASE WHEN ordinal % 20 < 9 THEN ARRAY['common'] ELSE '{}' END ||
        CASE WHEN ordinal % 4 = 1 THEN ARRAY['quarter'] ELSE '{}' END),
      ${add('asset_ids', 'ordinal % 5 < 2', '4')}, ${add('watcher_ids', 'ordinal % 3 = 0', '10')} WHERE tenant_id = 1;
    UPDATE tickets SET planned_start_at = created_at + interval '1 day', planned_end_at = created_at + interval '26 hours',
      approval_status = (ARRAY['PENDING', 'APPROVED', 'REJECTED', 'NONE'])[1 + ordinal % 4]
      WHERE tenant_id = 1 AND type = 'CHANGE';
    TRUNCATE ticket_counts, ticket_watchers, ticket_assets, tagged_tickets;
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id) SELECT tenant_id, id, unnest(watcher_ids) FROM tickets;
    INSERT INTO ticket_assets (tenant_id, ticket_id, asset_id, status)
      SELECT tenant_id, id, unnest(asset_ids), status FROM tickets;
    INSERT INTO tagged_tickets (tenant_id, ticket_id, tag, status) SELECT tenant_id, id, unnest(tags), status FROM tickets;
    INSERT INTO ticket_field_values (tenant_id, ticket_id, key, value, status)
      SELECT tenant_id, id, 'mark', custom_fields ->> 'mark', status FROM tickets WHERE tenant_id = 1;
    INSERT INTO ticket_counts SELECT tenant_id, a.id, status, priority, type, COALESCE(category, ''), count(*)
      FROM tickets CROSS JOIN LATERAL (VALUES (0::bigint), (assignee_id)) AS a (id) WHERE a.id IS NOT NULL
      GROUP BY 1, 2, 3, 4, 5, 6`);
  await client.query('VACUUM (FULL, ANALYZE)');
  await client.query('VACUUM');
  await client.end();
}

function tableOf(pairs: PairResult[]): string {
  const row = (name: string, of: PairResult[]) => {
    const { p50, p99, max } = percentiles(of.map(({ ms }) => ms));
    return `${name.padEnd(40)}${String(of.length).padStart(6)}${[p50, p99, max].map((ms) => ms.toFixed(0).padStart(8)).join('')}\n`;
  };
  const capped = pairs.filter(({ isCapped }) => isCapped).sort((a, b) => b.ms - a.ms);
  const head = `${''.padEnd(40)} pairs  p50 ms  p99 ms  max ms\n`;
  const slowest = capped.slice(0, 20).map(({ query, ms }) => `${ms.toFixed(0).padStart(6)} ms  ${query}\n`);
  return `${head}${row('all', pairs)}${row('more than 100,000 matches', capped)}\n${slowest.join('')}`;
}
