import { createHook } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { serveSharedFiles } from '@itsm-api/server/http/shared-files.ts';
import Fastify from 'fastify';
import { describe, expect } from 'vitest';
import { startApi } from '../support/api.ts';
import { api, itWithApi as it } from '../support/fixture.ts';

const get = (path: string, headers: Record<string, string> = {}) =>
  api.app.inject({ method: 'GET', url: path, headers });

describe.each([
  '/openapi.json',
  '/openapi.yaml',
  '/openapi-3.0.json',
  '/',
  '/docs/errors',
  '/docs/guides/first-request.md',
  '/docs/search.json',
  '/favicon.ico',
])('%s', (path) => {
  it('serves a static file with a different ETag for each encoding', async () => {
    const plain = await get(path);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(Number(plain.headers['content-length'])).toBe(plain.rawPayload.length);
    const gzipped = await get(path, { 'accept-encoding': 'gzip' });
    expect(gzipped.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzipped.rawPayload).equals(plain.rawPayload)).toBe(true);
    const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(new Set([plain, gzipped, brotli].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it('lets caches store and revalidate a static file', async () => {
    const { headers } = await get(path, { 'accept-encoding': 'br' });
    expect(headers).toMatchObject({
      'cache-control': 'public, no-cache',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    });
    for (const tags of [String(headers.etag), `"other", W/${headers.etag}`, '*']) {
      const again = await get(path, { 'accept-encoding': 'br', 'if-none-match': tags });
      expect(again).toMatchObject({ statusCode: 304, body: '' });
      expect(again.headers).toMatchObject({ etag: headers.etag, vary: 'Accept-Encoding' });
    }
    for (const stale of ['"other"', '']) {
      expect((await get(path, { 'accept-encoding': 'br', 'if-none-match': stale })).statusCode).toBe(200);
    }
  });

  it('returns the same headers for HEAD and GET requests to a static file', async () => {
    const whole = await get(path, { 'accept-encoding': 'br' });
    const head = await api.app.inject({ method: 'HEAD', url: path, headers: { 'accept-encoding': 'br' } });
    expect(head.body).toBe('');
    for (const name of ['content-length', 'content-encoding', 'etag', 'vary', 'content-type']) {
      expect(head.headers[name], name).toBe(whole.headers[name]);
    }
  });
});

describe('the script of the reference', () => {
  const pathIn = (page: string) => /src="(\/docs\/js\/[^"]+)"/.exec(page)?.[1] ?? '';

  it('serves the API reference script compressed and with immutable caching', async () => {
    const path = pathIn((await get('/docs/')).payload);
    const { headers, rawPayload } = await get(path, { 'accept-encoding': 'br' });
    expect(rawPayload.length).toBeLessThan(1_300_000);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    });
  });

  it('returns 404 for the API reference script at a path without a version', async () => {
    expect((await get('/docs/js/scalar.js')).statusCode).toBe(404);
  });
});

it('disables caching of the API reference, because its page contains a nonce', async () => {
  const { headers, rawPayload } = await get('/docs/', { 'accept-encoding': 'br' });
  expect(headers['cache-control']).toBe('no-store');
  expect(headers.etag).toBeUndefined();
  expect(brotliDecompressSync(rawPayload).toString()).toContain('<div id="reference">');
});

it('includes Origin in the Vary header of static files if CORS is enabled', async () => {
  const origin = 'https://app.example.com';
  const open = await startApi({ env: { CORS_ORIGINS: `${origin}, https://other.example.com` } });
  const { headers } = await open.call({ method: 'GET', path: '/openapi.json', headers: { origin } });
  expect(headers.vary).toBe('Origin, Accept-Encoding');
  await open.close();
});

it('compresses a static file once for concurrent requests', async () => {
  const app = Fastify();
  serveSharedFiles(app, 'public');
  const text = randomBytes(400_000).toString('hex');
  app.get('/', () => text);
  const request = { method: 'GET', url: '/', headers: { 'accept-encoding': 'br' } } as const;
  let compressions = 0;
  const counter = createHook({ init: (_, type) => void (type === 'ZLIB' && compressions++) }).enable();
  const responses = await Promise.all(Array.from({ length: 10 }, () => app.inject(request)));
  counter.disable();
  for (const { rawPayload } of responses) expect(brotliDecompressSync(rawPayload).toString()).toBe(text);
  expect(compressions).toBe(1);
  await app.close();
});
