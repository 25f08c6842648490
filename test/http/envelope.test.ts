import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { ErrorEnvelope } from '@itsm-api/contract';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { openStartupServer } from '@itsm-api/server/http/server/startup-server.ts';
import { Lifecycle } from '@itsm-api/server/shared/lifecycle.ts';
import { describe, expect } from 'vitest';
import { startApi } from '../support/api.ts';
import { sendBare } from '../support/bare.ts';
import { cloneDatabase } from '../support/database.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket } from '../support/workspace.ts';

let port: number;

it.beforeAll(async () => {
  port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
});

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

const post = (path: string, body: string, headers = '') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;

it('adds HSTS and absolute documentation links to errors if PUBLIC_URL uses https', async () => {
  const publicUrl = 'https://itsm.example.com';
  const [secure, { app: door }] = await Promise.all([
    startApi({ env: { PUBLIC_URL: publicUrl } }),
    openStartupServer({ logger: createLogger('silent'), lifecycle: new Lifecycle('starting'), publicUrl }),
  ]);
  try {
    for (const app of [secure.app, door]) {
      const securePort = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
      for (const request of [
        get('/nope'),
        get('/api/public/v1/tickets/%ZZ'),
        get('/api/public/v1/ping', `x-long: ${'x'.repeat(20_000)}\r\n`),
        'hello\r\n\r\n',
        'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
      ]) {
        const { headers, body } = await sendBare(securePort, request);
        expect(headers, request.slice(0, 80)).toContain('strict-transport-security: max-age=31536000');
        expect(JSON.parse(body).error.docs, request.slice(0, 80)).toMatch(/^https:\/\/itsm\.example\.com\/docs\//);
      }
    }
  } finally {
    await door.close();
    await secure.close();
  }
});

describe('error responses outside of handlers', () => {
  it.each([
    ['an unknown path', get('/nope'), 404, 'NOT_FOUND'],
    ['an unknown path of the API', get('/api/public/v1/nope'), 404, 'NOT_FOUND'],
    ['an unsupported method of a path', 'PUT /api/public/v1/tickets HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'NOT_FOUND'],
    ['OPTIONS without CORS', 'OPTIONS /api/public/v1/tickets HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'NOT_FOUND'],
    ...['PUT', 'QUERY', 'TRACE', 'PROPFIND', 'M-SEARCH'].flatMap((method): [string, string, number, string][] => [
      [method, `${method} /api/public/v1/tickets HTTP/1.1\r\nHost: x\r\n\r\n`, 404, 'NOT_FOUND'],
      [`${method} on an unknown path`, `${method} /nope HTTP/1.1\r\nHost: x\r\n\r\n`, 404, 'NOT_FOUND'],
    ]),
    ['QUERY with a body', post('/api/public/v1/tickets', '{}').replace('POST', 'QUERY'), 404, 'NOT_FOUND'],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 404, 'NOT_FOUND'],
    ['a missing Host', 'GET /api/public/v1/ping HTTP/1.1\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['two Hosts', get('/api/public/v1/ping', 'Host: x\r\n'), 400, 'VALIDATION_ERROR'],
    ['two Hosts with HTTP/1.0', 'GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ...['a b', 'a/b', 'a@b', 'x:8o', '[::1', 'a?b', '%zz'].map((host): [string, string, number, string] => [
      `the Host ${host}`,
      `GET /api/public/v1/ping HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      400,
      'VALIDATION_ERROR',
    ]),
    ['an unknown API version', get('/api/public/v2/ping'), 404, 'NOT_FOUND'],
    ...['%ff', '%C3(', '%ED%A0%80', '%C0%AF', '%', '%2', '%zz'].flatMap((text): [string, string, number, string][] => [
      [`the path parameter ${text}`, get(`/api/public/v1/tickets/${text}`), 400, 'VALIDATION_ERROR'],
      [`the query parameter ${text}`, get(`/api/public/v1/tickets?q=${text}`), 400, 'VALIDATION_ERROR'],
      [`the name ${text} of a query parameter`, get(`/api/public/v1/ping?a=%20&${text}=1`), 400, 'VALIDATION_ERROR'],
      [
        `${text} in the query of a file`,
        post(`/api/public/v1/tickets/1/attachments?name=${text}`, '{}'),
        400,
        'VALIDATION_ERROR',
      ],
      [`${text} in the query of a page`, get(`/docs?q=${text}`), 400, 'VALIDATION_ERROR'],
    ]),
    ['an over-long path parameter', get(`/api/public/v1/tickets/${'1'.repeat(500)}`), 400, 'VALIDATION_ERROR'],
    ['an over-long path', get(`/${'x'.repeat(20_000)}`), 400, 'PAYLOAD_TOO_LARGE'],
    ['headers of 20 kB', get('/api/public/v1/ping', `x-long: ${'x'.repeat(20_000)}\r\n`), 400, 'PAYLOAD_TOO_LARGE'],
    ['a request that is not HTTP', 'hello\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['a header without a colon', get('/api/public/v1/ping', 'nonsense\r\n'), 400, 'VALIDATION_ERROR'],
    [
      'two conflicting lengths',
      get('/api/public/v1/ping', 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'),
      400,
      'VALIDATION_ERROR',
    ],
  ])('returns the error envelope for %s', async (_, text, status, code) => {
    const answer = await sendBare(port, text);
    expect(answer.status, answer.body).toBe(status);
    const { error } = ErrorEnvelope.parse(JSON.parse(answer.body));
    expect(error.code).toBe(code);
    expect(answer.headers).toContain(`x-request-id: ${error.requestId}`);
    expect(answer.headers).toContain('content-type: application/json; charset=utf-8');
    expect(answer.headers).toContain('cache-control: no-store');
    expect(answer.headers).toContain('x-content-type-options: nosniff');
  });

  it.each(['iso-8859-1', '"utf-16"', 'a b', `${' '.repeat(15_000)}a b`])(
    'returns UNSUPPORTED_MEDIA_TYPE for the charset %s',
    async (charset) => {
      const type = `Content-Type: application/json; charset=${charset}`;
      const request = post('/api/public/v1/tickets', '{}', `X-API-Key: ${workspace.key}\r\n`);
      const answer = await sendBare(port, request.replace('Content-Type: application/json', type));
      expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([400, 'UNSUPPORTED_MEDIA_TYPE']);
    },
  );

  it('ignores an unknown Expect header', async () => {
    const answer = await sendBare(port, get('/api/public/v1/ping', 'Expect: something\r\n'));
    expect(answer.status).toBe(200);
    expect(answer.headers).toContain('x-request-id: ');
  });

  it.each([
    ['an invalid API key', '/tickets', 10, { 'x-api-key': 'itsm_unknown' }, 401],
    ['a missing scope', '/tickets', 10, { 'x-api-key': 'reader' }, 403],
    ['a body that is too large', '/tickets', 2_000_000, {}, 400],
    ['an unknown path', '/nope', 10, {}, 404],
    ['a file that is too large', '/tickets/1/attachments?name=a', 100_000_000, {}, 400],
    ['a file without a name', '/tickets/1/attachments', 10, {}, 400],
    ['a file for an unknown ticket', '/tickets/999999999/attachments?name=a', 10, {}, 404],
  ])('rejects %s without 100 Continue, and closes the connection', async (_, path, length, headers, status) => {
    const reader = await workspace.createKey({ scopes: ['tickets:read'] });
    const sent = { 'x-api-key': workspace.key, ...headers, 'content-length': length, expect: '100-continue' };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value === 'reader' ? reader : value}\r\n`);
    const answer = await sendBare(port, `POST /api/public/v1${path} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
    expect([answer.status, answer.headers], answer.body).toEqual([
      status,
      expect.stringContaining('connection: close'),
    ]);
  });

  it.each(['/tickets', '/tickets/1/attachments?name=a'])(
    'sends 100 Continue for POST %s once the request may send its body, and keeps the connection open',
    async (path) => {
      const { id } = await workspace.createTicket();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const send = async (method: string, path: string, body = '') => {
        const expecting = { expect: '100-continue', 'content-type': 'application/json', 'content-length': body.length };
        const headers = { 'x-api-key': workspace.key, ...(body !== '' && expecting) };
        const sent = request({ port, agent, method, path: `/api/public/v1${path}`, headers });
        // Node.js sends the headers at once if they contain `Expect`.
        if (body !== '') await once(sent, 'continue');
        sent.end(body);
        const [response] = await once(sent, 'response');
        await text(response);
        return { status: response.statusCode, port: sent.socket?.localPort };
      };
      const created = await send('POST', path.replace('/1/', `/${id}/`), JSON.stringify(ticket));
      const read = await send('GET', '/ping');
      agent.destroy();
      expect(created.status).toBe(201);
      expect(read).toEqual({ status: 200, port: created.port });
    },
  );

  it.each(['x', 'X:80', '127.0.0.1:3000', '[::1]:3000', 'a_b.example.com:', 'a%20b', ''])(
    'accepts the Host header %s',
    async (host) => {
      const answer = await sendBare(port, `GET /api/public/v1/ping HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect(answer.status).toBe(200);
    },
  );

  it('accepts an HTTP/1.0 request without a Host header', async () => {
    expect((await sendBare(port, 'GET /api/public/v1/ping HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

describe('x-request-id', () => {
  it.each(['a', 'A-b_9', 'x'.repeat(64)])('returns the request id %s that the client sent', async (id) => {
    const { headers } = await api.call({ method: 'GET', path: '/api/public/v1/ping', headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toBe(id);
  });

  it.each(['', ' ', 'a b', 'ä', 'x'.repeat(65), 'a/b'])(
    'generates a request id if the client sends the invalid id "%s"',
    async (id) => {
      const { headers } = await api.call({
        method: 'GET',
        path: '/api/public/v1/ping',
        headers: { 'x-request-id': id },
      });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    },
  );
});

describe('HEAD', () => {
  it('responds to HEAD like GET, but without a body', async () => {
    const head = (key?: string) => api.call({ method: 'HEAD', path: '/api/public/v1/tickets', key });
    expect(await head()).toMatchObject({ status: 401, text: '' });
    expect(await head(workspace.key)).toMatchObject({ status: 200, text: '' });
    expect(await head(await workspace.createKey({ scopes: ['users:read'] }))).toMatchObject({ status: 403, text: '' });
  });
});

describe('a database that is down', () => {
  it('returns 500 without error details while the database is down', async () => {
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
        message:
          'An unexpected error occurred on the server. ' +
          'You can retry a read, or a write with the same `Idempotency-Key`. ' +
          'If it happens again, report the request id to the operator of the server.',
        docs: '/docs/errors#INTERNAL_ERROR',
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
  const preflight = (from: string) => ({
    method: 'OPTIONS',
    path: '/api/public/v1/tickets',
    headers: {
      origin: from,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    },
  });

  it('allows CORS requests only from the origins in CORS_ORIGINS', async () => {
    const open = await startApi({ env: { CORS_ORIGINS: `${origin}, https://other.example.com` } });
    const allowed = await open.call(preflight(origin));
    expect(allowed.status).toBe(200);
    expect(allowed.headers['access-control-allow-origin']).toBe(origin);
    expect(allowed.headers['access-control-allow-methods']).toContain('PATCH');
    expect(allowed.headers['access-control-allow-headers']).toContain('idempotency-key');
    const rejected = await open.call(preflight('https://evil.example.com'));
    expect(rejected.headers['access-control-allow-origin']).toBeUndefined();
    const { headers } = await open.call({ method: 'GET', path: '/api/public/v1/tickets', headers: { origin } });
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['access-control-expose-headers']).toMatch(
      /x-request-id.*etag.*ratelimit.*retry-after.*idempotent-replayed/,
    );
    expect(allowed.headers['access-control-allow-headers']).toMatch(/if-match.*if-none-match/);
    await open.close();
  });

  it('sends no CORS headers if CORS_ORIGINS is not set', async () => {
    const { headers } = await api.call({ method: 'GET', path: '/api/public/v1/ping', headers: { origin } });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });
});
