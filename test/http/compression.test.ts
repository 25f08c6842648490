import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pathPrefix } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';

it.beforeAll(async () => {
  for (let i = 0; i < 5; i++) await workspace.createTicket({ title: `Ünïcödé ${i}`, description: 'x'.repeat(300) });
});

function get(path: string, encoding?: string, method: 'GET' | 'HEAD' = 'GET') {
  const headers = { 'x-api-key': workspace.key, ...(encoding !== undefined && { 'accept-encoding': encoding }) };
  return api.app.inject({ method, url: pathPrefix + path, headers });
}

describe('a list', () => {
  it.each([
    ['gzip', 'gzip', gunzipSync],
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['br;q=0.5, gzip', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
    ['br;q=0, *', 'gzip', gunzipSync],
    ['*, BR ; q=0.00', 'gzip', gunzipSync],
    ['GZIP', 'gzip', gunzipSync],
  ])('compresses a list response if Accept-Encoding is %s', async (accepted, coding, decode) => {
    const [plain, coded] = [await get('/tickets'), await get('/tickets', accepted)];
    expect(coded.headers['content-encoding']).toBe(coding);
    expect(coded.headers.vary).toBe('Authorization, X-API-Key, Accept-Encoding');
    expect(Number(coded.headers['content-length'])).toBe(coded.rawPayload.length);
    expect(decode(coded.rawPayload).toString()).toBe(plain.payload);
    expect(coded.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
  });

  it.each([
    undefined,
    '',
    'identity',
    'deflate',
    'br;q=0, gzip;q=0',
    'br;q=0,gzip;q=0.000,*',
    '*;q=0',
    'nonsense',
    ';;,q=;',
  ])('does not compress a list response if Accept-Encoding is %s', async (accepted) => {
    const { headers, payload } = await get('/tickets', accepted);
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers.vary).toBe('Authorization, X-API-Key, Accept-Encoding');
    expect(JSON.parse(payload).data).toHaveLength(5);
  });

  it('returns the headers of the compressed list for a HEAD request', async () => {
    const [whole, head] = [await get('/tickets', 'gzip'), await get('/tickets', 'gzip', 'HEAD')];
    expect(head.payload).toBe('');
    for (const name of ['content-length', 'content-encoding', 'vary'])
      expect(head.headers[name]).toBe(whole.headers[name]);
  });

  it('does not compress a response that is smaller than 1 KiB', async () => {
    const { headers } = await get('/users', 'br');
    expect(headers['content-encoding']).toBeUndefined();
  });
});

it('does not compress a single resource, because its ETag identifies the exact bytes', async () => {
  const { id } = await workspace.createTicket({ description: 'x'.repeat(5000) });
  const { headers } = await get(`/tickets/${id}`, 'br, gzip');
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers.etag).toMatch(/^"/);
});
