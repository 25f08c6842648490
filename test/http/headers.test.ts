import { isVersioned, pathPrefix } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { startApi } from '../support/api.ts';
import { sendBare } from '../support/bare.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { callOf, endpoints, keyedEndpoints } from '../support/samples.ts';

let port: number;

it.beforeAll(async () => {
  port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
});

it.each(endpoints)('lets caches store a response of $title only if it has an ETag', async (endpoint) => {
  const call = callOf(endpoint, await endpoint.sample(workspace));
  const answers = [
    await api.call({ ...call, key: workspace.key }),
    await api.call({ ...call, key: await workspace.createKey({ scopes: ['kb:read'] }) }),
    await api.call(call),
    await api.call({ ...call, key: workspace.key, path: `${call.path}?surprise=1` }),
  ];
  for (const { status, headers } of answers) {
    const kept = status < 300 && isVersioned(endpoint.route);
    const expected = { 'cache-control': kept ? 'private, no-cache' : 'no-store', 'x-content-type-options': 'nosniff' };
    expect(headers).toMatchObject(expected);
    expect(headers.etag !== undefined).toBe(kept);
  }
});

it.each(keyedEndpoints)('lists the API key headers in the Vary header of $title', async (endpoint) => {
  const call = callOf(endpoint, await endpoint.sample(workspace));
  for (const key of [workspace.key, undefined]) {
    expect((await api.call({ ...call, key })).headers.vary).toMatch(/^Authorization, X-API-Key(, Accept-Encoding)?$/);
  }
});

it('sends Vary: Origin if CORS_ORIGINS is set', async () => {
  const origin = 'https://app.example.com';
  const open = await startApi({ env: { CORS_ORIGINS: `${origin}, https://other.example.com` } });
  const { headers } = await open.call({ method: 'GET', path: `${pathPrefix}/tickets`, headers: { origin } });
  expect(headers.vary?.split(', ')).toEqual(expect.arrayContaining(['Authorization', 'Origin', 'X-API-Key']));
  await open.close();
});

describe('a header that carries the key', () => {
  const status = async (...lines: string[]) => {
    const head = [`GET ${pathPrefix}/users HTTP/1.1`, 'Host: x', ...lines].join('\r\n');
    return (await sendBare(port, `${head}\r\n\r\n`)).status;
  };

  it.each(['Authorization', 'X-API-Key'])('accepts a repeated %s header only if all values are equal', async (name) => {
    const value = (key: string) => (name === 'Authorization' ? `Bearer ${key}` : key);
    const [own, other] = [value(workspace.key), value(await workspace.createKey())];
    expect(await status(`${name}: ${own}`, `${name.toUpperCase()}: ${own}`)).toBe(200);
    expect(await status(`${name}: ${own}`, `${name}: ${other}`)).toBe(401);
    expect(await status(`${name}: ${other}`, `${name}: ${own}`)).toBe(401);
    expect(await status(`${name}: ${own}`, `${name}: Basic x`)).toBe(401);
  });
});

describe('Content-Encoding', () => {
  const post = (headers: Record<string, string>, body: unknown = { title: 'a' }) =>
    workspace.call('POST', '/tickets', body, headers);

  it.each(['gzip', 'br', 'deflate', 'identity, gzip', 'nonsense'])(
    'returns UNSUPPORTED_MEDIA_TYPE for the Content-Encoding %s',
    async (encoding) => {
      const answer = await post({ 'content-encoding': encoding });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } } });
    },
  );

  it.each(['identity', 'Identity', ''])('accepts a request if Content-Encoding is "%s"', async (encoding) => {
    expect((await post({ 'content-encoding': encoding })).body.error.code).toBe('VALIDATION_ERROR');
  });

  it('ignores the Content-Encoding header of a request without a body', async () => {
    expect((await workspace.call('GET', '/tickets', undefined, { 'content-encoding': 'gzip' })).status).toBe(200);
  });
});
