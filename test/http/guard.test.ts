import { type Endpoint, groups } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { addGuard, type GuardOptions } from '@itsm-api/server/http/auth/guard.ts';
import { createMemoryCounter, RateLimitStore } from '@itsm-api/server/http/rate-limit/rate-limit-windows.ts';
import { ApiError } from '@itsm-api/server/shared/errors.ts';
import { parseNetwork } from '@itsm-api/server/shared/network/ip-networks.ts';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';

/**
 * Uses fake API keys to test how the guard authenticates requests and limits their rate. rules/keys.test.ts and
 * rules/limits.test.ts test the guard at every endpoint.
 */
const services = { now: () => new Date(0) };
const db = { of: 'the tenant' };
const createIdentity = (scope: string, ids = {}) => {
  return { tenantId: 1n, keyId: 2n, userId: 3n, db, scopes: new Set([scope]), networks: [], ...ids };
};

const { list } = contract.tickets as { list: Endpoint };

/**
 * Starts a server with a guard and four API keys. The key `reader` has the scope `tickets:read`, `stranger` has the
 * scope `kb:read`, `elsewhere` is a key of another tenant, and `office` is allowed only from other addresses.
 */
async function open({ global = 60, group = 30 } = {}, overrides: Partial<GuardOptions> = {}) {
  const app = fastify();
  const clock = { now: 0 };
  const touched: unknown[] = [];
  const limited: string[][] = [];
  const keyOf = new Map([
    ['reader', createIdentity('tickets:read')],
    ['stranger', createIdentity('kb:read', { keyId: 4n })],
    ['elsewhere', createIdentity('tickets:read', { tenantId: 5n })],
    ['office', createIdentity('tickets:read', { keyId: 6n, networks: [parseNetwork('192.0.2.0/24')] })],
  ]);
  const limits = { global, group, windowSeconds: 60, failures: 1000 };
  await addGuard(app, {
    keys: {
      find: async (key: string) => keyOf.get(key),
      findAgain: async () => keyOf.get('reader'),
      describe: async ({ keyId }: { keyId: bigint }) => ({ keyId }),
    },
    lastUsed: { touch: (identity: unknown) => touched.push(identity) },
    store: new RateLimitStore(createMemoryCounter(() => clock.now)),
    limits,
    onLimited: (windows: string[]) => limited.push(windows),
    services,
    ...overrides,
  } as unknown as GuardOptions);
  app.setErrorHandler((error: ApiError, _, reply) => {
    reply.status(error.status ?? 500).send({ ...error, message: error.message });
  });

  const seen: FastifyRequest[] = [];
  const handle = (path: string, route: Endpoint | undefined, handler: typeof pass = pass) =>
    app.get(path, route === undefined ? {} : { config: { tsRestRoute: route } }, handler);
  const pass = async (request: FastifyRequest, _: FastifyReply): Promise<object> => {
    seen.push(request);
    return {};
  };
  handle('/tickets', list);
  handle('/users', (contract.users as { list: Endpoint }).list);
  handle('/ping', contract.ping.get);
  handle('/page', undefined);
  handle('/me', contract.me.get, async (request) => {
    const { limits, ...facts } = await request.describeKey();
    return { facts: Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, String(value)])), limits };
  });
  // Simulates that the request waits for `elapsedTime` milliseconds and that the API key changes during the wait.
  handle('/waits', list, async (request) => {
    const { elapsedTime, then } = request.query as { elapsedTime: string; then: string };
    if (then === 'revoked') keyOf.delete('reader');
    if (then === 'restricted') keyOf.set('reader', keyOf.get('office') as never);
    if (then === 'maintained') keyOf.set('reader', createIdentity('tickets:read', { isUnavailable: true }));
    if (then === 'narrowed') keyOf.set('reader', createIdentity('kb:read'));
    await request.confirm({ elapsedTime: Number(elapsedTime) } as FastifyReply);
    return {};
  });
  handle('/rejected', list, async (request, reply) => {
    await request.refundRateLimit(reply);
    await request.refundRateLimit(reply);
    return {};
  });
  handle('/nothing-taken', undefined, async (request, reply) => {
    await request.refundRateLimit(reply);
    return {};
  });
  handle('/message', undefined, async (request, reply) => {
    await request.identify('read');
    await request.takeRequest(reply);
    return {};
  });

  return {
    ...{ clock, touched, limited, seen },
    async get(path: string, key?: string) {
      const headers = key === undefined ? {} : { 'x-api-key': key };
      const { statusCode, headers: received, body } = await app.inject({ method: 'GET', url: path, headers });
      return { status: statusCode, headers: received, body: JSON.parse(body) };
    },
  };
}

const pickLimitHeaders = (headers: object) => Object.entries(headers).filter(([name]) => name.includes('ratelimit'));

describe('the guard', () => {
  it('passes the identity of a valid API key to the handler', async () => {
    const { get, seen, touched } = await open();
    expect((await get('/tickets', 'reader')).status).toBe(200);
    const identity = createIdentity('tickets:read');
    expect(seen[0]?.identity).toEqual(identity);
    expect(seen[0]?.ctx).toMatchObject({ ...services, db, userId: 3n, keyId: 2n });
    expect(touched).toEqual([identity]);
  });

  it('requires no API key for public endpoints and pages', async () => {
    const { get } = await open();
    for (const path of ['/ping', '/page', '/nothing-taken']) {
      const { status, headers } = await get(path);
      expect([status, pickLimitHeaders(headers)], path).toEqual([200, []]);
    }
  });

  it('rejects a request with an unknown API key without counting it', async () => {
    const { get, seen, touched } = await open();
    const { status, headers, body } = await get('/tickets', 'unknown');
    expect([status, pickLimitHeaders(headers)]).toEqual([401, []]);
    expect(body).toMatchObject({
      code: 'INVALID_API_KEY',
      message: 'The API key is invalid, expired or revoked. Send the complete key, or create a new one.',
    });
    expect([seen, touched]).toEqual([[], []]);
  });

  it('rejects a request from an address that the API key does not allow, without counting it as a use', async () => {
    const { get, seen, touched } = await open();
    const { status, headers, body } = await get('/tickets', 'office');
    expect([status, body.code, pickLimitHeaders(headers)]).toEqual([403, 'ADDRESS_NOT_ALLOWED', []]);
    expect([seen, touched]).toEqual([[], []]);
  });

  it('counts a request even if its API key lacks the required scope', async () => {
    const { get, seen } = await open({ group: 1 });
    const { status, headers, body } = await get('/tickets', 'stranger');
    expect([status, headers['x-ratelimit-remaining']]).toEqual([403, '0']);
    expect(body).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      message: 'This API key lacks the scope tickets:read. Use a key that has it.',
    });
    expect((await get('/tickets', 'stranger')).status).toBe(429);
    expect(seen).toEqual([]);
    expect((await get('/me', 'stranger')).status).toBe(200);
  });

  it.each([
    [499, 'revoked', 200, {}],
    [
      500,
      'revoked',
      401,
      {
        code: 'INVALID_API_KEY',
        message: 'The API key is invalid, expired or revoked. Send the complete key, or create a new one.',
      },
    ],
    [
      500,
      'narrowed',
      403,
      { code: 'INSUFFICIENT_SCOPE', message: 'This API key lacks the scope tickets:read. Use a key that has it.' },
    ],
    [500, 'restricted', 403, { code: 'ADDRESS_NOT_ALLOWED' }],
    [500, 'maintained', 503, { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 30 }],
    [500, 'kept', 200, {}],
  ])(
    'checks the API key again only after a wait of 500 ms (%i ms, key %s)',
    async (elapsedTime, then, status, body) => {
      const { get } = await open();
      const answer = await get(`/waits?elapsedTime=${elapsedTime}&then=${then}`, 'reader');
      expect([answer.status, answer.body]).toEqual([status, status === 200 ? body : expect.objectContaining(body)]);
    },
  );
});

describe('the rate limits of a key', () => {
  it('describes in the X-RateLimit headers the window with the lower remaining quota', async () => {
    const { get, clock } = await open({ global: 3, group: 2 });
    await get('/me', 'reader');
    clock.now = 20_500;
    expect(Object.fromEntries(pickLimitHeaders((await get('/tickets', 'reader')).headers))).toEqual({
      // If the global window and the group window have the same remaining quota, the x-ratelimit headers describe the
      // group window.
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '60',
      'ratelimit-policy': '"global";q=3;w=60, "tickets";q=2;w=60',
      ratelimit: '"global";r=1;t=40, "tickets";r=1;t=60',
    });
    const { headers } = await get('/message', 'reader');
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '40',
    });
  });

  it('returns 429 and names the limit if a request exceeds a rate limit', async () => {
    const { get, clock, limited } = await open({ global: 4, group: 2 });
    await get('/users', 'reader');
    clock.now = 30_000;
    for (let i = 0; i < 2; i++) await get('/tickets', 'reader');
    const group = 'This API key has reached its limit of 2 requests per 60 seconds for the endpoint group `tickets`.';
    const all = 'This API key has reached its limit of 4 requests per 60 seconds in total.';
    const rejection = async (path: string) => (await get(path, 'reader')).body;
    expect(await rejection('/tickets')).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      message: `${group} Retry in 60 seconds.`,
      retryAfterSeconds: 60,
    });
    await get('/message', 'reader');
    expect(await rejection('/tickets')).toMatchObject({ message: `${all} ${group} Retry in 60 seconds.` });
    expect(await rejection('/me')).toMatchObject({ message: `${all} Retry in 30 seconds.`, retryAfterSeconds: 30 });
    expect(limited).toEqual([['group'], ['global', 'group'], ['global']]);
  });

  it('counts the requests of each API key separately', async () => {
    const { get } = await open();
    for (const key of ['reader', 'stranger', 'elsewhere']) {
      expect((await get('/message', key)).headers['x-ratelimit-remaining'], key).toBe('59');
    }
  });

  it('returns 429 for an exceeded rate limit even without an onLimited callback', async () => {
    const { get } = await open({ group: 1 }, { onLimited: undefined });
    expect([(await get('/tickets', 'reader')).status, (await get('/tickets', 'reader')).status]).toEqual([200, 429]);
  });

  it('restores the quota that a rejected request used, but only once', async () => {
    const { get } = await open();
    await get('/tickets', 'reader');
    const { headers } = await get('/rejected', 'reader');
    expect(headers).toMatchObject({
      'x-ratelimit-remaining': '29',
      ratelimit: '"global";r=59;t=60, "tickets";r=29;t=60',
    });
    expect((await get('/tickets', 'reader')).headers['x-ratelimit-remaining']).toBe('28');
  });

  it('counts MCP messages in a separate rate limit window', async () => {
    const { get } = await open();
    expect((await get('/message', 'reader')).headers.ratelimit).toBe('"global";r=59;t=60, "mcp";r=59;t=60');
  });

  it('passes the id and the rate limits of the API key to the handler', async () => {
    const { get } = await open();
    const { body } = await get('/me', 'reader');
    expect(body.facts).toEqual({ keyId: '2' });
    const window = { resetSeconds: 60, windowSeconds: 60 };
    expect(body.limits).toEqual([
      { name: 'global', limit: 60, remaining: 59, ...window },
      ...groups.map((name) => ({ name, limit: 30, remaining: name === 'users' ? 29 : 30, ...window })),
    ]);
  });

  it('returns 500 if the rate limit store fails to count the request', async () => {
    const fail = () => {
      throw new ApiError('INTERNAL_ERROR', 'Counting failed.');
    };
    const { get } = await open({}, { store: new RateLimitStore(fail) });
    expect(await get('/tickets', 'reader')).toMatchObject({ status: 500, body: { message: 'Counting failed.' } });
  });
});
