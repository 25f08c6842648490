import { setTimeout as sleep } from 'node:timers/promises';
import { hasFileResponse } from '@itsm-api/contract';
import { newKey } from '@itsm-api/server/auth/api-keys/key-format.ts';
import { createLastUsed } from '@itsm-api/server/auth/api-keys/last-used.ts';
import { createLookupQueue } from '@itsm-api/server/auth/api-keys/lookup-queue.ts';
import { describe, expect, vi } from 'vitest';
import { errorOf, startApi } from '../support/api.ts';
import { cloneDatabase, execute } from '../support/database.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { createSender, keyedEndpoints } from '../support/samples.ts';
import { createWorkspace } from '../support/workspace.ts';

let now = new Date();
let invalidKeys: [what: string, key: string | undefined, message: string][];

const it = itBase.extend('options', { scope: 'file' }, { now: () => now });
it.beforeAll(async () => {
  const missing = 'The API key is missing. Send `Authorization: Bearer <API_KEY>` or `X-API-Key: <API_KEY>`.';
  const unknown = 'The API key is invalid, expired or revoked. Send the complete key, or create a new one.';
  const { key } = workspace;
  invalidKeys = [
    ['no key', undefined, missing],
    ['an empty key', '', unknown],
    ['a malformed key', 'itsm_short', unknown],
    ['a key with a typo', `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, unknown],
    ['an unknown key', newKey(), unknown],
    ['a revoked key', await workspace.createKey({ revokedAt: now }), unknown],
    ['a key that expires now', await workspace.createKey({ expiresAt: now }), unknown],
  ];
});

describe.each(keyedEndpoints)('$title', (endpoint) => {
  const send = createSender(endpoint, () => ({ api, workspace }));

  it('returns 401 for a request with a missing or invalid key', async () => {
    for (const [what, key, message] of invalidKeys) {
      const answer = await send({ key });
      expect.soft(answer.status, what).toBe(401);
      expect.soft(errorOf(answer), what).toMatchObject({ code: 'INVALID_API_KEY', message });
      expect.soft(answer.headers['www-authenticate'], what).toBe('Bearer realm="ITSM Public API"');
      expect.soft(answer.headers.ratelimit, what).toBeUndefined();
    }
  });

  it('accepts a request with a valid API key', async () => {
    const answer = await send();
    expect(answer.status, answer.text).toBe(endpoint.success);
    if (!hasFileResponse(endpoint.route)) expect(answer.body.success).toBe(true);
    expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  const { scope } = endpoint.route.metadata;

  if (scope === 'any' && /proposals\/?:?/.test(endpoint.route.path) && endpoint.title !== 'GET /proposals') {
    it('accepts no API key that lacks the scope of the operation', async () => {
      const answer = await send({ key: await workspace.createKey({ scopes: ['kb:read'] }) });
      expect(errorOf(answer).code).toBe(endpoint.route.method === 'POST' ? 'INSUFFICIENT_SCOPE' : 'NOT_FOUND');
    });
  } else if (scope === 'any') {
    it('accepts any valid API key if the endpoint requires no scope', async () => {
      const answer = await send({ key: await workspace.createKey({ scopes: ['kb:read'] }) });
      expect(answer.status, answer.text).toBe(endpoint.success);
    });
  } else {
    it('returns 403 and names the required scope if the API key lacks the scope', async () => {
      const others = Object.keys((await import('@itsm-api/contract')).scopes).filter((name) => name !== scope);
      const answer = await send({ key: await workspace.createKey({ scopes: others as never }) });
      expect(answer.status).toBe(403);
      expect(errorOf(answer)).toMatchObject({
        code: 'INSUFFICIENT_SCOPE',
        message: expect.stringContaining(String(scope)),
      });
    });
  }
});

describe('the two key headers', () => {
  const list = { method: 'GET', path: '/api/public/v1/tickets' };

  it.each([
    ['the Authorization header', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['a lowercase bearer scheme', (key: string) => ({ authorization: `bearer ${key}` })],
    ['X-API-Key', (key: string) => ({ 'x-api-key': key })],
    ['both headers', (key: string) => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
    ['X-API-Key next to another scheme', (key: string) => ({ authorization: 'Basic YTpi', 'x-api-key': key })],
  ])('accepts an API key in %s', async (_, headers) => {
    const answer = await api.call({ ...list, headers: headers(workspace.key) });
    expect(answer.status).toBe(200);
  });

  it('returns 401 for a request with two different valid API keys', async () => {
    const other = await workspace.createKey();
    const answer = await api.call({
      ...list,
      headers: { authorization: `Bearer ${workspace.key}`, 'x-api-key': other },
    });
    expect(answer.status).toBe(401);
  });

  it('returns 401 for a request with the authentication scheme Basic', async () => {
    const answer = await api.call({ ...list, headers: { authorization: `Basic ${workspace.key}` } });
    expect(answer.status).toBe(401);
  });
});

describe('a key that has been used', () => {
  const list = (key: string) => api.call({ method: 'GET', path: '/api/public/v1/tickets', key });

  /** Creates an API key and sends requests until the server has cached the key. */
  async function createUsedKey(owner = workspace): Promise<string> {
    const key = await owner.createKey();
    for (let i = 0; i < 3; i++) expect((await list(key)).status).toBe(200);
    return key;
  }

  /** Fails unless the server rejects the API key within one second, as the specification requires. */
  async function expectRejectedWithinASecond(key: string): Promise<void> {
    for (const end = Date.now() + 1000; Date.now() < end; await sleep(20)) {
      if ((await list(key)).status === 401) return;
    }
    expect((await list(key)).status).toBe(401);
  }

  it('rejects an API key within a second after its revocation', async () => {
    const key = await createUsedKey();
    await api.prisma.apiKey.updateMany({ where: { lastFour: key.slice(-4) }, data: { revokedAt: new Date() } });
    await expectRejectedWithinASecond(key);
  });

  it('rejects an API key within a second after its user is deactivated', async () => {
    const other = await createWorkspace(api);
    const key = await createUsedKey(other);
    await api.prisma.user.updateMany({ where: { tenantId: other.tenantId }, data: { active: false } });
    await expectRejectedWithinASecond(key);
  });

  it('rejects an API key within a second after its tenant is deactivated', async () => {
    const other = await createWorkspace(api);
    const key = await createUsedKey(other);
    await api.prisma.tenant.update({ where: { id: other.tenantId }, data: { active: false } });
    await expectRejectedWithinASecond(key);
  });

  it('rejects a cached API key when the key expires', async () => {
    const key = await workspace.createKey({ expiresAt: new Date(now.getTime() + 60_000) });
    expect((await list(key)).status).toBe(200);
    const before = now;
    now = new Date(now.getTime() + 60_000);
    expect((await list(key)).status).toBe(401);
    now = before;
  });

  it('rejects a revoked API key even if a lookup started before the revocation', async () => {
    const key = await workspace.createKey();
    const { pool: keyLookups } = api.databases.keyLookups;
    const query = keyLookups.runPipeline.bind(keyLookups) as (...given: unknown[]) => Promise<unknown>;
    const read = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const querySpy = vi.spyOn(keyLookups, 'runPipeline').mockImplementationOnce((async (...given: unknown[]) => {
      const found = await query(...given);
      read.resolve();
      await answered.promise;
      return found;
    }) as never);
    const before = list(key);
    await read.promise;
    await api.prisma.apiKey.updateMany({ where: { lastFour: key.slice(-4) }, data: { revokedAt: new Date() } });
    await sleep(1000);
    const after = list(key);
    await sleep(100);
    answered.resolve();
    // The first lookup of the API key took too long, so the server repeats the lookup.
    expect([(await before).status, (await after).status, (await list(key)).status]).toEqual([401, 401, 401]);
    querySpy.mockRestore();
  });

  it('accepts valid API keys and rejects revoked keys after the notification connection is lost', async () => {
    const key = await createUsedKey();
    await api.prisma.$executeRaw`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'itsm-api api_keys' AND datname = current_database()`;
    expect((await list(key)).status).toBe(200);
    await api.prisma.apiKey.updateMany({ where: { lastFour: key.slice(-4) }, data: { revokedAt: new Date() } });
    await expectRejectedWithinASecond(key);
  });
});

describe('a key lookup', () => {
  it('ends a queued API key lookup after the connection timeout', async () => {
    vi.useFakeTimers();
    try {
      const queue = createLookupQueue({ concurrency: 1 });
      const lookUp = (key: string) => queue.run(key, () => new Promise(() => undefined)).catch((error: Error) => error);
      const lookups = [lookUp('first'), lookUp('second'), lookUp('third')];
      await vi.advanceTimersByTimeAsync(5000);
      const first = await Promise.race([lookups[0], Promise.resolve('under way')]);
      expect([first, ...(await Promise.all(lookups.slice(1)))]).toEqual([
        'under way',
        ...Array(2).fill(expect.objectContaining({ code: 'ETIMEDOUT' })),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("rejects an expired API key regardless of the database's datestyle setting", async () => {
    const database = await cloneDatabase();
    await execute(
      database.url,
      `ALTER DATABASE "${new URL(database.url).pathname.slice(1)}" SET datestyle = 'SQL, DMY'`,
    );
    const own = await startApi({ databaseUrl: database.url });
    const { createKey } = await createWorkspace(own);
    const key = await createKey({ expiresAt: new Date(Date.now() - 7_200_000) });
    expect((await own.call({ method: 'GET', path: '/api/public/v1/tickets', key })).status).toBe(401);
    await own.close();
    await database.drop();
  });
});

describe('lastUsedAt', () => {
  it('never sets lastUsedAt of an API key to an earlier time', async () => {
    const other = await createWorkspace(api);
    const { tenantId } = other;
    const { id } = await api.prisma.apiKey.findFirstOrThrow({ where: { tenantId } });
    const { prisma } = api.databases.system;
    const later = new Date(now.getTime() + 60_000);
    for (const [at, ip] of [
      [later, '2001:db8::7'],
      [now, '192.0.2.1'],
    ] as const) {
      const lastUsed = createLastUsed({ prisma, now: () => at, onError: (error) => expect.fail(String(error)) });
      lastUsed.touch({ tenantId, keyId: id }, { ip });
      await lastUsed.close();
    }
    const key = await api.prisma.apiKey.findFirstOrThrow({ where: { tenantId } });
    expect(key).toMatchObject({ lastUsedAt: later, lastUsedAddress: '2001:db8::7' });
  });

  it('writes lastUsedAt of API keys in batches, at most once per minute', async () => {
    const other = await createWorkspace(api);
    const read = () => api.prisma.apiKey.findFirstOrThrow({ where: { tenantId: other.tenantId } });
    await other.call('GET', '/tickets');
    await expect.poll(async () => (await read()).lastUsedAt).toEqual(now);
    expect((await read()).lastUsedAddress).toBe('127.0.0.1');
  });

  it("retries a failed write of an API key's lastUsedAt", async () => {
    const own = await startApi({ ownDatabase: true });
    const { tenantId } = await createWorkspace(own);
    const read = () => own.prisma.apiKey.findFirstOrThrow({ where: { tenantId } });
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const lastUsed = createLastUsed({ prisma: own.databases.system.prisma, now: () => now, onError });
    lastUsed.touch({ tenantId, keyId: (await read()).id }, { ip: '127.0.0.1' });

    await execute(own.databaseUrl, 'REVOKE UPDATE ON api_keys FROM itsm_system');
    await lastUsed.flush();
    expect(errors).toHaveLength(1);
    expect((await read()).lastUsedAt).toBeNull();
    await execute(own.databaseUrl, 'GRANT UPDATE ON api_keys TO itsm_system');
    await lastUsed.close();
    expect((await read()).lastUsedAt).toEqual(now);
    await own.close();
  });
});
