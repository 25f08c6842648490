import { requestsByKey } from '@itsm-api/server/resources/usage/queries.ts';
import { createUser } from '@itsm-api/server/resources/users/user-management.ts';
import { bucketOf, latencyBuckets, type Outcome } from '@itsm-api/server/usage/dimensions.ts';
import { describe, expect } from 'vitest';
import { query } from '../support/database.ts';
import { api, itAsAdmin, workspace as mine, admin as visitor } from '../support/fixture.ts';
import { signIn } from '../support/visitor.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';

const now = new Date('2026-11-22T12:30:30Z');
/** The IDs of an administrator's API key (`keyId`) and of an agent's API key (`agentsKey`). */
let keyId: number;
let agentsKey: number;
let agentId: number;

const it = itAsAdmin.extend('options', { scope: 'file' }, { now: () => now });
it.beforeAll(async () => {
  keyId = Number(mine.context.keyId);
  agentId = (await createUser(mine.context, { name: 'Ann', email: `${unique()}@example.com`, role: 'AGENT' })).id;
  agentsKey = await addKey(mine, agentId, 'Import <b>');

  await add(mine, { key: keyId, hoursAgo: 0, endpoint: 'tickets_list', requests: 50, milliseconds: 40 });
  await add(mine, { key: keyId, hoursAgo: 3, endpoint: 'tickets_list', requests: 7, milliseconds: 40 });
  await add(mine, { key: keyId, hoursAgo: 3, endpoint: 'assets_list', requests: 1100, milliseconds: 600 });
  await add(mine, { key: keyId, hoursAgo: 3, endpoint: 'tickets_get', outcome: 'CLIENT_ERROR', requests: 4 });
  await add(mine, { key: agentsKey, hoursAgo: 5, endpoint: 'users_list', requests: 30, peaks: [60, 90] });
  await add(mine, {
    key: agentsKey,
    hoursAgo: 5,
    endpoint: 'users_list',
    outcome: 'GROUP_LIMIT',
    requests: 11,
    peaks: [60, 100],
  });
  await add(mine, { key: agentsKey, hoursAgo: 100, endpoint: 'webhooks_test', requests: 1, milliseconds: 20_000 });
  await add(mine, { key: keyId, hoursAgo: 200, endpoint: 'projects_list', requests: 77 });
});

async function addKey(workspace: Workspace, userId: number | bigint, name: string): Promise<number> {
  const { id } = await api.prisma.apiKey.create({
    data: {
      tenantId: workspace.tenantId,
      userId: BigInt(userId),
      name,
      hash: Buffer.from(unique()),
      lastFour: 'abcd',
      scopes: [],
    },
  });
  return Number(id);
}

interface Added {
  key: number;
  hoursAgo: number;
  endpoint: string;
  outcome?: Outcome;
  requests: number;
  milliseconds?: number;
  peaks?: [number, number];
}

/** Inserts the usage of an API key in one hour, and adds the requests to the total of all keys. */
async function add(
  workspace: Workspace,
  { key, hoursAgo, endpoint, outcome = 'SUCCESSFUL', requests, milliseconds = 1, peaks = [0, 0] }: Added,
) {
  const latencies = Array<number>(latencyBuckets).fill(0).with(bucketOf(milliseconds), requests);
  for (const [id, [globalPeak, groupPeak]] of [
    [key, peaks],
    [0, [0, 0]],
  ] as const) {
    await query(
      api.databaseUrl,
      `INSERT INTO usage_hours AS u (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (tenant_id, at, key_id, endpoint, outcome) DO UPDATE SET requests = u.requests + excluded.requests`,
      [
        workspace.tenantId,
        new Date(Date.parse('2026-11-22T12:00:00Z') - hoursAgo * 3_600_000),
        id,
        endpoint,
        outcome,
        requests,
        latencies,
        globalPeak,
        groupPeak,
      ],
    );
  }
}

/** Returns the text of an HTML page without tags. */
const wordsOf = (text: string) => text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

describe('/developer/usage', () => {
  it('shows request counts, slow endpoints and API keys near a limit', async () => {
    const { status, text } = await visitor.get('/developer/usage');
    expect(status).toBe(200);
    const words = wordsOf(text);
    expect(words).toContain(
      'Requests 1,202 Successful 1,187 (98 %) Client errors 4 (below 1 %) Rejected by a limit 11 (below 1 %) Server errors 0',
    );
    expect(words).toMatch(/22 Nov 2026, 09:00:00 UTC 1,107 4 0 22 Nov 2026, 12:00:00 UTC 50 0 0/);
    expect(words).toMatch(/22 Nov 2026, 09:00:00 UTC 11 1,100 0/);
    expect(words).toMatch(/GET \/assets 600 ms 690 ms GET \/tickets 40 ms 49 ms/);
    expect(words).toContain('Import &lt;b&gt; (…abcd) users endpoints 100 % 11 22 Nov 2026, 07:00:00 UTC');
    expect(words).not.toMatch(/projects|POST/);
  });

  it('filters usage by time range and by API key', async () => {
    const week = wordsOf((await visitor.get('/developer/usage?range=7d')).text);
    expect(week).toContain('Requests 1,203');
    expect(week).toContain('POST /webhooks/{id}/test 10,000 ms 10,000 ms');
    const ofKey = wordsOf((await visitor.get(`/developer/usage?range=7d&key=${agentsKey}`)).text);
    expect(ofKey).toContain('Requests 42');
    const hour = await visitor.get('/developer/usage?range=1h');
    expect(wordsOf(hour.text)).toContain('No requests in this time range');
  });

  it('shows users with the role AGENT only the usage of their own API keys', async () => {
    const theirs = await createWorkspace(api);
    const foreign = Number(theirs.context.keyId);
    const agent = await signIn(api, { ...mine, userId: agentId });
    expect(wordsOf((await agent.get('/developer/usage')).text)).toContain('Requests 41');
    expect((await agent.get(`/developer/usage?key=${agentsKey}`)).status).toBe(200);
    const unknown = await agent.get('/developer/usage?key=2147483647');
    expect(unknown.status).toBe(404);
    for (const key of [keyId, foreign]) {
      expect(await agent.get(`/developer/usage?key=${key}`)).toMatchObject({ status: 404, text: unknown.text });
    }
    expect((await visitor.get(`/developer/usage?key=${foreign}`)).text).toBe(unknown.text);
  });

  it('shows a hint on the usage page if the workspace has no usage yet', async () => {
    const fresh = await createWorkspace(api);
    const empty = await (await signIn(api, fresh)).get('/developer/usage');
    expect(wordsOf(empty.text)).toContain('No requests in this time range');
    const agent = await createUser(fresh.context, { name: 'A', email: `${unique()}@example.com`, role: 'AGENT' });
    const keyless = await (await signIn(api, { ...fresh, userId: agent.id })).get('/developer/usage');
    expect(wordsOf(keyless.text)).toContain('No API keys yet. Create one to see its requests here.');
  });

  it('shows when an API key was last near each rate limit', async () => {
    const own = await createWorkspace(api);
    const used = { key: Number(own.context.keyId), endpoint: 'tickets_list', requests: 1 };
    await add(own, { ...used, hoursAgo: 5, peaks: [90, 10] });
    await add(own, { ...used, hoursAgo: 3, peaks: [10, 85] });
    await add(own, { ...used, hoursAgo: 1, peaks: [10, 10] });
    const words = wordsOf((await (await signIn(api, own)).get('/developer/usage')).text);
    expect(words).toContain('all endpoints 90 % 0 22 Nov 2026, 07:00:00 UTC');
    expect(words).toContain('tickets endpoints 85 % 0 22 Nov 2026, 09:00:00 UTC');
  });

  it('rejects unknown query parameters and invalid values on the usage page', async () => {
    for (const address of ['/developer/usage?range=1y', '/developer/usage?key=a', '/developer/usage?x=1']) {
      expect((await visitor.get(address)).status).toBe(400);
    }
    expect((await visitor.get('/developer/usage?key=&range=24h')).status).toBe(200);
  });
});

describe('the charts', () => {
  it('renders each usage chart with a description, a legend and a table', async () => {
    const { text } = await visitor.get('/developer/usage?range=7d');
    const charts = text.match(/<figure class="chart.*?<\/figure>/gs) ?? [];
    expect(charts).toHaveLength(4);
    for (const chart of charts) {
      expect(chart).toMatch(/<svg [^>]*role="img" aria-label="[^"]+\. The table below lists the values\."/);
      expect(chart).not.toMatch(/style=|NaN|Infinity|undefined/);
    }
    expect(wordsOf(charts[0] ?? '')).toMatch(
      / 1K .* Successful \(2xx\) Client errors \(4xx\) Rejected by a limit \(429\)/,
    );
    expect(wordsOf(charts[3] ?? '')).toMatch(
      / POST \/webhooks\/\{id\}\/test 10,000 ms 10,000 ms GET \/assets 600 ms 690 ms/,
    );
    expect(text.match(/<details class="figures">/g)).toHaveLength(4);
  });

  it('escapes endpoint names in usage charts', async () => {
    const other = await createWorkspace(api);
    await add(other, {
      key: Number(other.context.keyId),
      hoursAgo: 1,
      endpoint: '<script>alert(1)</script>"',
      requests: 3,
    });
    const { text } = await (await signIn(api, other)).get('/developer/usage');
    expect(text).toMatch(/<text [^>]*>&lt;script&gt;alert\(1\)/);
    expect(text).not.toContain('<script>alert');
  });
});

it('returns the number of requests per hour for each API key', async () => {
  const counts = await requestsByKey(mine.context, { hours: 24 });
  expect([...counts.keys()].sort()).toEqual([keyId, agentsKey].sort());
  const ofKey = counts.get(keyId) ?? [];
  expect([ofKey.length, ofKey[23], ofKey[20], ofKey[0]]).toEqual([24, 50, 1111, 0]);
  expect(counts.get(agentsKey)?.[18]).toBe(41);
});
