import { connect } from 'node:net';
import { ErrorEnvelope } from '@itsm-api/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { cloneDatabase } from '../support/database.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

let api: Api;
let workspace: Workspace;
let port: number;

beforeAll(async () => {
  api = await startApi();
  workspace = await createWorkspace(api);
  port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
});
afterAll(() => api.close());

/** Sends bytes over a bare connection and reads the answer until the server closes or the whole body is there. */
function send(text: string): Promise<{ status: number; headers: string; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.setTimeout(5000, () => socket.destroy(new Error(`No answer to ${JSON.stringify(text.slice(0, 80))}`)));
    socket.on('data', (chunk) => {
      received += chunk;
      const [head = '', body] = received.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      resolve({ status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body });
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`Closed after ${JSON.stringify(received)}`)));
  });
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

describe('every error is an envelope with a status of the specification', () => {
  it.each([
    ['an unknown path', get('/nope'), 404, 'NOT_FOUND'],
    ['an unknown path of the API', get('/api/public/v1/nope'), 404, 'NOT_FOUND'],
    ['a method that a path does not have', 'PUT /api/public/v1/tickets HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'NOT_FOUND'],
    ['OPTIONS without CORS', 'OPTIONS /api/public/v1/tickets HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'NOT_FOUND'],
    ['another version', get('/api/public/v2/ping'), 404, 'NOT_FOUND'],
    ['a path that is not percent-encoded', get('/api/public/v1/tickets/%ZZ'), 400, 'VALIDATION_ERROR'],
    ['an over-long path parameter', get(`/api/public/v1/tickets/${'1'.repeat(500)}`), 400, 'VALIDATION_ERROR'],
    ['an over-long path', get(`/${'x'.repeat(20_000)}`), 400, 'PAYLOAD_TOO_LARGE'],
    ['headers of 20 kB', get('/api/public/v1/ping', `x-long: ${'x'.repeat(20_000)}\r\n`), 400, 'PAYLOAD_TOO_LARGE'],
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['a header without a colon', get('/api/public/v1/ping', 'nonsense\r\n'), 400, 'VALIDATION_ERROR'],
    [
      'two lengths',
      get('/api/public/v1/ping', 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'),
      400,
      'VALIDATION_ERROR',
    ],
  ])('%s', async (_, text, status, code) => {
    const answer = await send(text);
    expect(answer.status, answer.body).toBe(status);
    const { error } = ErrorEnvelope.parse(JSON.parse(answer.body));
    expect(error.code).toBe(code);
    expect(answer.headers).toContain(`x-request-id: ${error.requestId}`);
    expect(answer.headers).toContain('content-type: application/json; charset=utf-8');
  });

  it('an unknown expectation is no error', async () => {
    const answer = await send(get('/api/public/v1/ping', 'Expect: something\r\n'));
    expect(answer.status).toBe(200);
    expect(answer.headers).toContain('x-request-id: ');
  });

  it('a missing Host header is no error', async () => {
    expect((await send('GET /api/public/v1/ping HTTP/1.1\r\n\r\n')).status).toBe(200);
  });
});

describe('x-request-id', () => {
  it.each(['a', 'A-b_9', 'x'.repeat(64)])('is the caller’s own when it is %s', async (id) => {
    const { headers } = await api.call({ method: 'GET', path: '/api/public/v1/ping', headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toBe(id);
  });

  it.each(['', ' ', 'a b', 'ä', 'x'.repeat(65), 'a/b'])('is a new one when the caller sends "%s"', async (id) => {
    const { headers } = await api.call({ method: 'GET', path: '/api/public/v1/ping', headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('HEAD', () => {
  it('answers as GET, without the body and with the same guard', async () => {
    const head = (key?: string) => api.call({ method: 'HEAD', path: '/api/public/v1/tickets', key });
    expect(await head()).toMatchObject({ status: 401, text: '' });
    expect(await head(workspace.key)).toMatchObject({ status: 200, text: '' });
    expect(await head(await workspace.createKey({ scopes: ['users:read'] }))).toMatchObject({ status: 403, text: '' });
  });
});

describe('a database that is down', () => {
  it('is a 500 without detail, and over when it is back', async () => {
    const database = await cloneDatabase();
    const fallen = await startApi({ databaseUrl: database.url });
    const { key } = await createWorkspace(fallen);
    const list = () => fallen.call({ method: 'GET', path: '/api/public/v1/tickets', key });
    expect((await list()).status).toBe(200);
    await database.drop();
    const answer = await list();
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      success: false,
      error: {
        code: 'INTERNAL_ERROR',
        message: 'Something failed on our side. Please try again.',
        requestId: answer.headers['x-request-id'],
      },
    });
    const { status } = await fallen.call({ method: 'GET', path: '/api/public/v1/ping' });
    expect(status).toBe(200);
    await fallen.close();
  });
});

describe('CORS_ORIGINS', () => {
  const origin = 'https://app.example.com';
  const preflight = (of: string) => ({
    method: 'OPTIONS',
    path: '/api/public/v1/tickets',
    headers: { origin: of, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  });

  it('lets pages of these origins call, read the limits, and no others', async () => {
    const open = await startApi({ env: { CORS_ORIGINS: `${origin}, https://other.example.com` } });
    const allowed = await open.call(preflight(origin));
    expect(allowed.status).toBe(200);
    expect(allowed.headers['access-control-allow-origin']).toBe(origin);
    expect(allowed.headers['access-control-allow-methods']).toContain('PATCH');
    const refused = await open.call(preflight('https://evil.example.com'));
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
    const { headers } = await open.call({ method: 'GET', path: '/api/public/v1/tickets', headers: { origin } });
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['access-control-expose-headers']).toMatch(/x-request-id.*ratelimit.*retry-after/);
    await open.close();
  });

  it('says nothing to browsers when it is not set', async () => {
    const { headers } = await api.call({ method: 'GET', path: '/api/public/v1/ping', headers: { origin } });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });
});
