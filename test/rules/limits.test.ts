import { newKey } from '@itsm-api/server/auth/api-keys/key-format.ts';
import { afterAll, describe, expect, vi } from 'vitest';
import { type Answer, type Api, errorOf, startApi } from '../support/api.ts';
import { api as groupTight, itWithApi } from '../support/fixture.ts';
import { callOf, keyedEndpoints } from '../support/samples.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';

/**
 * Tests two servers. On `groupTight`, requests reach the group limit first. On `globalTight`, requests reach the global
 * limit first.
 */
let globalTight: Api;

const it = itWithApi.extend('options', { scope: 'file' }, { env: { RATE_LIMIT_GLOBAL: '60', RATE_LIMIT_GROUP: '3' } });
it.beforeAll(async () => {
  globalTight = await startApi({ env: { RATE_LIMIT_GLOBAL: '3', RATE_LIMIT_GROUP: '30' } });
});
afterAll(() => globalTight.close());

/** Creates an API key and sends `times` requests with it. */
async function spend(api: Api, workspace: Workspace, { times, path }: { times: number; path: string }) {
  const key = await workspace.createKey();
  const answers: Answer[] = [];
  for (let i = 0; i < times; i++) answers.push(await api.call({ method: 'GET', path, key }));
  return { key, answers };
}

describe.each(keyedEndpoints)('$title', (endpoint) => {
  const { group } = endpoint.route.metadata;

  it.each([
    ['its group', () => groupTight, { global: 60, group: 3 }, `endpoint group \`${group}\``],
    ['all endpoints', () => globalTight, { global: 3, group: 30 }, 'in total'],
  ])('returns 429 if the rate limit of %s is used up', async (_, api, limits, named) => {
    const workspace = await createWorkspace(api());
    const sample = await endpoint.sample(workspace);
    const key = await workspace.createKey();
    // Each request needs a new sample, because some fields must be unique.
    const fresh = () => ('assetTag' in (sample.body ?? {}) ? { assetTag: unique() } : {});
    const createBody = () => (sample.body === undefined ? {} : { body: { ...sample.body, ...fresh() } });
    const call = () => api().call({ ...callOf(endpoint, { ...sample, ...createBody() }), key });

    // The server rejects repeated requests that create the same link, or delete the same link or attachment, or request
    // or withdraw the same approval or the proposal of another key, but counts them.
    const isRepeatable =
      endpoint.route.method === 'GET' || !/\/(links|attachments|approvals)/.test(endpoint.route.path);
    for (const left of [2, 1, 0]) {
      const answer = await call();
      const isAllowed = endpoint.title !== 'DELETE /proposals/:id';
      if (isAllowed && (left === 2 || isRepeatable)) expect(answer.status, answer.text).toBe(endpoint.success);
      expect(answer.headers).toMatchObject({
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': String(left),
        'ratelimit-policy': `"global";q=${limits.global};w=60, "${group}";q=${limits.group};w=60`,
        ratelimit: expect.stringMatching(
          new RegExp(`^"global";r=${limits.global - 3 + left};t=\\d+, "${group}";r=${limits.group - 3 + left};t=\\d+$`),
        ),
      });
      expect(Number(answer.headers['x-ratelimit-reset'])).toBeGreaterThan(0);
      expect(Number(answer.headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60);
    }

    const refused = await call();
    expect(refused.status).toBe(429);
    const { code, message, retryAfterSeconds } = errorOf(refused);
    expect(code).toBe('RATE_LIMIT_EXCEEDED');
    expect(message).toContain(named);
    expect(message).toContain(`${retryAfterSeconds} seconds`);
    expect(refused.headers['retry-after']).toBe(String(retryAfterSeconds));
    expect(refused.headers['x-ratelimit-remaining']).toBe('0');
    expect(refused.headers['ratelimit-policy']).toBeDefined();
    // The server doesn't count a rejected request toward any rate limit.
    const again = await call();
    expect(again.headers.ratelimit?.replace(/t=\d+/g, '')).toBe(refused.headers.ratelimit?.replace(/t=\d+/g, ''));
  });
});

describe('rate limits', () => {
  it('counts a request toward the group rate limit and the global rate limit', async () => {
    const workspace = await createWorkspace(groupTight);
    const { key, answers } = await spend(groupTight, workspace, { times: 4, path: '/api/public/v1/tickets' });
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const users = await groupTight.call({ method: 'GET', path: '/api/public/v1/users', key });
    expect(users.status).toBe(200);
    expect(users.headers.ratelimit).toMatch(/^"global";r=56;t=\d+, "users";r=2;/);
  });

  it('applies separate rate limits to two API keys of one tenant', async () => {
    const workspace = await createWorkspace(groupTight);
    await spend(groupTight, workspace, { times: 4, path: '/api/public/v1/tickets' });
    const { answers } = await spend(groupTight, workspace, { times: 1, path: '/api/public/v1/tickets' });
    expect(answers[0]?.status).toBe(200);
  });

  it('counts requests with a missing scope or invalid content toward the rate limit', async () => {
    const workspace = await createWorkspace(groupTight);
    const key = await workspace.createKey({ scopes: ['users:read'] });
    const get = (path: string) => groupTight.call({ method: 'GET', path, key });
    expect((await get('/api/public/v1/tickets')).headers['x-ratelimit-remaining']).toBe('2');
    expect((await get('/api/public/v1/tickets/0')).headers['x-ratelimit-remaining']).toBe('1');
  });

  it('enforces a rate limit for 20 concurrent requests', async () => {
    const workspace = await createWorkspace(globalTight);
    const key = await workspace.createKey();
    const calls = Array.from({ length: 20 }, () =>
      globalTight.call({ method: 'GET', path: '/api/public/v1/users', key }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 429)).toHaveLength(17);
  });

  it('allows exactly 30 of 40 concurrent requests in each of two endpoint groups', async () => {
    const api = await startApi({ env: { RATE_LIMIT_GLOBAL: '', RATE_LIMIT_GROUP: '' } });
    const workspace = await createWorkspace(api);
    const all = Array.from({ length: 80 }, (_, i) => workspace.call('GET', i % 2 === 0 ? '/tickets' : '/users'));
    const answers = await Promise.all(all);
    const through = (group: number) => answers.filter(({ status }, i) => i % 2 === group && status === 200);
    expect([through(0).length, through(1).length]).toEqual([30, 30]);
    // Each response contains the remaining quota after its request, so all values differ.
    const left = through(0).map(({ headers }) => Number(/r=(\d+);t=\d+$/.exec(headers.ratelimit ?? '')?.[1]));
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
    await api.close();
  });

  it('starts a new rate limit window at the exact end of the previous window', async () => {
    let clock = 5_000_000;
    const api = await startApi({ env: { RATE_LIMIT_GLOBAL: '1' }, clock: () => clock });
    const workspace = await createWorkspace(api);
    const list = () => workspace.call('GET', '/tickets');
    expect((await list()).headers['x-ratelimit-reset']).toBe('60');
    clock += 59_999;
    expect(await list()).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    clock += 1;
    expect(await list()).toMatchObject({ status: 200, headers: { 'x-ratelimit-reset': '60' } });
    await api.close();
  });

  it('does not change the length of a rate limit window when the system clock changes', async () => {
    const api = await startApi({ env: { RATE_LIMIT_GLOBAL: '1' } });
    const workspace = await createWorkspace(api);
    const list = () => workspace.call('GET', '/tickets');
    expect((await list()).status).toBe(200);
    for (const hours of [-1, 1]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
      const refused = await list().finally(() => vi.useRealTimers());
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    await api.close();
  });

  it('reports the rate limit that resets later if the group and global limits are used up', async () => {
    let clock = 5_000_000;
    const api = await startApi({ env: { RATE_LIMIT_GLOBAL: '2', RATE_LIMIT_GROUP: '2' }, clock: () => clock });
    const workspace = await createWorkspace(api);
    await workspace.call('GET', '/tickets');
    clock += 50_000;
    await workspace.call('GET', '/assets');
    // The first global rate limit window has ended, but the window of the assets group hasn't.
    clock += 11_000;
    await workspace.call('GET', '/tickets');
    clock += 1000;
    const last = await workspace.call('GET', '/assets');
    expect([last.status, last.headers['x-ratelimit-remaining'], last.headers['x-ratelimit-reset']]).toEqual([
      200,
      '0',
      '59',
    ]);
    expect((await workspace.call('GET', '/assets')).headers['retry-after']).toBe('59');
    await api.close();
  });

  it('uses the rate limits in the specification by default', async () => {
    const api = await startApi({ env: { RATE_LIMIT_GLOBAL: '', RATE_LIMIT_GROUP: '' } });
    const workspace = await createWorkspace(api);
    const { headers } = await workspace.call('GET', '/tickets');
    expect(headers['ratelimit-policy']).toBe('"global";q=60;w=60, "tickets";q=30;w=60');
    await api.close();
  });

  it('sends no rate limit headers without a valid API key', async () => {
    const { headers } = await groupTight.call({ method: 'GET', path: '/api/public/v1/tickets' });
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });
});

describe('failed authentication', () => {
  const path = '/api/public/v1/users';
  let api: Api;
  it.beforeAll(async () => {
    api = await startApi({ env: { RATE_LIMIT_FAILURES: '3', TRUST_PROXY: 'loopback' } });
  });
  afterAll(() => api.close());

  const callFrom = (address: string, key?: string) =>
    api.call({ method: 'GET', path, headers: { 'x-forwarded-for': address }, ...(key !== undefined && { key }) });

  it.each([
    ['203.0.113.1', '203.0.113.1', '203.0.113.2'],
    ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
  ])('limits failed authentication attempts per IPv4 address or IPv6 /64 network: %s', async (first, same, other) => {
    for (const key of ['itsm_', newKey(), undefined]) expect((await callFrom(first, key)).status).toBe(401);
    const workspace = await createWorkspace(api);
    for (const key of [newKey(), undefined, workspace.key]) {
      const rejected = await callFrom(same, key);
      const { code, message, retryAfterSeconds } = errorOf(rejected);
      expect([rejected.status, code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      expect(message).toBe(
        `Too many requests from this address had no valid API key. Check the key and retry in ${retryAfterSeconds} seconds.`,
      );
      expect(rejected.headers['retry-after']).toBe(String(retryAfterSeconds));
    }
    expect((await callFrom(other, newKey())).status).toBe(401);
    expect((await callFrom(other, workspace.key)).status).toBe(200);
    // The server has now cached the API key as valid, so it accepts the key even from a blocked address.
    expect((await callFrom(same, workspace.key)).status).toBe(200);
  });

  it('does not block a recently valid API key, even after its removal from the cache', async () => {
    const workspace = await createWorkspace(api);
    const address = '203.0.113.9';
    expect((await callFrom(address, workspace.key)).status).toBe(200);
    for (let i = 0; i < 4; i++) await callFrom(address, newKey());
    // Updating the API key removes it from the cache, so the server looks up the key again.
    await api.prisma.apiKey.updateMany({ where: { tenantId: workspace.tenantId }, data: { name: 'renamed' } });
    for (let i = 0; i < 5; i++) expect((await callFrom(address, workspace.key)).status).toBe(200);
    expect((await callFrom(address, newKey())).status).toBe(429);
  });
});
