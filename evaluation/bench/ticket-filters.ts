import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import pg from 'pg';
import { median } from '../../test/support/percentiles.ts';
import { addKeys, type Data, firstGroupRequester, firstOverdueTenant, groupSteps, loadData } from './api/data.ts';
import { startServer } from './api/servers.ts';
import { requestsOf, type Shot, shoot } from './api/shots.ts';

/** The latency of a filtered ticket list, compared with another filter that finds as many tickets. */
interface TicketFilterResult {
  found: number;
  query: string;
  p50Ms: number;
  p99Ms: number;
  /** The p99 divided by the p99 of the other filter in the same round, as the median of the rounds. */
  ratio: number;
}

interface Options {
  dataDir: string;
  tickets: number;
  rounds: number;
  onProgress: (text: string) => void;
}

/** A filter, and another filter that finds as many tickets. */
interface Comparison {
  tenantId: number;
  found: number;
  query: string;
  baseline: string;
}

/**
 * Compares the filters `assetId`, `tag`, `customFields`, `teamId`, `dueSince` with `dueBefore`, and `overdue` with the
 * filter `requesterId`, and `teamId=none` with `createdSince`, alone and with `status`. Sends one request at a time.
 */
export async function benchTicketFilters({ dataDir, tickets, rounds, onProgress }: Options) {
  const settings = { shared_buffers: '1GB', max_wal_size: '8GB' };
  const database = await openEmbedded({ dataDir, holder: { type: 'command' }, settings });
  await migrateDatabase(database.url);
  const data = await loadData(database.url, tickets, onProgress, { texts: false });
  await addFieldValues(database.url);
  const keys = await addTenantKeys(database.url, data);
  const server = await startServer('api', database.url);
  try {
    const results: TicketFilterResult[] = [];
    for (const { tenantId, found, query, baseline } of comparisons(tickets)) {
      onProgress(`${query}, ${found} tickets`);
      const own: Data = { ...data, tenantId, keys: keys.get(tenantId) ?? [] };
      const measure = (query: string) =>
        shoot(server, {
          connections: 1,
          seconds: 3,
          requests: requestsOf({ method: 'GET', paths: () => [`/tickets?${query}`] }, own),
        });
      const shots: [filter: Shot, baseline: Shot][] = [];
      for (let round = 0; round < rounds; round++) shots.push([await measure(query), await measure(baseline)]);
      results.push({
        found,
        query,
        p50Ms: median(shots.map(([filter]) => filter.p50Ms)),
        p99Ms: median(shots.map(([filter]) => filter.p99Ms)),
        ratio: median(shots.map(([filter, baseline]) => filter.p99Ms / baseline.p99Ms)),
      });
    }
    return { table: tableOf(results), result: results, good: results.every(({ ratio }) => ratio <= 1.5) };
  } finally {
    await server.stop();
    // Waits until PostgreSQL has closed the connections of the server.
    await sleep(500);
    await database.stop();
  }
}

function comparisons(tickets: number): Comparison[] {
  const ofGroups = groupSteps.flatMap((step, group): Comparison[] => {
    const found = tickets / 2 / step;
    const year = 2001 + group;
    const due = `dueSince=${year}-01-01T00:00:00Z&dueBefore=${year + 1}-01-01T00:00:00Z`;
    const requester = firstGroupRequester + group;
    const ofLargestTenant = { tenantId: 1, found, baseline: `requesterId=${requester}` };
    return [
      { ...ofLargestTenant, query: `assetId=${group + 1}` },
      { ...ofLargestTenant, query: `tag=tag-${group + 1}` },
      { ...ofLargestTenant, query: `customFields[mark]=tag-${group + 1}` },
      { ...ofLargestTenant, query: `teamId=${group + 1}` },
      { ...ofLargestTenant, query: due },
      {
        tenantId: firstOverdueTenant + group,
        found,
        query: 'overdue=true',
        baseline: `requesterId=${requester + groupSteps.length}`,
      },
    ];
  });
  const withoutTeam = {
    tenantId: 1,
    found: 100_000,
    query: 'teamId=none',
    baseline: 'createdSince=2020-01-01T00:00:00Z',
  };
  const alone = [...ofGroups, withoutTeam];
  const withStatus = alone.map(({ query, baseline, ...others }) => ({
    ...others,
    query: `${query}&status=OPEN`,
    baseline: `${baseline}&status=OPEN`,
  }));
  return [...alone, ...withStatus];
}

/** Defines a filterable custom field of the largest tenant, whose values are the tags of its tickets. */
async function addFieldValues(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`
    INSERT INTO custom_field_definitions (tenant_id, resource, key, type, label, options, filterable, backfilled, updated_at)
    SELECT 1, 'TICKET', 'mark', 'SELECT', 'Mark', json_agg(json_build_object('value', 'tag-' || g, 'label', g, 'active', true)),
      true, true, now() FROM generate_series(1, ${groupSteps.length}) g;
    INSERT INTO ticket_field_values (tenant_id, ticket_id, key, value, status)
    SELECT tenant_id, ticket_id, 'mark', tag, status FROM tagged_tickets WHERE tenant_id = 1`);
  await client.query('VACUUM ANALYZE ticket_field_values');
  await client.end();
}

/** Returns API keys for each measured tenant. */
async function addTenantKeys(databaseUrl: string, data: Data): Promise<Map<number, string[]>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const keys = new Map([[data.tenantId, data.keys]]);
  for (const group of groupSteps.keys()) {
    const tenantId = firstOverdueTenant + group;
    keys.set(tenantId, await addKeys(client, tenantId));
  }
  await client.end();
  return keys;
}

function tableOf(results: TicketFilterResult[]): string {
  const lines = results.map(({ found, query, p50Ms, p99Ms, ratio }) => {
    const figures = [p50Ms.toFixed(1), p99Ms.toFixed(1), ratio.toFixed(2)].map((figure) => figure.padStart(9));
    return `${String(found).padStart(8)}  ${query.replaceAll('T00:00:00Z', '').padEnd(48)}${figures.join('')}`;
  });
  return `${'found'.padStart(8)}  ${'filter'.padEnd(48)}   p50 ms   p99 ms    ratio\n${lines.join('\n')}\n`;
}
